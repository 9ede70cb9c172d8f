"""Whether a launch runs in Triton's interpreter although it does not compile, and why the two differ. In the trace worker."""

from __future__ import annotations

from ..errors import sentence
from ..runtime.records import Limits
from ..runtime.request import Request

# What a refusal says, and why the interpreter does not say it.
REASONS = (
    ("shared memory", "The interpreter computes with NumPy in this machine's memory; it knows no shared memory and no limit."),
    ("threads a program", "The interpreter has no threads: num_warps changes nothing there."),
    ("num_warps", "The interpreter has no threads: num_warps changes nothing there."),
    ("Input shapes should have", "The interpreter multiplies tiles of any size with NumPy; matrix units take no smaller ones."),
    ("programs along", "The interpreter runs the programs one after another and has no largest grid."),
    ("not supported in this architecture", "NumPy has this type, or is given a wider one; the target has not."),
    ("fp8", "NumPy is given a wider type; the target has no such type."),
)
OTHERWISE = "The interpreter checks what NumPy needs to compute; the compiler checks what the target can do."


def interpreted(request: Request) -> str | None:
    """What the interpreter says against program 0, with all its checks; None where it runs."""
    from ..runtime.trace import trace

    try:
        trace(request.launch(), [(0, 0, 0)], limits=Limits(seconds=5.0), strict=True)
    except Exception as error:
        told = sentence(error)
        if told.environment:
            raise
        return told.text
    return None


def why(reason: str) -> str:
    """Why the interpreter runs what is refused with that reason."""
    return next((words for part, words in REASONS if part in reason), OTHERWISE)
