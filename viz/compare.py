"""Runs side by side: the same implementations, each run's bar under the other's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .theme import PROGRAMS, Figure, Style, bare_axis, figure, note, plain
from .words import seconds_text


@dataclass(frozen=True)
class Side:
    """One run: its letter and label, and (implementation, median, 20th and 80th percentile in seconds)."""

    letter: str
    label: str
    times: Sequence[tuple[str, float, float, float]]


def compare_figure(sides: Sequence[Side], style: Style, *, ratios: bool = True) -> Figure:
    """A group of bars for every implementation; within it the runs in order, with `ratios` each against the first."""
    names = list(dict.fromkeys(name for side in sides for name, *_ in side.times))
    longest = max((median for side in sides for _, median, _, _ in side.times), default=1.0)
    gap = len(sides) + 0.7
    first = {name: median for name, median, _, _ in sides[0].times}
    traces, notes = [], []
    for at, side in enumerate(sides):
        places = {name: names.index(name) * gap + at for name, *_ in side.times}
        traces.append(_bars(side, places, at, style))
        for name, median, _, high in side.times:
            base = first.get(name) if at and ratios else None
            notes.append(_value(side.letter, base, median, high, places[name], style))
    middle = (len(sides) - 1) / 2
    return figure(
        traces,
        style,
        height=40 + 26 * gap * len(names),
        annotations=notes,
        xaxis=bare_axis(style, range=[0, longest * 1.3], visible=False),
        yaxis=bare_axis(
            style,
            range=[gap * len(names) - 0.4, -0.9],
            tickvals=[number * gap + middle for number in range(len(names))],
            ticktext=[f"<b>{name}</b>" if name == "Triton" else plain(name) for name in names],
            tickfont={"size": style.size, "color": style.text},
        ),
        margin={"l": style.px(150), "r": 4, "t": 2, "b": 2},
    )


def _bars(side: Side, places: dict[str, float], at: int, style: Style) -> dict[str, Any]:
    fill = PROGRAMS[at % len(PROGRAMS)]
    return {
        "type": "bar",
        "orientation": "h",
        "x": [median for _, median, _, _ in side.times],
        "y": [places[name] for name, *_ in side.times],
        "width": 0.86,
        "marker": {"color": fill.colour},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [max(high - median, 0) for _, median, _, high in side.times],
            "arrayminus": [max(median - low, 0) for _, median, low, _ in side.times],
            "color": style.text,
            "thickness": 1.2,
            "width": 4,
        },
        "hovertext": [
            f"<b>{side.letter}: {plain(side.label)}</b><br>{plain(name)}: {seconds_text(median)}"
            for name, median, _, _ in side.times
            for name, median, _, _ in side.times
        ],
        "hoverinfo": "text",
    }


def _value(letter: str, base: float | None, median: float, high: float, place: float, style: Style) -> dict[str, Any]:
    more = f"  {median / base - 1:+.1%}" if base else ""
    font = {"size": style.size * 0.95, "color": style.text}
    text = f"<b>{letter}</b> {seconds_text(median)}<span style='color:{style.muted}'>{more}</span>"
    return note(text, max(median, high), place, style, xanchor="left", xshift=style.px(8), font=font)
