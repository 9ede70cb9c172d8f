"""The pictures of the launch page: programs, lanes, memory, by the kind of kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels.launch import ITEMSIZE, short
from kernels.runtime.picture import Lanes, Picture
from kernels.runtime.provenance import Origin
from kernels.runtime.records import linear
from kernels.runtime.settings import Settings
from kernels.runtime.what_ifs import axes_of, owner_in
from pages._parts import chart, title
from viz import lanes, memory, programs, tiles
from viz.theme import Style

from .state import state

NUMBERED_TILES = 1024
CELLS = 400


def draw(settings: Settings, picture: Picture, origin: Origin | None, style: Style) -> None:
    """All pictures of a launch."""
    product = settings.request.description.product
    if product:
        _tiles(settings, picture, style)
    else:
        _strip(settings, picture, style)
    _lanes(settings, picture, style)
    if not product:
        _memory(settings, picture, origin, style)


def _number(picture: Picture) -> int:
    return linear(picture.chosen, picture.grid)


def _strip(settings: Settings, picture: Picture, style: Style) -> None:
    axes = axes_of(settings.request)
    if len(axes) != 1 or picture.grid[0] <= len(picture.shown):
        return
    title("All programs", "height = share of live lanes; click one")
    (axis,) = axes
    figure = programs.strip_figure(axis, _number(picture), style)
    chart(figure, "strip", f"All {axis.programs:,} programs", lambda custom: state.change({"program": custom[0]}))


def shown_access(settings: Settings, picture: Picture, program: tuple[int, int, int]) -> Lanes:
    """The access of a program that is drawn lane by lane: that of the step, else the first one."""
    own = picture.accesses_of(program)
    if settings.step is not None and picture.active:
        active = picture.accesses[picture.active[-1]]
        same = [one for one in own if (one.line, one.kind, one.argument) == (active.line, active.kind, active.argument)]
        exact = [one for one in same if one.turns == active.turns]
        return (exact or same or list(own))[0]
    detailed = [one for one in own if one.first.size > 1 or one.lanes == 1]
    return (detailed or list(own))[0]


def _lanes(settings: Settings, picture: Picture, style: Style) -> None:
    request, number = settings.request, _number(picture)
    access = shown_access(settings, picture, picture.chosen)
    name, size = short(access.argument), ITEMSIZE[access.dtype]
    verb = "loads" if access.kind == "load" else "stores"
    live = int(access.live.sum())
    title(
        "Offsets and mask",
        f"program {number:,} {verb} {name}, line {access.line or '-'}: {live:,} of {access.lanes:,} lanes live",
    )
    if len(access.shape) == 2:
        chart(lanes.tile_figure(access, number, style, size), "lanes", f"Lanes of program {number:,}")
        return
    shown = [
        (linear(one, picture.grid), shown_access(settings, picture, one)) for one in picture.shown if picture.accesses_of(one)
    ]
    rows = [row for row in shown if row[1].shape == access.shape]
    count = request.launch().programs
    figure = lanes.lanes_figure(rows, number, count, style, size)
    chart(
        figure,
        "lanes",
        request.description.idea or "Lanes of the programs",
        lambda custom: state.change({"program": custom[0], "lane": custom[1]}),
    )


def _memory(settings: Settings, picture: Picture, origin: Origin | None, style: Style) -> None:
    number, size = _number(picture), ITEMSIZE[picture.memory[0].dtype]
    framed = _framed(settings, origin)
    flat = all(len(one.shape) == 1 for one in picture.memory)
    small = all(one.cells.values.size == int(np.prod(one.shape)) for one in picture.memory)
    cells = sum(one.cells.values.size for one in picture.memory)

    def clicked(custom: Any) -> None:
        shown = next(one for one in picture.memory if one.argument == custom[0])
        owner = int(shown.cells.owner[custom[1] - shown.cells.start])
        texts = {"element": f"{short(custom[0])}:{custom[1]}"}
        state.change(texts | ({"program": owner} if owner >= 0 and shown.written.any() else {}))

    title("Memory", f"colour = owning program, strong = {number:,}; click an element")
    if flat:
        if not small:
            chart(memory.map_figure(picture.memory, style), "memory-map", "What the program reads and writes of each argument")
        reached = list(picture.accesses_of(picture.chosen))
        figure = memory.strips_figure(picture.memory, number, reached, framed, style, size)
        chart(figure, "memory", "Elements and the programs that own them", clicked)
    elif small and cells <= CELLS:
        chart(memory.blocks_figure(picture.memory, number, framed, style, size), "memory", "Elements and their owners", clicked)
    else:
        figure = memory.map_figure(picture.memory, style)
        chart(figure, "memory-map", "What the program reads and writes of each argument")
        window = memory.strips_figure(picture.memory, number, [], framed, style, size)
        chart(window, "memory", "Some elements and the programs that own them", clicked)


def _framed(settings: Settings, origin: Origin | None) -> list[tuple[str, int]]:
    """The elements to frame: the one that was clicked and those that fed it."""
    picked = [settings.element] if settings.element else []
    return picked + ([(load.argument, load.element) for load in origin.loads] if origin else [])


def _tiles(settings: Settings, picture: Picture, style: Style) -> None:
    request = settings.request
    down, across = axes = axes_of(request)
    owning = owner_in(request, picture.memory[-1].argument)
    own = picture.accesses_of(picture.chosen)
    loads, stores = [one for one in own if one.kind == "load"], [one for one in own if one.kind == "store"]
    shapes = [one.shape for one in picture.memory]
    (m, k), (_, n) = shapes[0], shapes[1]

    def program_of(row: int, column: int) -> int:
        return int(owning(row * down.lanes * n + column * across.lanes))

    numbers = None
    if down.programs * across.programs <= NUMBERED_TILES:
        numbers = np.array([[program_of(row, column) for column in range(across.programs)] for row in range(down.programs)])
    turns = list(zip(loads[0::2], loads[1::2], strict=False))
    corner = int(stores[0].first.flat[0]) if stores else 0
    turn = None
    if settings.step is not None and picture.steps and picture.steps[picture.step].turns:
        here = picture.steps[picture.step].turns[0].index
        turn = next((at for at, (one, _) in enumerate(turns) if one.turns and one.turns[0].index == here), None)
    title(
        "Tiles",
        f"each element of a is read by {across.programs:,} programs, of b by {down.programs:,}",
    )
    tile = (corner // n // down.lanes, corner % n // across.lanes)
    figure = tiles.tiles_figure((m, n, k), axes, tile, numbers, turns, style, turn=turn, height=350)

    def clicked(custom: Any) -> None:
        state.change({"program": max(program_of(custom[0], custom[1]), 0)})

    chart(figure, "tiles", "The tiles of c, and the strips of a and b that one program needs", clicked)
