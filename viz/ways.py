"""Implementations side by side: time with its spread and the floor, kernels on a time axis, and what binds each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .theme import CODE_FONT, WAYS, Figure, Style, bare_axis, figure, note, plain
from .words import seconds_text


@dataclass(frozen=True)
class Way:
    """An implementation: its name among the ways, its title, median and percentiles in seconds, and what is wrong with it."""

    name: str
    title: str
    median: float | None
    low: float = 0.0
    high: float = 0.0
    n: int = 0
    problem: str = ""


def ways_figure(ways: Sequence[Way], floor: float | None, floor_words: str, style: Style) -> Figure:
    """Bars of medians with a line from the 20th to the 80th percentile, and the floor dashed."""
    longest = max([way.median or 0 for way in ways] + [floor or 0]) or 1.0
    places = list(range(len(ways)))
    medians = [way.median or 0 for way in ways]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": medians,
        "y": places,
        "width": 0.66,
        "marker": {"color": [WAYS[way.name].colour for way in ways]},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [max(way.high - way.median, 0) if way.median else 0 for way in ways],
            "arrayminus": [max(way.median - way.low, 0) if way.median else 0 for way in ways],
            "color": style.text,
            "thickness": 1.5,
            "width": 5,
        },
        "hovertext": [_hover(way) for way in ways],
        "hoverinfo": "text",
    }
    notes = [_value(way, place, floor or 0.0, longest, style) for place, way in enumerate(ways)]
    shapes = []
    if floor:
        dash = {"color": style.text, "width": 2, "dash": "dash"}
        shapes.append({"type": "line", "x0": floor, "x1": floor, "y0": -0.6, "y1": len(ways) - 0.4, "line": dash})
        notes.append(note(floor_words, 0, len(ways) - 0.1, style, xanchor="left"))
    return figure(
        [bars],
        style,
        height=30 + 36 * (len(ways) + 1),
        shapes=shapes,
        annotations=notes,
        xaxis=bare_axis(style, range=[0, longest * 1.28], visible=False),
        yaxis=bare_axis(
            style,
            range=[len(ways) + 0.25, -0.6],
            tickvals=places,
            ticktext=[f"<b>{plain(way.title)}</b>" if way.name == "triton" else plain(way.title) for way in ways],
            tickfont={"size": style.size, "color": style.text},
        ),
        margin={"l": style.px(150), "r": 4, "t": 2, "b": 2},
    )


def _hover(way: Way) -> str:
    if way.median is None:
        return f"<b>{plain(way.title)}</b>: {plain(way.problem)}"
    between = f"60 % of {way.n} samples lie from {seconds_text(way.low)} to {seconds_text(way.high)}"
    return f"<b>{plain(way.title)}</b>: {seconds_text(way.median)}<br>{between}"


def _value(way: Way, place: int, floor: float, longest: float, style: Style) -> dict[str, Any]:
    end = way.high or way.median or 0.0
    end = floor if end <= floor < end + 0.15 * longest else end  # never under the dashed line
    text = f"<b>{seconds_text(way.median)}</b>" if way.median is not None else "-"
    if way.problem:
        text += f" <span style='color:{style.muted}'>{plain(way.problem[:110])}</span>"
    big = {"size": style.size * 1.08, "color": style.text}
    return note(text, end, place, style, xanchor="left", xshift=style.px(10), font=big)


def timeline_figure(rows: Sequence[tuple[Way, Sequence[tuple[str, float, float]]]], style: Style) -> Figure:
    """(way, kernels as name, start, duration in seconds) in rows on one time axis; numbered t1, t2, ... as they start."""
    longest = max((start + duration for _, kernels in rows for _, start, duration in kernels), default=1.0)
    traces, notes = [], []
    for place, (way, kernels) in enumerate(rows):
        traces.append(_kernels(way, kernels, place, style))
        notes += _numbers(kernels, place, longest, WAYS[way.name].text, style)
    return figure(
        traces,
        style,
        height=34 + 46 * len(rows),
        annotations=notes,
        xaxis=bare_axis(style, range=[0, longest * 1.02], tickformat="~s", ticksuffix="s", nticks=6),
        yaxis=bare_axis(
            style,
            range=[len(rows) - 0.4, -0.6],
            tickvals=list(range(len(rows))),
            ticktext=[f"<b>{plain(way.title)}</b>" if way.name == "triton" else plain(way.title) for way, _ in rows],
            tickfont={"size": style.size, "color": style.text},
        ),
        margin={"l": style.px(150), "r": 8, "t": 2, "b": style.px(28)},
    )


def _kernels(way: Way, kernels: Sequence[tuple[str, float, float]], place: int, style: Style) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "base": [start for _, start, _ in kernels],
        "x": [duration for _, _, duration in kernels],
        "y": [place] * len(kernels),
        "width": 0.7,
        "marker": {"color": WAYS[way.name].colour, "line": {"color": style.background, "width": 1}},
        "hovertext": [
            f"<b>t{number + 1}</b> {plain(name)}<br>ran {seconds_text(duration)}, from {seconds_text(start)} on"
            for number, (name, start, duration) in enumerate(kernels)
        ],
        "hoverinfo": "text",
    }


def _numbers(
    kernels: Sequence[tuple[str, float, float]], place: int, longest: float, colour: str, style: Style
) -> list[dict[str, Any]]:
    found = []
    for number, (name, start, duration) in enumerate(kernels):
        text = f"t{number + 1} {name}"
        room = duration / longest * 92  # letters
        if room < 2.5:
            continue
        shown = text if len(text) <= room else f"t{number + 1}"
        font = {"family": CODE_FONT, "size": style.size * 0.88, "color": colour}
        found.append(note(plain(shown), start + duration / 2, place, style, font=font))
    return found


BOUNDS = ("memory", "compute", "overhead")


def binding_figure(rows: Sequence[tuple[Way, Mapping[str, float | None], str]], style: Style) -> Figure:
    """(way, share of its time that each limit alone would need, which binds): three bars a way, the binding one strong."""
    places = [(way, bound, shares[bound], binds) for way, shares, binds in rows for bound in BOUNDS]
    y = [number + 0.55 * (number // len(BOUNDS)) for number in range(len(places))]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": [min(share or 0, 1.15) for _, _, share, _ in places],
        "y": y,
        "width": 0.78,
        "marker": {"color": [WAYS["triton"].colour if bound == binds else style.line for _, bound, _, binds in places]},
        "hoverinfo": "skip",
    }
    notes = []
    for at, (_, bound, share, binds) in zip(y, places, strict=True):
        words = f"{bound}: not known" if share is None else f"{share:.0%} {bound}"
        text = f"<b>{words}</b>" if bound == binds else words
        colour = style.text if bound == binds else style.muted
        font = {"size": style.size * 0.95, "color": colour}
        place = {"xanchor": "left", "xshift": 8, "bgcolor": style.background}  # the line of the whole time does not cross it
        notes.append(note(text, min(share or 0, 1.15), at, style, font=font, **place))
    middles = [y[3 * number + 1] for number in range(len(rows))]
    full = {"type": "line", "x0": 1, "x1": 1, "y0": -0.6, "y1": y[-1] + 0.6, "line": {"color": style.muted, "dash": "dot"}}
    return figure(
        [bars],
        style,
        height=20 + 74 * len(rows),
        shapes=[full],
        annotations=notes,
        xaxis=bare_axis(style, range=[0, 1.45], visible=False),
        yaxis=bare_axis(
            style,
            range=[y[-1] + 0.7, -0.7],
            tickvals=middles,
            ticktext=[f"<b>{plain(way.title)}</b>" if way.name == "triton" else plain(way.title) for way, _, _ in rows],
            tickfont={"size": style.size, "color": style.text},
        ),
        margin={"l": style.px(150), "r": 4, "t": 2, "b": 2},
    )
