"""Offsets and mask: the lanes of a few programs, cell by cell where they fit, in groups where not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .theme import OUT_OF_BOUNDS, Figure, Fill, Style, bare_axis, figure, note, outline, program_fill
from .words import value_text

if TYPE_CHECKING:
    from kernels.runtime.picture import Lanes

CELLS = 16
ROW_HEIGHT = 58
CLOSE_ROWS = 42
GAP = 0.04
PATTERNS = {"masked": "/", "strayed": "x"}
SAID = {
    "live": "live",
    "masked": "masked",
    "outside": "OUT OF BOUNDS",
    "strayed": "live although the kernel's mask excludes it",
}


def lanes_figure(rows: list[tuple[int, Lanes]], chosen: int, programs: int, style: Style, itemsize: int) -> Figure:
    """One row a program: (number, access). Lanes along x; live ones filled, masked ones hatched, out of bounds vermilion.

    Points carry (program, lane) as customdata. Rows that are not neighbours have a note between them.
    """
    places, notes = _places(rows, programs, style)
    single = rows[0][1].group[0] == 1
    bars = [_row(number, access, places[number], number == chosen, style, itemsize) for number, access in rows]
    lanes = rows[0][1].lanes
    high = max(places.values()) + 0.5
    ticks = _ticks(lanes, single)
    names = [f"<b>program {number:,}</b><br>{_starts(access)}" for number, access in rows]
    return figure(
        bars,
        style,
        height=34 + (ROW_HEIGHT if high < 4 else CLOSE_ROWS) * (high + 0.5),
        xaxis=bare_axis(
            style,
            range=[-0.02 * lanes - GAP, lanes * 1.02 + GAP],
            side="top",
            tickvals=[lane + (0.5 if single else 0) for lane in ticks],
            ticktext=[f"lane {lane:,}" for lane in ticks],
        ),
        yaxis=bare_axis(
            style,
            range=[high + 0.05, -0.55],
            tickvals=[places[number] for number, _ in rows],
            ticktext=names,
            tickfont={"size": style.size, "color": style.text},
        ),
        margin={
            "l": _margin([f"starts at {int(access.first.flat[0]):,}" for _, access in rows], style),
            "r": style.px(34),
            "t": style.px(30),
            "b": 4,
        },
        shapes=[outline(-0.01 * lanes - GAP, lanes * 1.01 + GAP, places[chosen] - 0.48, places[chosen] + 0.48, style)]
        if len(rows) > 1
        else [],
        annotations=[*notes, *_labels(rows, places, style, single)],
    )


def _margin(labels: list[str], style: Style) -> int:
    """Room for the longest label; 6.7 pixels a letter at 14 pixels, measured in Source Sans."""
    return style.px(18 + 6.7 * max(map(len, labels)))


def _starts(access: Lanes) -> str:
    return f"starts at {int(access.first.flat[0]):,}"


def _places(rows: list[tuple[int, Lanes]], programs: int, style: Style) -> tuple[dict[int, float], list[dict[str, Any]]]:
    """Where each row lies; where programs are left out, half a row that says how many."""
    places, notes, at, before = {}, [], 0.0, -1
    for number, _ in rows:
        left_out = number - before - 1
        if left_out > 0:
            text = f"{left_out:,} more program{'' if left_out == 1 else 's'}"
            notes.append(note(text, 0, at - 0.25, style, xanchor="left"))
            at += 0.5
        places[number], at, before = at, at + 1, number
    if programs - before - 1 > 0:
        notes.append(note(f"{programs - before - 1:,} more programs", 0, at - 0.25, style, xanchor="left"))
    return places, notes


def _row(number: int, access: Lanes, place: float, strong: bool, style: Style, itemsize: int) -> dict[str, Any]:
    """A program's lanes as one bar trace."""
    group, count = access.group[0], len(access.first)
    width = np.minimum(group, access.lanes - np.arange(count) * group)
    states = _states(access, width)
    fill = program_fill(number, style)
    fills = [_fill(state, fill, style) for state in states]
    gap = GAP if group == 1 else 0
    return {
        "type": "bar",
        "orientation": "h",
        "base": np.arange(count) * group + gap,
        "x": width - 2 * gap,
        "y": np.full(count, place),
        "width": 0.74,
        "marker": {
            "color": [one.colour for one in fills],
            "line": {"color": style.background if group > 1 else [_edge(state, style) for state in states], "width": 1},
            "pattern": _pattern(states, fill, style, style.px(8)),
        },
        "text": _texts(access, states, style) if group == 1 and access.lanes <= CELLS else None,
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "textfont": {"size": style.size * 1.15, "color": [one.text for one in fills]},
        "cliponaxis": False,
        "hovertext": _hovers(number, access, states, width, itemsize),
        "hoverinfo": "text",
        "customdata": [[number, lane * group] for lane in range(count)],
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
    }


def _pattern(states: list[str], fill: Fill, style: Style, size: int) -> dict[str, Any]:
    """Hatching: plain for masked lanes, crossed in the program's colour for those that a missing mask lets stray."""
    crossed = [state == "strayed" for state in states]
    return {
        "shape": [PATTERNS.get(state, "") for state in states],
        "fgcolor": [fill.colour if one else style.hatch for one in crossed],
        "bgcolor": [style.panel if one else style.masked for one in crossed],
        "size": size,
        "solidity": 0.18,
    }


def _states(access: Lanes, width: np.ndarray) -> list[str]:
    live, outside = access.live, access.out_of_bounds
    excluded = access.excluded
    return [
        "outside"
        if out
        else "masked"
        if not alive
        else "strayed"
        if out_by_mask == size
        else "live"
        if alive == size
        else "partly"
        for alive, out, out_by_mask, size in zip(
            live.tolist(), outside.tolist(), excluded.tolist(), width.tolist(), strict=True
        )
    ]


def _fill(state: str, fill: Fill, style: Style) -> Fill:
    if state == "outside":
        return OUT_OF_BOUNDS
    if state == "strayed":
        return Fill(fill.colour, style.text)
    return Fill(style.masked, style.muted) if state == "masked" else fill


def _edge(state: str, style: Style) -> str:
    return style.line if state == "masked" else "rgba(0,0,0,0)"


def _texts(access: Lanes, states: list[str], style: Style) -> list[str]:
    says = {"masked": "masked", "outside": "outside"} if len(states) <= 4 else {}
    small = f'<br><span style="font-size:{style.px(10)}px">'
    return [
        f"<b>{offset:,}</b>{small}{says[state]}</span>" if state in says else f"<b>{offset:,}</b>"
        for offset, state in zip(access.first.tolist(), states, strict=True)
    ]


def _hovers(number: int, access: Lanes, states: list[str], width: np.ndarray, itemsize: int) -> list[str]:
    name = access.name
    verb = "loads" if access.kind == "load" else "stores"
    return [
        _hover(number, access, at, state, int(size), name, verb, itemsize)
        for at, (state, size) in enumerate(zip(states, width.tolist(), strict=True))
    ]


def _hover(number: int, access: Lanes, at: int, state: str, size: int, name: str, verb: str, itemsize: int) -> str:
    first, last, lane = int(access.first[at]), int(access.last[at]), at * access.group[0]
    said = SAID.get(state, f"{int(access.live[at]):,} live")
    if size > 1:
        where = f"bytes {first * itemsize:,} to {(last + 1) * itemsize - 1:,}"
        lanes = f"<b>program {number:,}, lanes {lane:,} to {lane + size - 1:,}</b>: {said}"
        return f"{lanes}<br>{verb} {name}[{first:,} … {last:,}]<br>{where}<br>line {access.line}"
    value = ""
    if access.values is not None and access.defined is not None:
        value = f"<br>value {value_text(float(access.values[at]), bool(access.defined[at]), 6)}"
    return (
        f"<b>program {number:,}, lane {lane:,}</b>: {said}<br>{verb} {name}[{first:,}]"
        f"<br>bytes {first * itemsize:,} to {(first + 1) * itemsize - 1:,}{value}<br>line {access.line}"
    )


def _ticks(lanes: int, single: bool) -> list[int]:
    if single and lanes <= CELLS:
        return list(range(lanes)) if lanes <= 8 else list(range(0, lanes, 2))
    return [lanes * part // 4 for part in range(4)] + [lanes - 1]


def _labels(rows: list[tuple[int, Lanes]], places: dict[int, float], style: Style, single: bool) -> list[dict[str, Any]]:
    """On grouped rows that are mostly masked: how many lanes are live, and their offsets."""
    found = []
    for number, access in rows:
        live = int(access.live.sum())
        if not single and live < access.lanes / 2:
            first = int(access.first.flat[0])
            text = f"<b>{live:,} live</b>: {first:,} to {first + live - 1:,}" if live else "all masked"
            font = {"size": style.size, "color": style.text}
            at = live + 0.01 * access.lanes
            found.append(note(text, at, places[number], style, xanchor="left", bgcolor=style.background, font=font))
    return found


def tile_figure(access: Lanes, number: int, style: Style, itemsize: int) -> Figure:
    """The lanes of a two-dimensional block, a small square each (or a group of them), by the same colours."""
    tall, wide = access.first.shape
    heights = np.minimum(access.group[0], access.shape[0] - np.arange(tall) * access.group[0])
    widths = np.minimum(access.group[1], access.shape[1] - np.arange(wide) * access.group[1])
    flat = np.outer(heights, widths).ravel()
    one = Flattened(access)
    states = _states(one, flat)
    fill = program_fill(number, style)
    fills = [_fill(state, fill, style) for state in states]
    row, column = np.divmod(np.arange(tall * wide), wide)
    squares = {
        "type": "bar",
        "orientation": "h",
        "base": column + GAP,
        "x": np.full(row.size, 1 - 2 * GAP),
        "y": row,
        "width": 1 - 2 * GAP,
        "marker": {
            "color": [fill.colour for fill in fills],
            "line": {"width": 0},
            "pattern": _pattern(states, fill, style, 5),
        },
        "hovertext": _tile_hovers(access, states, itemsize),
        "hoverinfo": "text",
    }
    return figure(
        [squares],
        style,
        height=min(40 + 12 * tall, 230),
        xaxis=bare_axis(
            style, range=[0, wide], side="top", tickvals=[0.5, wide - 0.5], ticktext=["column 0", f"{access.shape[1] - 1:,}"]
        ),
        yaxis=bare_axis(
            style, range=[tall - 0.5, -0.5], tickvals=[0, tall - 1], ticktext=["row 0", f"row {access.shape[0] - 1:,}"]
        ),
        margin={"l": style.px(52), "r": 8, "t": style.px(26), "b": 4},
    )


class Flattened:
    """The counts of an access of two dimensions, in one."""

    def __init__(self, access: Lanes) -> None:
        self.live, self.out_of_bounds = access.live.ravel(), access.out_of_bounds.ravel()
        self.excluded = access.excluded.ravel()


def _tile_hovers(access: Lanes, states: list[str], itemsize: int) -> list[str]:
    name, verb = access.name, "loads" if access.kind == "load" else "stores"
    found = []
    for at, state in enumerate(states):
        row, column = (place * size for place, size in zip(divmod(at, access.first.shape[1]), access.group, strict=True))
        first = int(access.first.flat[at])
        said = SAID.get(state, "partly live")
        value = ""
        if access.values is not None and access.defined is not None:
            value = f"<br>value {value_text(float(access.values.flat[at]), bool(access.defined.flat[at]), 6)}"
        head = f"<b>lane ({row}, {column})</b>: {said}<br>{verb} {name}[{first:,}]"
        found.append(f"{head}<br>byte {first * itemsize:,}{value}<br>line {access.line}")
    return found
