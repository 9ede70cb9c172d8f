"""What one warp asks of memory: a row an instruction, a square a sector of 32 bytes, four of them a line of 128."""

from __future__ import annotations

import numpy as np

from .hardware import mixed
from .theme import READ, WRITTEN, Figure, Style, bare_axis, figure, note

SECTOR, LINE = 32, 128
MOST_LINES = 32
MOST_ROWS = 16


def sectors_figure(addresses: np.ndarray, width: int, stores: bool, style: Style) -> Figure:
    """`addresses[instruction, lane]` in bytes, -1 where a lane touches nothing; `width` bytes a lane.

    Lines that the warp does not touch are left out; a sector is the stronger the more of its bytes are wanted.
    """
    rows = addresses[: _fitting(addresses)]
    lines = np.unique(rows[rows >= 0] // LINE)[:MOST_LINES]
    wanted = np.array([_wanted(row, width, lines) for row in rows]).reshape(len(rows), -1)
    who = [_who(row, lines) for row in rows]
    colour = (WRITTEN if stores else READ).colour
    drawn = {
        "type": "heatmap",
        "z": wanted,
        "zmin": 0,
        "zmax": SECTOR,
        "colorscale": [[0, style.masked], [1e-6, mixed(colour, style.background, 0.4)], [1, colour]],
        "showscale": False,
        "xgap": 1,
        "ygap": 3,
        "customdata": who,
        "hovertemplate": "<b>%{customdata[0]}</b><br>%{customdata[1]}<br>%{z} of 32 bytes wanted<extra></extra>",
    }
    edges = [
        {"type": "line", "x0": 4 * at - 0.5, "x1": 4 * at - 0.5, "y0": -0.6, "y1": len(rows) - 0.4}
        | {"line": {"color": style.muted, "width": 1.5 if len(lines) <= 12 else 0.75}, "layer": "above"}
        for at in range(len(lines) + 1)
    ]
    ticks = [4 * at for at in range(0, len(lines), max(len(lines) // 4, 1))]
    more = addresses.shape[0] - len(rows)
    said = [note(f"and {more:,} more instructions", 0, 0, style, yref="paper", xanchor="left", yanchor="top")] if more else []
    return figure(
        [drawn],
        style,
        height=60 + min(34 * len(rows), 300) + (22 if more else 0),
        xaxis=bare_axis(
            style,
            side="top",
            tickangle=0,
            tickvals=ticks,
            ticktext=[f"byte {int(lines[tick // 4]) * LINE:,}" for tick in ticks],
        ),
        yaxis=bare_axis(
            style,
            range=[len(rows) - 0.4, -0.6],
            tickvals=list(range(len(rows))),
            ticktext=[f"instruction {number}" for number in range(len(rows))],
        ),
        shapes=edges,
        annotations=said,
        margin={"l": style.px(98), "r": style.px(30), "t": style.px(26), "b": style.px(26 if more else 6)},
    )


def _fitting(addresses: np.ndarray) -> int:
    """How many instructions are drawn: those that together touch few enough lines, one at least."""
    count = 1
    while count < min(len(addresses), MOST_ROWS):
        rows = addresses[: count + 1]
        if np.unique(rows[rows >= 0] // LINE).size > MOST_LINES:
            break
        count += 1
    return count


def _wanted(row: np.ndarray, width: int, lines: np.ndarray) -> np.ndarray:
    """Bytes of each sector of these lines that the lanes of an instruction want."""
    live = row[row >= 0]
    found = np.zeros((lines.size, LINE // SECTOR))
    place = np.searchsorted(lines, live // LINE)
    inside = (place < lines.size) & (np.take(lines, np.minimum(place, lines.size - 1)) == live // LINE)
    np.add.at(found, (place[inside], live[inside] % LINE // SECTOR), width)
    return np.minimum(found, SECTOR).reshape(-1)


def _who(row: np.ndarray, lines: np.ndarray) -> list[list[str]]:
    """For every sector of these lines: its bytes, and the lanes that touch it."""
    lanes: dict[int, list[int]] = {}
    for lane, address in enumerate(row.tolist()):
        if address >= 0:
            lanes.setdefault(address // SECTOR, []).append(lane)
    sectors = (lines[:, None] * (LINE // SECTOR) + np.arange(LINE // SECTOR)).reshape(-1).tolist()
    return [[f"bytes {one * SECTOR:,} to {(one + 1) * SECTOR - 1:,}", _span(lanes.get(one, []))] for one in sectors]


def _span(lanes: list[int]) -> str:
    if not lanes:
        return "not asked for"
    return f"lane {lanes[0]}" if len(lanes) == 1 else f"lanes {lanes[0]} to {lanes[-1]}"


def asked_figure(choices: list[tuple[str, int, int]], chosen: int, style: Style) -> Figure:
    """(name, sectors asked, sectors needed) for every way that the tensor may lie: a bar each, what is needed framed in it."""
    names = [name for name, _, _ in choices]
    most = max((asked for _, asked, _ in choices), default=1)
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": names,
        "x": [asked for _, asked, _ in choices],
        "width": 0.62,
        "marker": {
            "color": [READ.colour if at == chosen else style.masked for at in range(len(choices))],
            "line": {"width": 0},
        },
        "text": [f"{asked:,} asked, {needed:,} needed" for _, asked, needed in choices],
        "textposition": "outside",
        "textfont": {"size": style.size, "color": style.text},
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
    needed = {**bars, "x": [needed for _, _, needed in choices], "text": None, "width": 0.62}
    needed["marker"] = {"color": "rgba(0,0,0,0)", "line": {"width": 2, "color": style.text}}
    return figure(
        [bars, needed],
        style,
        height=34 * len(choices) + 20,
        xaxis=bare_axis(style, range=[0, most * 2.5], visible=False),
        yaxis=bare_axis(style, autorange="reversed", tickfont={"size": style.size, "color": style.text}),
        margin={"l": style.px(104), "r": 8, "t": 4, "b": 4},
    )
