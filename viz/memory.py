"""The memory of a launch: which program owns each element, its value, and what lies past the end."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .theme import OUT_OF_BOUNDS, READ, WRITTEN, Figure, Fill, Style, bare_axis, figure, note, outline, program_fill
from .words import cell_text, shape_text, value_text

if TYPE_CHECKING:
    from kernels.runtime.picture import Lanes, Memory

WIDEST = 14
PAST = 12
LINE = 19
NAME_CELLS = 5
NUMBERED_BLOCKS = 24
ROW_HEIGHT = 46


def strips_figure(
    memory: tuple[Memory, ...], chosen: int, reached: list[Lanes], picked: list[tuple[str, int]], style: Style, itemsize: int
) -> Figure:
    """Vectors one below the other, an element a cell; `reached` are the chosen program's accesses, for what lies past the end.

    Each argument has a window of its own around the chosen program's elements; the numbers above are the first one's. Points
    carry (argument, element) as customdata; those `picked` are framed.
    """
    starts = [_window_start(one, chosen) for one in memory]
    shown = max(min(one.cells.values.size, WIDEST) for one in memory)
    bars = [
        _strip(one, row, start, chosen, style, itemsize) for row, (one, start) in enumerate(zip(memory, starts, strict=True))
    ]
    ghosts = _past_the_end(memory, starts, reached, shown, style)
    wide = max([shown, *(round(ghost["base"][0]) + 1 for ghost in ghosts)])
    rows = {one.argument: (row, start) for row, (one, start) in enumerate(zip(memory, starts, strict=True))}
    places = [(rows[name][0], element - rows[name][1]) for name, element in picked if name in rows]
    frames = [outline(at, at + 1, row - 0.47, row + 0.47, style) for row, at in places if 0 <= at < shown]
    names = [_name(one) + (f" from {start:,}" if start != starts[0] else "") for one, start in zip(memory, starts, strict=True)]
    step = 1 if wide <= 12 and starts[0] < 1000 else 4
    return figure(
        [*bars, *ghosts],
        style,
        height=30 + ROW_HEIGHT * len(memory),
        xaxis=bare_axis(
            style,
            range=[-0.02 * wide, 1.02 * wide],
            side="top",
            tickvals=[at + 0.5 for at in range(0, wide, step)],
            ticktext=[f"{starts[0] + at:,}" for at in range(0, wide, step)],
            tickangle=0,
        ),
        yaxis=bare_axis(
            style,
            range=[len(memory) - 0.45, -0.55],
            tickvals=list(range(len(memory))),
            ticktext=names,
            tickfont={"size": style.size, "color": style.text},
        ),
        margin={"l": style.px(94), "r": 8, "t": style.px(26), "b": 2},
        shapes=frames,
    )


def _name(memory: Memory) -> str:
    kind = {(True, False): "read", (False, True): "written", (True, True): "read, written"}.get(
        (bool(memory.read.any()), bool(memory.written.any())), "not touched"
    )
    return f"<b>{memory.name}</b><br>{kind}"


def _window_start(memory: Memory, chosen: int) -> int:
    """The first of at most 14 elements to show: a few before those of the chosen program."""
    cells, size = memory.cells, memory.cells.values.size
    own = np.flatnonzero(cells.owner == chosen)
    if size <= WIDEST or not own.size:
        return cells.start
    before = 4 if own[-1] - own[0] < WIDEST - 8 else 2
    return cells.start + max(min(int(own[0]) - before, size - WIDEST), 0)


def _strip(memory: Memory, row: int, start: int, chosen: int, style: Style, itemsize: int) -> dict[str, Any]:
    cells = memory.cells
    at = np.arange(start - cells.start, min(start - cells.start + WIDEST, cells.values.size))
    return _bars(
        base=np.arange(at.size) + 0.04,
        length=np.full(at.size, 0.92),
        y=np.full(at.size, row),
        fills=[_owner_fill(int(cells.owner[one]), chosen, style) for one in at],
        texts=[cell_text(float(cells.values[one]), bool(cells.defined[one])) for one in at],
        hovers=[_hover(memory, int(one), itemsize) for one in at],
        custom=[[memory.argument, int(cells.start + one)] for one in at],
        style=style,
    )


def _owner_fill(owner: int, chosen: int, style: Style) -> Fill:
    return Fill(style.masked, style.muted) if owner < 0 else program_fill(owner, style, strong=owner == chosen)


def _bars(
    *, base: Any, length: Any, y: Any, fills: list[Fill], texts: Any, hovers: Any, custom: Any, style: Style, **more: Any
) -> dict[str, Any]:
    """Cells as one bar trace; clickable, never dimmed by a selection."""
    return {
        "type": "bar",
        "orientation": "h",
        "base": base,
        "x": length,
        "y": y,
        "width": 0.84,
        "marker": {"color": [fill.colour for fill in fills], "line": {"width": 0}},
        "text": texts,
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "constraintext": "none",
        "textfont": {"size": style.size * 0.95, "color": [fill.text for fill in fills]},
        "hovertext": hovers,
        "hoverinfo": "text",
        "customdata": custom,
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
        **more,
    }


def _hover(memory: Memory, at: int, itemsize: int) -> str:
    cells, name = memory.cells, memory.name
    element, owner = cells.start + at, int(cells.owner[at])
    place = f"[{element:,}]"
    if len(memory.shape) > 1 and prod(memory.shape):
        indices = ", ".join(f"{index:,}" for index in np.unravel_index(element, memory.shape))
        place = f"[{indices}] = element {element:,}"
    verb = "written" if memory.written.any() else "read first"
    lane = f", lane {int(cells.lane[at]):,}, line {int(cells.line[at])}" if cells.line[at] else ""
    who = f"{verb} by program {owner:,}{lane}" if owner >= 0 else "touched by no program shown"
    again = f"<br>touched {int(cells.touches[at]):,} times by the programs traced" if cells.touches[at] > 1 else ""
    value = value_text(float(cells.values[at]), bool(cells.defined[at]), 6)
    where = f"bytes {element * itemsize:,} to {(element + 1) * itemsize - 1:,}"
    return f"<b>{name}{place}</b><br>{who}{again}<br>offset {element:,}, {where}<br>value {value}"


def _past_the_end(
    memory: tuple[Memory, ...], starts: list[int], reached: list[Lanes], shown: int, style: Style
) -> list[dict[str, Any]]:
    """Open cells where masked lanes point past the end of an argument, vermilion ones where live lanes do."""
    found = []
    for row, (one, start) in enumerate(zip(memory, starts, strict=True)):
        length = prod(one.shape)
        own = [access for access in reached if access.argument == one.argument and access.values is not None]
        pairs = [pair for access in own for pair in zip(access.first.tolist(), access.out_of_bounds.tolist(), strict=True)]
        past = {offset: bool(outside) for offset, outside in pairs if length <= offset < start + shown + PAST}
        if start + shown >= length:
            found += [_ghost(one, row, offset - start, past[offset], style) for offset in sorted(past)]
    return found


def _ghost(memory: Memory, row: int, at: int, outside: bool, style: Style) -> dict[str, Any]:
    """One cell past the end of an argument."""
    said = "a live lane reaches here" if outside else "only masked lanes point here"
    cell = _bars(
        base=[at + 0.04],
        length=[0.92],
        y=[row],
        fills=[OUT_OF_BOUNDS if outside else Fill("rgba(0,0,0,0)", style.muted)],
        texts=["<b>!</b>" if outside else ""],
        hovers=[f"<b>past the end of {memory.name}</b><br>{said}"],
        custom=None,
        style=style,
    )
    if not outside:
        cell["marker"] = {**cell["marker"], "line": {"color": style.hatch, "width": 1}}
    return cell


def blocks_figure(
    memory: tuple[Memory, ...], chosen: int, picked: list[tuple[str, int]], style: Style, itemsize: int
) -> Figure:
    """Matrices side by side, an element a cell, coloured by the program that owns it; see `strips_figure`."""
    places, width, bottom = _block_places(memory)
    traces, notes, frames = [], [], []
    numbered = width <= NUMBERED_BLOCKS
    for one in memory:
        columns = max(_extent(one)[1], 1)
        left, top = places[one.argument]
        row, column = np.divmod(np.arange(one.cells.values.size), columns)
        pairs = zip(one.cells.values.tolist(), one.cells.defined.tolist(), strict=True)
        traces.append(
            _bars(
                base=left + column + 0.04,
                length=np.full(row.size, 0.92),
                y=top + row,
                fills=[_owner_fill(int(owner), chosen, style) for owner in one.cells.owner],
                texts=[cell_text(*pair) for pair in pairs] if numbered else None,
                hovers=[_hover(one, int(element), itemsize) for element in range(row.size)],
                custom=[[one.argument, element] for element in range(row.size)],
                style=style,
            )
        )
        notes.append(note(_name(one).replace("<br>", "  "), left, top - 0.62, style, xanchor="left", yanchor="bottom"))
        for _, element in (pair for pair in picked if pair[0] == one.argument):
            y, x = divmod(element, columns)
            frames.append(outline(left + x, left + x + 1, top + y - 0.47, top + y + 0.47, style))
    return figure(
        traces,
        style,
        height=min(max(26 * (bottom + 1.5), 90), 420),
        xaxis=bare_axis(style, range=[-0.1, width], visible=False),
        yaxis=bare_axis(style, range=[bottom - 0.4, -1.6], visible=False),
        annotations=notes,
        shapes=frames,
        margin={"l": 4, "r": 4, "t": 2, "b": 2},
    )


def _extent(memory: Memory) -> tuple[int, int]:
    return (prod(memory.shape[:-1]), memory.shape[-1]) if len(memory.shape) > 1 else (1, memory.shape[0])


def _block_places(memory: tuple[Memory, ...]) -> tuple[dict[str, tuple[float, float]], float, float]:
    """Left and top of every block, in cells, broken into lines; and the width and height of all."""
    places: dict[str, tuple[float, float]] = {}
    left, top, high, width = 0.0, 0.0, 0, 0.0
    for one in memory:
        rows, columns = _extent(one)
        taken = max(columns, NAME_CELLS)
        if left and left + taken > LINE:
            left, top, high = 0.0, top + high + 2, 0
        places[one.argument] = (left, top)
        width = max(width, left + taken)
        left, high = left + taken + 1, max(high, rows)
    return places, width, top + high


def map_figure(memory: tuple[Memory, ...], style: Style) -> Figure:
    """Arguments of any size as maps of at most 32 by 32 parts: what the chosen program reads and writes of each."""
    traces, layout, notes = [], {}, []
    share = 1 / len(memory)
    for number, one in enumerate(memory, start=1):
        axis = "" if number == 1 else str(number)
        traces.append(_map(one, f"x{axis}", f"y{axis}", style))
        domain = [(number - 1) * share + 0.01, number * share - 0.01]
        layout[f"xaxis{axis}"] = bare_axis(style, domain=domain, showticklabels=False)
        layout[f"yaxis{axis}"] = bare_axis(style, anchor=f"x{axis}", autorange="reversed", showticklabels=False)
        text = f"{_name(one).replace('<br>', '  ')}  {shape_text(one.shape)}"
        place = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
        notes.append(note(text, domain[0], 1.02, style, **place))
    tall = max(one.read.shape[0] for one in memory) > 1
    margin = {"l": 4, "r": 4, "t": style.px(24), "b": 4}
    return figure(traces, style, height=170 if tall else 58, annotations=notes, margin=margin, **layout)


def _map(memory: Memory, x: str, y: str, style: Style) -> dict[str, Any]:
    z = np.where(memory.written > 0, 2, np.where(memory.read > 0, 1, 0)).astype(np.uint8)
    colours = [style.masked, READ.colour, WRITTEN.colour]
    gap = 1 if z.size <= 1024 and z.shape[1] <= 32 else 0
    rows, columns = _extent(memory)
    (tall, wide), name = z.shape, memory.name
    where = "row %{y:,}, column %{x:,}" if rows > 1 else "element %{x:,}"
    owned = "<br>programs %{customdata[0]:,} to %{customdata[1]:,}" if memory.owners else ""
    return {
        "type": "heatmap",
        "z": z,
        "x": np.arange(wide) * -(-columns // wide),
        "y": np.arange(tall) * -(-rows // tall),
        "zmin": 0,
        "zmax": 2,
        "colorscale": [[(at + edge) / 3, colour] for at, colour in enumerate(colours) for edge in (0, 1)],
        "showscale": False,
        "xgap": gap,
        "ygap": gap,
        "xaxis": x,
        "yaxis": y,
        "customdata": np.stack(memory.owners, axis=-1).tolist() if memory.owners else None,
        "hovertemplate": f"<b>{name}</b> from {where} on{owned}<extra></extra>",
    }
