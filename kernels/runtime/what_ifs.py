"""What a what-if makes of the figures of a launch, in closed form: its sentence, its lanes, the bytes that it moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from ..launch import Launch
from ..operator import Axis, Numbers
from .request import Request

UNCOUNTED = {
    "no_mask": "Without masks programs reach what is not their own: counted only where all of them are traced.",
    "floor_grid": "Which tiles are missing depends on the order of the programs: counted only where all of them are traced.",
    "int32": "Offsets that wrap are counted only where all programs are traced.",
}


def effective(request: Request) -> str:
    """The what-if, or nothing where it leaves this launch as it is: a grid that fits, offsets that never wrap."""
    if request.what_if in ("floor_grid", "int32") and request.launch() == request.without_change().launch():
        return ""
    return request.what_if


def axes_of(request: Request) -> tuple[Axis, ...]:
    """The programs and their lanes as this request launches them; nothing where the operator declares none."""
    operator = request.description
    found = operator.axes(request.problem, request.tiling, request.divide) if operator.axes else ()
    if request.what_if == "no_mask":
        return tuple(Axis(axis.programs, axis.lanes, axis.lanes, axis.lanes if axis.programs else 0) for axis in found)
    return found


def lanes_of_launch(request: Request) -> tuple[int, int] | None:
    """Lanes of all programs, and how many of them are live; None where no closed form of this what-if tells."""
    if effective(request) == "int32" or _reordered(request):
        return None
    axes = axes_of(request)
    return prod(axis.programs * axis.lanes for axis in axes), prod(axis.total for axis in axes)


def moved_bytes(request: Request) -> int | None:
    """Bytes of DRAM that a perfect cache would need for the launch; None where no closed form of this what-if tells."""
    operator, what_if = request.description, effective(request)
    if what_if in ("no_mask", "int32") or _reordered(request):
        return None
    problem = request.problem
    if what_if == "floor_grid":
        reached = {size.name: axis.total for size, axis in zip(operator.sizes, axes_of(request), strict=False)}
        problem = replace(problem, sizes=Numbers(problem.sizes, reached))
    if operator.traffic is None:
        return None
    return sum(step.moved for step in operator.traffic(problem, request.tiling).fused)


def _reordered(request: Request) -> bool:
    """Whether programs are missing from a grid of one dimension that stands for tiles of two."""
    needed = request.without_change()
    return effective(request) == "floor_grid" and in_one_row(needed.launch(), axes_of(needed))


def in_one_row(launch: Launch, axes: Sequence[Axis]) -> bool:
    """Whether the grid has one dimension and its programs two."""
    return len(axes) > 1 and launch.grid[1] == 1 and all(axis.programs > 1 for axis in axes)


def owner_in(request: Request, argument: str) -> Callable[[Any], Any] | None:
    """The closed form of who owns elements of an argument, one or an array; -1 where the program is missing from the grid.

    None where the operator has none.
    """
    owner = request.description.owner
    if owner is None:
        return None
    needed, given = request.without_change().launch().grid, request.launch().grid

    def owning(elements: Any) -> Any:
        number = owner(request.problem, request.tiling, argument, elements)
        if needed == given:
            return number
        x, y = number % needed[0], number // needed[0]  # no operator has a third dimension
        return np.where((x < given[0]) & (y < given[1]), x + given[0] * y, -1)

    return owning


def story(request: Request) -> str:
    """The launch in one sentence, numbers between `**`, with what its what-if changes."""
    operator, what_if = request.description, effective(request)
    if what_if == "floor_grid":
        given, needed = request.launch().programs, request.without_change().launch().programs
        parts = ", ".join(f"{name} {value:,}" for name, value in (*request.problem.sizes.items(), *_blocks(request)))
        made = f"**{given:,}** program{'' if given == 1 else 's'} instead of **{needed:,}**"
        return f"{parts}, the grid rounded down: {made}."
    if what_if == "no_mask" and operator.axes:
        lanes, live = lanes_of_launch(request.without_change())
        if lanes == live:
            return "Without masks every lane loads and stores; here every lane has an element anyway."
        return f"Without masks every lane loads and stores, also the **{lanes - live:,}** of **{lanes:,}** without an element."
    return operator.story(request.problem, request.tiling) if operator.story else _plain_story(request)


def _plain_story(request: Request) -> str:
    """The launch in one sentence where the operator has none: its sizes, and the grid that they make."""
    launch = request.launch()
    sizes = ", ".join(f"{name} **{value:,}**" for name, value in request.problem.sizes.items())
    if not launch.programs:
        return f"{sizes}: **0** programs, nothing to launch."
    many = f"**{launch.programs:,}** program{'' if launch.programs == 1 else 's'}"
    used = max(axis for axis, programs in enumerate(launch.grid) if programs > 1 or axis == 0) + 1
    if used == 1:
        return f"{sizes}: {many}."
    grid = " × ".join(f"{programs:,}" for programs in launch.grid[:used])
    return f"{sizes}: {many} in a grid of {grid}."


def _blocks(request: Request) -> list[tuple[str, int]]:
    """The blocks that the grid is made of."""
    return [(name, value) for name, value in request.tiling.blocks.items() if name != "BLOCK_K"]
