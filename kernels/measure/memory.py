"""What a measurement needs of a GPU's memory, before it is started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

from ..operator import Numbers
from ..runtime.compare import CHUNK
from ..runtime.request import Request
from . import ways
from .timing import CLEARED_BYTES

FIXED = CLEARED_BYTES + 2**28  # the buffer that clears L2; cuBLAS's workspace and what the allocator rounds up


def needed_bytes(request: Request, direction: str) -> int:
    """About the most that is held at once: tensors, what PyTorch's steps leave behind, the comparison in float64, the copy."""
    wanted = ways.request_of(request, direction)
    tensors = sum(tensor.nbytes for tensor in wanted.launch().tensors.values())
    largest = max(tensor.numel for tensor in wanted.launch().tensors.values())
    traffic = ways.traffic(request, direction if direction != "module" else "both")
    steps = [step.written for step in traffic.unfused] if traffic and traffic.unfused is not None else [tensors]
    compared = min(largest, CHUNK if request.description.rowwise and direction != "module" else largest)
    return tensors + sum(steps) + 8 * compared * (len(steps) + 3) + sum(step.moved for step in traffic.fused) + FIXED


def refusal(request: Request, direction: str, free: int) -> str | None:
    """Why it does not fit into `free` bytes, and the largest size that would; None where it fits."""
    needed = needed_bytes(request, direction)
    if needed <= free:
        return None
    smaller = fitting(request, direction, free)
    sizes = request.problem.sizes
    changed = [f"{name} {value:,}" for name, value in smaller.problem.sizes.items() if value != sizes[name]] if smaller else []
    most = f"{changed[0]} is the most that fits" if changed else "no smaller size fits"
    return f"It needs about {needed / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB of the GPU are free: {most}."


def fitting(request: Request, direction: str, free: int) -> Request | None:
    """The same with its largest size reduced until it fits into `free` bytes; None where nothing does."""
    sizes = dict(request.problem.sizes)
    name = max(sizes, key=sizes.get)

    def smaller(value: int) -> Request:
        problem = replace(request.problem, sizes=Numbers({**sizes, name: value}))
        return replace(request, problem=problem, tiling=request.description.tiling(problem))

    most = largest_where(lambda value: needed_bytes(smaller(value), direction) <= free, sizes[name])
    return smaller(most) if most and prod(sizes.values()) else None


def largest_where(fits: Callable[[int], bool], most: int) -> int:
    """The largest number up to `most` that fits, where all smaller ones do too; 0 where none does."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
