"""All programs of a launch at once: a strip or a map, coloured by the share of lanes they use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .theme import Figure, Fill, Style, bare_axis, figure, note, outline, program_fill

if TYPE_CHECKING:
    from kernels.operator import Axis

BINS = 128
NUMBERED = 30
MAP = 32


def strip_figure(axis: Axis, chosen: int, style: Style) -> Figure:
    """Programs along a line, in at most 128 bins; points carry the number of the first program of their bin.

    The height of a bar is the share of its lanes that are live, by the closed form.
    """
    size = -(-axis.programs // BINS)
    starts = np.arange(0, axis.programs, size)
    counts = np.minimum(size, axis.programs - starts)
    live = counts * float(axis.live)
    live[-1] += axis.last - axis.live
    share = live / (counts * axis.lanes)
    here = int(chosen) // size
    fill = program_fill(0, style)
    full = _bars(starts, counts, np.ones(starts.size), Fill(style.masked, style.muted), axis, share, style, hatched=True)
    used = _bars(starts, counts, share, fill, axis, share, style)
    middle = starts[here] + counts[here] / 2
    return figure(
        [full, used],
        style,
        height=58,
        xaxis=bare_axis(style, range=[-0.004 * axis.programs, axis.programs * 1.004], showticklabels=False),
        yaxis=bare_axis(style, range=[-0.75, 1.1], visible=False),
        shapes=[outline(starts[here], starts[here] + max(counts[here], 0.004 * axis.programs), -0.08, 1.08, style)],
        annotations=[
            *_ends(axis.programs, middle / axis.programs, len(f"{axis.programs:,}"), style),
            note(
                f"<b>program {chosen:,}</b>",
                middle,
                -0.4,
                style,
                font={"size": style.size, "color": style.text},
                xanchor="left" if middle < 0.1 * axis.programs else "right" if middle > 0.9 * axis.programs else "center",
            ),
        ],
        margin={"l": 2, "r": 2, "t": 2, "b": 2},
    )


def _ends(programs: int, at: float, digits: int, style: Style) -> list[dict[str, Any]]:
    """The names of the first and last program, where the chosen one's name does not reach there."""
    half, first, last = 0.014 * (9 + digits) / 2, 0.14, 0.014 * (9 + digits)
    near_start, near_end = at < 0.1 or at - half < first, at > 0.9 or at + half > 1 - last
    names = [] if near_start else [note("program 0", 0, -0.4, style, xanchor="left")]
    return names if near_end else [*names, note(f"program {programs - 1:,}", programs, -0.4, style, xanchor="right")]


def _bars(
    starts: np.ndarray,
    counts: np.ndarray,
    height: np.ndarray,
    fill: Fill,
    axis: Axis,
    share: np.ndarray,
    style: Style,
    hatched: bool = False,
) -> dict[str, Any]:
    hovers = [
        f"<b>program {_span(start, count)}</b><br>{part:.1%} of {axis.lanes:,} lanes live<br>click to show it"
        for start, count, part in zip(starts.tolist(), counts.tolist(), share.tolist(), strict=True)
    ]
    return {
        "type": "bar",
        "x": starts + counts / 2,
        "y": height,
        "width": counts * (0.86 if starts.size > 1 else 1),
        "marker": {
            "color": fill.colour,
            "line": {"width": 0},
            "pattern": {
                "shape": "/" if hatched else "",
                "fgcolor": style.hatch,
                "bgcolor": style.masked,
                "size": 6,
                "solidity": 0.2,
            },
        },
        "hovertext": hovers,
        "hoverinfo": "text",
        "customdata": [[int(start)] for start in starts],
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
    }


def _span(start: int, count: int) -> str:
    return f"{start:,}" if count == 1 else f"{start:,} to {start + count - 1:,}"


def map_figure(
    axes: tuple[Axis, Axis], chosen: tuple[int, int], numbers: np.ndarray | None, style: Style, height: float = 300
) -> Figure:
    """Tiles of a matrix, a square a program, pale where it is partly masked; at most 32 by 32, larger grids in parts.

    `numbers` are the programs' numbers in launch order, tile by tile, where all of them are drawn. Points carry the tile.
    """
    down, across = axes
    parts = [max(-(-axis.programs // MAP), 1) for axis in axes]
    tall, wide = (-(-axis.programs // part) for axis, part in zip(axes, parts, strict=True))
    row, column = np.divmod(np.arange(tall * wide), wide)
    share = np.outer(_shares(down, parts[0]), _shares(across, parts[1])).ravel()
    strong = [program_fill(0, style) if part > 0.999 else style.pale[0] for part in share]
    texts = [f"{number:,}" for number in numbers.ravel()] if numbers is not None and numbers.size <= NUMBERED * 4 else None
    tiles = {
        "type": "bar",
        "orientation": "h",
        "base": column + 0.04,
        "x": np.full(row.size, 0.92),
        "y": row,
        "width": 0.92,
        "marker": {"color": [fill.colour for fill in strong], "line": {"width": 0}},
        "text": texts,
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "textfont": {"size": style.size, "color": [fill.text for fill in strong]},
        "hovertext": [
            f"<b>tile ({r * parts[0]:,}, {c * parts[1]:,})</b>{'' if parts == [1, 1] else ' and its neighbours'}<br>"
            f"{used:.1%} of its lanes live<br>click to show it"
            for r, c, used in zip(row.tolist(), column.tolist(), share.tolist(), strict=True)
        ],
        "hoverinfo": "text",
        "customdata": [[int(r) * parts[0], int(c) * parts[1]] for r, c in zip(row, column, strict=True)],
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
    }
    y, x = chosen[0] // parts[0], chosen[1] // parts[1]
    return figure(
        [tiles, *_order(numbers, style)],
        style,
        height=height,
        xaxis=bare_axis(style, range=[-0.05, wide + 0.05], visible=False, constrain="domain"),
        yaxis=bare_axis(style, range=[tall - 0.45, -0.55], visible=False),
        shapes=[outline(x, x + 1, y - 0.5, y + 0.5, style)],
        margin={"l": 4, "r": 4, "t": 4, "b": 4},
    )


def _shares(axis: Axis, part: int) -> np.ndarray:
    """The share of live lanes along an axis, averaged over parts of it."""
    live = np.full(axis.programs, float(axis.live)) if axis.programs <= 2**20 else np.full(MAP * part, float(axis.live))
    live[-1] = axis.last
    starts = np.arange(0, live.size, part)
    return np.add.reduceat(live, starts) / np.minimum(part, live.size - starts) / axis.lanes


def _order(numbers: np.ndarray | None, style: Style) -> list[dict[str, Any]]:
    """A line through the tiles in the order of their programs."""
    if numbers is None or numbers.size < 2:
        return []
    at = np.argsort(numbers, axis=None)
    row, column = np.divmod(at, numbers.shape[1])
    line = {"color": style.text, "width": 1.5, "dash": "dot"}
    return [
        {"type": "scatter", "mode": "lines", "x": column + 0.5, "y": row, "line": line, "opacity": 0.55, "hoverinfo": "skip"}
    ]
