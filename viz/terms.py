"""The words of the field, a sentence each, for people who meet them the first time."""

from __future__ import annotations

from html import escape

TERMS = {
    "program": "One run of the kernel's body; all programs run the same lines, each on its own part of the data.",
    "program id": "The number by which a program tells which part is its own; tl.program_id gives it.",
    "grid": "How many programs are launched, along up to three axes.",
    "block": "The elements that one program works on at once; their number is a power of two, known at compile time.",
    "offset": "How far an element lies from the first one of its tensor, counted in elements.",
    "mask": "True for the lanes that may touch memory; false where the block reaches past the end.",
    "lane": "One position in a block; every operation acts on all lanes.",
    "pointer": "The address of a tensor's first element: a kernel gets this, not the tensor.",
    "constexpr": "A value that is known when the kernel is compiled; another value compiles another kernel.",
    "register": "A thread's own place for one number, the fastest memory there is; a thread has at most 255 of them on NVIDIA.",
    "spilled": "Moved to the thread's stack in memory, because there were not enough registers: slow.",
    "shared memory": "A small fast memory of the multiprocessor that all threads of one program share.",
    "meta": "The compile-time values of a launch, from which the grid function computes the grid.",
}

CODE = {
    "program_id": TERMS["program id"],
    "pid": TERMS["program id"],
    "num_programs": "How many programs the grid has along that axis.",
    "arange": "The lane numbers 0, 1, 2, ...: a block of consecutive whole numbers.",
    "offsets": TERMS["offset"],
    "mask": TERMS["mask"],
    "load": "Reads memory at every live lane's address; masked lanes get `other`, or something undefined.",
    "store": "Writes memory at every live lane's address; masked lanes write nothing.",
    "other": "What masked lanes of a load hold; without it their value is undefined.",
    "constexpr": TERMS["constexpr"],
    "BLOCK_SIZE": TERMS["block"],
    "BLOCK_M": "Rows of the tile of c that one program computes.",
    "BLOCK_N": "Columns of the tile of c that one program computes.",
    "BLOCK_K": "How far along K one turn of the loop reaches.",
    "GROUP_M": "How many rows of tiles are taken together in the one-dimensional order.",
    "OFFSET_TYPE": "int32 where every offset fits, int64 where a tensor has more than 2^31 elements.",
    "sum": "Adds up all lanes of the block into one number.",
    "max": "The largest of all lanes of the block.",
    "where": "Chooses, lane by lane, between two values.",
    "dot": "Multiplies two tiles as matrices, on the matrix units.",
    "rsqrt": "One divided by the square root.",
    "cdiv": "Division rounded up, so that a ragged last block gets a program too.",
    "meta": TERMS["meta"],
    "empty_like": "Memory as it is found, not cleared: every element will be written anyway.",
    "swizzle2d": "Reorders the tiles so that programs that run at the same time share strips of a and b.",
}


def tip(word: str, sentence: str) -> str:
    """A word that explains itself on hover and on keyboard focus."""
    return f'<span class="term" tabindex="0" data-tip="{escape(sentence, quote=True)}">{escape(word)}</span>'


def terms_html() -> str:
    """All terms in one line."""
    return '<div class="terms">' + " ".join(tip(word, sentence) for word, sentence in TERMS.items()) + "</div>"
