"""Bytes side by side: every step of the unfused computation end to end over the fused one, on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .theme import CODE_FONT, READ, WRITTEN, Figure, Style, bare_axis, figure, note
from .words import bytes_text

if TYPE_CHECKING:
    from kernels.operator import Step

HAIRLINE = 0.004  # of the whole axis: what is thinner is drawn as a line
LETTER = 0.0092  # of the axis: about the width of a letter of a step's name
HEIGHT = 0.30


@dataclass(frozen=True)
class Moved:
    """One row: its label, its steps, what the hardware counted (read, written), if anything, and where the steps are from."""

    label: str
    steps: Sequence[Step]
    counted: tuple[float, float] | None = None
    origin: str = "by the formula"

    @property
    def total(self) -> int:
        """Bytes of all steps."""
        return sum(step.moved for step in self.steps)


def traffic_figure(rows: Sequence[Moved], style: Style) -> Figure:
    """Rows from top to bottom; of each the total, the first bytes saved by the last row, and the counters as a thin bar."""
    longest = max(max(row.total, sum(row.counted or (0,))) for row in rows) or 1
    traces: list[dict[str, Any]] = []
    shapes: list[dict[str, Any]] = []
    notes = _legend(style)
    for place, row in enumerate(rows):
        y = -1.15 * place
        traces += _bars(row, y, style)
        shapes += _hairlines(row, y, longest, style)
        notes += _names(row, y, longest, style) + _total(row, y, rows, style)
        if row.counted:
            shapes += _counted(row.counted, y, style)
    bottom = -1.15 * (len(rows) - 1) - 0.55
    return figure(
        traces,
        style,
        height=50 + 62 * len(rows),
        barmode="overlay",
        shapes=shapes,
        annotations=notes,
        xaxis=bare_axis(style, range=[0, longest * 1.24], visible=False),
        yaxis=bare_axis(
            style,
            range=[bottom, 0.85],
            tickvals=[-1.15 * place for place in range(len(rows))],
            ticktext=[row.label for row in rows],
            tickfont={"size": style.size, "color": style.text},
        ),
        margin={"l": style.px(92), "r": 4, "t": 2, "b": 2},
    )


def _bars(row: Moved, y: float, style: Style) -> list[dict[str, Any]]:
    """Two traces: what is read, what is written; step by step from left to right."""
    reads, writes, start = [], [], 0
    for step in row.steps:
        reads.append((start, step.read, step))
        writes.append((start + step.read, step.written, step))
        start += step.moved
    parts = ((reads, READ, "reads"), (writes, WRITTEN, "writes"))
    return [_bar(sizes, y, fill.colour, what, row.origin, style) for sizes, fill, what in parts]


def _bar(parts: list[tuple[int, int, Any]], y: float, colour: str, what: str, origin: str, style: Style) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "base": [start for start, _, _ in parts],
        "x": [size for _, size, _ in parts],
        "y": [y] * len(parts),
        "width": 2 * HEIGHT,
        "marker": {"color": colour, "line": {"color": style.background, "width": 1.5}},
        "hovertext": [f"<b>{step.name}</b> {what} {bytes_text(size)}<br>{origin}" for _, size, step in parts],
        "hoverinfo": "text",
    }


def _hairlines(row: Moved, y: float, longest: float, style: Style) -> list[dict[str, Any]]:
    found, start, last = [], 0, -1.0
    for step in row.steps:
        if step.moved < HAIRLINE * longest:
            x = max(start, last + 0.005 * longest)
            line = {"color": style.text, "width": 2}
            found.append({"type": "line", "x0": x, "x1": x, "y0": y - 0.4, "y1": y + 0.4, "line": line})
            last = x
        start += step.moved
    return found


def _names(row: Moved, y: float, longest: float, style: Style) -> list[dict[str, Any]]:
    found, start = [], 0
    for step in row.steps:
        if step.moved > len(step.name) * LETTER * longest * 1.2:
            font = {"family": CODE_FONT, "size": style.size * 0.93, "color": READ.text}
            found.append(note(step.name, start + step.moved / 2, y, style, font=font))
        start += step.moved
    return found


def _total(row: Moved, y: float, rows: Sequence[Moved], style: Style) -> list[dict[str, Any]]:
    saved = max(one.total for one in rows) - row.total
    more = f"  <span style='color:{style.muted}'>{bytes_text(saved)} never move</span>" if saved > 0 else ""
    text = f"<b>{bytes_text(row.total)}</b>{more}"
    big = {"size": style.size * 1.12, "color": style.text}
    found = [note(text, row.total, y, style, xanchor="left", xshift=style.px(8), font=big)]
    if row.counted:
        said = f"counters {bytes_text(sum(row.counted))}"
        small = {"size": style.size * 0.86, "color": style.muted}
        found.append(note(said, sum(row.counted), y - 0.47, style, xanchor="left", xshift=style.px(8), font=small))
    return found


def _counted(counted: tuple[float, float], y: float, style: Style) -> list[dict[str, Any]]:
    """The hardware's count as a thin bar under the formula's."""
    read, written = counted
    parts = ((0.0, read, READ), (read, read + written, WRITTEN))
    return [
        {"type": "rect", "x0": x0, "x1": x1, "y0": y - 0.51, "y1": y - 0.41, "fillcolor": fill.colour, "line": {"width": 0}}
        for x0, x1, fill in parts
    ]


def _legend(style: Style) -> list[dict[str, Any]]:
    text = (
        f"<span style='color:{READ.colour}'>■</span> read from DRAM   <span style='color:{WRITTEN.colour}'>■</span> "
        "written to DRAM   <b>|</b> a step that moves next to nothing"
    )
    return [note(text, 0, 1, style, xref="paper", yref="paper", xanchor="left", yanchor="top")]
