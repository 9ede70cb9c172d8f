"""The words of the hardware, a sentence each, for people who meet them the first time."""

from __future__ import annotations

from .terms import tip

TERMS = {
    "thread": "What runs the instructions for some elements; it has registers of its own.",
    "warp": "32 threads (64 on AMD's data-centre chips) that get every instruction together.",
    "block": "The threads that run one program together: num_warps warps. They share memory on the chip and can wait for "
    "each other.",
    "multiprocessor": "SM: the part of the GPU that runs programs; a GPU has dozens. A program stays on the SM it began on.",
    "register": "The fastest memory: one number of one thread. What does not fit is spilled to slow memory.",
    "shared memory": "Memory of one program on the SM; all its threads see it.",
    "layout": "The compiler's rule that says which thread's which register holds which element of a block.",
    "sector": "32 bytes: the least that is fetched from memory.",
    "coalescing": "The hardware fetches each sector that a warp's instruction touches once, however many lanes want it.",
    "occupancy": "Warps in place on an SM over the warps that it has room for: others compute while some wait for memory.",
    "wave": "As many programs as the whole GPU holds at once.",
    "tail": "The end of a launch, where some SMs have nothing left to do.",
    "barrier": "A place in the program where the warps of a block wait for each other.",
}


def terms_html() -> str:
    """All words in one line, each with its sentence."""
    return '<div class="terms">' + " ".join(tip(word, sentence) for word, sentence in TERMS.items()) + "</div>"
