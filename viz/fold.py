"""A reduction: lanes fold pairwise into one number, which fans back over the lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .theme import READ, WRITTEN, Figure, Fill, Style, bare_axis, figure, note
from .words import cell_text, value_text

if TYPE_CHECKING:
    from kernels.runtime.picture import Sample

MOST = 16


def fold_figure(
    before: tuple[str, Sample], between: list[tuple[str, Sample]], after: tuple[str, Sample], live: int, style: Style
) -> Figure:
    """Named lanes before, the numbers between, and the lanes after, all as the kernel computed them.

    `live` lanes have an element; the others are masked. Only the first lanes of many are drawn.
    """
    count = min(len(before[1].values), MOST)
    drawn = list(range(count))
    width = max(len(drawn), 1)
    centre = (width - 1) / 2
    lines = [*_fold(drawn, centre), *_fan(drawn, centre)]
    cells = [_cells(before, drawn, live, 0.0, READ, style), _cells(after, drawn, live, -4.0, WRITTEN, style)]
    middle = "<br>".join(
        f"<b>{name}</b> = {value_text(float(one.values.flat[0]), bool(one.defined.flat[0]), 4)}" for name, one in between
    )
    more = before[1].shape[0] - count
    notes = [
        note(f"<b>{before[0]}</b>", -0.9, 0, style, xanchor="right"),
        note(f"<b>{after[0]}</b>", -0.9, -4, style, xanchor="right"),
        note(
            middle,
            centre,
            -2,
            style,
            bgcolor=style.panel,
            bordercolor=style.line,
            borderpad=6,
            font={"size": style.size, "color": style.text},
        ),
    ]
    if more > 0:
        notes.append(note(f"and {more:,} more lanes", width - 0.4, 0, style, xanchor="left"))
    return figure(
        [
            {
                "type": "scatter",
                "mode": "lines",
                "x": lines[0::2],
                "y": lines[1::2],
                "line": {"color": style.hatch, "width": 1.2},
                "hoverinfo": "skip",
            },
            *cells,
        ],
        style,
        height=300,
        xaxis=bare_axis(style, range=[-3.2 * width / 16 - 0.6, width + (2.5 * width / 16 if more > 0 else 0)], visible=False),
        yaxis=bare_axis(style, range=[-4.6, 0.6], visible=False),
        annotations=notes,
        margin={"l": 2, "r": 2, "t": 2, "b": 2},
    )


def _fold(lanes: list[int], centre: float) -> list[float | None]:
    """x and y in turn: every lane to the middle of its pair, level by level, down to one."""
    found: list[float | None] = []
    at = [float(lane) for lane in lanes]
    levels = max(len(at) - 1, 1).bit_length()
    for level in range(levels):
        pairs = [at[i : i + 2] for i in range(0, len(at), 2)]
        merged = [sum(pair) / len(pair) for pair in pairs]
        y0, y1 = -0.3 - 1.4 * level / levels, -0.3 - 1.4 * (level + 1) / levels
        for pair, middle in zip(pairs, merged, strict=True):
            for x in pair:
                found += [x, y0, middle, y1, None, None]
        at = merged
    return found


def _fan(lanes: list[int], centre: float) -> list[float | None]:
    """x and y in turn: the number back to every lane."""
    found: list[float | None] = []
    for lane in lanes:
        found += [centre, -2.3, float(lane), -3.7, None, None]
    return found


def _cells(named: tuple[str, Sample], lanes: list[int], live: int, y: float, fill: Fill, style: Style) -> dict[str, Any]:
    name, sample = named
    masked = Fill(style.masked, style.muted)
    fills = [fill if lane < live else masked for lane in lanes]
    values = [(float(sample.values[lane]), bool(sample.defined[lane])) for lane in lanes]
    return {
        "type": "bar",
        "orientation": "h",
        "base": [lane - 0.46 for lane in lanes],
        "x": [0.92] * len(lanes),
        "y": [y] * len(lanes),
        "width": 0.62,
        "marker": {
            "color": [one.colour for one in fills],
            "pattern": {
                "shape": ["" if lane < live else "/" for lane in lanes],
                "fgcolor": style.hatch,
                "bgcolor": style.masked,
                "size": 7,
                "solidity": 0.18,
            },
            "line": {"width": 0},
        },
        "text": [cell_text(*value) for value in values],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "constraintext": "none",
        "textfont": {"size": style.size * 0.95, "color": [one.text for one in fills]},
        "hovertext": [
            f"<b>{name}</b>, lane {lane}<br>{value_text(*value, 6)}{'' if lane < live else '<br>masked'}"
            for lane, value in zip(lanes, values, strict=True)
        ],
        "hoverinfo": "text",
    }
