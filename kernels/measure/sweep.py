"""Sweeps: the tasks along one axis, and about how long they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..operator import Numbers
from ..runtime.device import Target
from ..runtime.request import Request
from . import ways
from .point import Task

# From where to where an axis is swept, and by what factor.
SIZES = {
    "n_elements": (2**10, 2**28, 4),
    "rows": (2**6, 2**16, 4),
    "columns": (2**8, 2**17, 2),
    "m": (2**8, 2**13, 2),
    "n": (2**8, 2**13, 2),
    "k": (2**8, 2**13, 2),
}
BLOCKS = {"BLOCK_SIZE": (2**6, 2**15), "BLOCK_M": (16, 256), "BLOCK_N": (16, 256), "BLOCK_K": (16, 128)}
GROUPS = (0, 1, 2, 4, 8, 16, 32)
ALL_SIZES = "m = n = k"


def axes(request: Request) -> tuple[str, ...]:
    """What can be swept: any size, any block, the warps."""
    operator = request.description
    square = (ALL_SIZES,) if operator.product else ()
    return (*square, *(size.name for size in operator.sizes), *(block.name for block in operator.blocks), "num_warps")


def tasks(task: Task, axis: str, target: Target) -> tuple[Task, ...]:
    """The task at every value of the axis, briefly; along a size the launch rule chooses the blocks anew."""
    return tuple(
        replace(task, request=at(task.request, axis, value), brief=True) for value in values(task.request, axis, target)
    )


def values(request: Request, axis: str, target: Target) -> tuple[int, ...]:
    """The values of an axis, the current one among them where it lies between the ends."""
    if axis == "num_warps":
        most = target.threads // target.warp_size
        return tuple(1 << power for power in range(most.bit_length()))
    if axis == "GROUP_M":
        return GROUPS
    if axis in BLOCKS:
        low, high = BLOCKS[axis]
        return tuple(1 << power for power in range(low.bit_length() - 1, high.bit_length()))
    low, high, factor = SIZES.get(axis, SIZES["m"])
    found = {low}
    while low * factor <= high:
        low *= factor
        found.add(low)
    current = request.problem.sizes.get(axis)
    return tuple(sorted(found | ({current} if current else set())))


def at(request: Request, axis: str, value: int) -> Request:
    """The request at one value of the axis."""
    if axis == "num_warps":
        return replace(request, tiling=replace(request.tiling, num_warps=value))
    if axis in request.tiling.blocks:
        return request.with_blocks(**{axis: value})
    names = request.problem.sizes if axis == ALL_SIZES else (axis,)
    problem = replace(request.problem, sizes=Numbers(request.problem.sizes, dict.fromkeys(names, value)))
    return replace(request, problem=problem, tiling=request.description.tiling(problem))


def value_at(request: Request, axis: str) -> int:
    """Where a request lies on the axis."""
    if axis == "num_warps":
        return request.tiling.num_warps
    if axis in request.tiling.blocks:
        return request.tiling.blocks[axis]
    return request.problem.sizes["m" if axis == ALL_SIZES else axis]


# What one implementation of a point takes: warming up, samples, check and memory, a profile where it is not one of many; and
# a compilation by torch.compile. H200, torch 2.11, a slow host.
WAY_SECONDS, BRIEF_SECONDS, COMPILE_SECONDS = 1.2, 0.6, 6.0


def seconds(wanted: Sequence[Task], bandwidth: float = 2e12) -> float:
    """About how long these tasks take on a GPU that moves so many bytes a second."""
    total = 0.0
    for task in wanted:
        traffic = ways.traffic(task.request, "both" if task.direction == "module" else task.direction)
        moved = sum(step.moved for step in traffic.unfused or traffic.fused) if traffic else 0
        each = BRIEF_SECONDS if task.brief else WAY_SECONDS
        total += each * (len(task.ways) + 1) + (COMPILE_SECONDS if "compiled" in task.ways else 0) + 60 * moved / bandwidth
    return total
