"""The formula's bytes against the kernel's own accesses: traced on a launch of the same shape that is small enough."""

from __future__ import annotations

from dataclasses import replace

from kernels.errors import TaskError
from kernels.language import MISSING
from kernels.operator import Numbers
from kernels.runtime.jobs import picture_job
from kernels.runtime.records import Limits
from kernels.runtime.request import Request, is_of_vectors
from pages import _shell
from pages._html import Markup
from pages._kept import kept

from .state import Comparison

ROWS, TURNS = 3, 32
SECONDS = 8.0


def small(request: Request) -> Request:
    """The same launch with so few programs that all of them can be traced: the rows or tiles are as long as before."""
    sizes, blocks = dict(request.problem.sizes), request.tiling.blocks
    operator = request.description
    if operator.product:
        turns = TURNS * blocks["BLOCK_K"]
        sizes |= {"m": min(sizes["m"], blocks["BLOCK_M"]), "n": min(sizes["n"], blocks["BLOCK_N"]), "k": min(sizes["k"], turns)}
    elif is_of_vectors(operator):
        sizes = {name: min(value, ROWS * blocks[operator.extents[0]] - 1) for name, value in sizes.items()}
    else:
        first = next(iter(sizes))
        sizes[first] = min(sizes[first], ROWS)
    return replace(request, problem=replace(request.problem, sizes=Numbers(sizes)))


def words(comparison: Comparison) -> str:
    """What the count says of the formula, to stand behind it; nothing where it could not be counted."""
    if comparison.direction != "forward" or MISSING:
        return ""
    request = small(comparison.request)
    try:
        counted = _counted(repr(request), request)
    except TaskError:  # not kept: it may be counted next time
        return ""
    if counted is None:
        return ""
    expected = sum(step.moved for step in request.description.traffic(request.problem, request.tiling).fused)
    shape = " × ".join(f"{value:,}" for value in request.problem.sizes.values())
    if counted == expected:
        return Markup('; equal to the kernel’s own accesses on {} <span class="tag counted">counted</span>').format(shape)
    return f"; the kernel’s own accesses on {shape} are {counted:,} bytes, and the formula has {expected:,}"


@kept
def _counted(key: str, _request: Request) -> int | None:
    asked = (picture_job, _request, 0, None, 0, Limits(seconds=SECONDS), False)
    picture = _shell.workers()["trace whole"].call(*asked, seconds=SECONDS + 10)
    return sum(picture.counted) if picture.counted and picture.complete else None
