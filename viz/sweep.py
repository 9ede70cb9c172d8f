"""A sweep: what every implementation reaches over a size, a block or the warps; what failed is a labelled gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .roofline import MARKERS
from .theme import WAYS, Figure, Style, figure, note, plain

LETTERS = 26


@dataclass(frozen=True)
class Curve:
    """One implementation over the axis: (value, what is drawn or None for a gap, hover text)."""

    way: str
    title: str
    points: Sequence[tuple[float, float | None, str]]


def sweep_figure(
    curves: Sequence[Curve],
    axis: str,
    unit: str,
    style: Style,
    *,
    gaps: Sequence[tuple[float, str]] = (),
    roof: tuple[float, str] | None = None,
    chosen: tuple[float, str] | None = None,
    log: bool = False,
) -> Figure:
    """Curves over a log axis; `gaps` are (value, reason), `roof` a limit, `chosen` what the launch rule takes."""
    values = sorted({value for curve in curves for value, _, _ in curve.points} | {value for value, _ in gaps})
    found = [y for curve in curves for _, y, _ in curve.points if y is not None]
    traces = [_curve(curve, style) for curve in curves]
    shapes, notes = [], _ends(curves, style, log)
    if roof:
        dash = {"color": style.text, "width": 2, "dash": "dash"}
        shapes.append({"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": roof[0], "y1": roof[0], "line": dash})
        found.append(roof[0])
        notes.append(note(roof[1], 0, _scaled(roof[0], log), style, xref="paper", xanchor="left", yanchor="bottom"))
    if chosen:
        x = _scaled(chosen[0], True)
        dot = {"color": style.muted, "width": 1.5, "dash": "dot"}
        shapes.append({"type": "line", "yref": "paper", "x0": chosen[0], "x1": chosen[0], "y0": 0, "y1": 0.93, "line": dot})
        notes.append(note(chosen[1], x, 1, style, yref="paper", yanchor="top"))
    notes += [_gap(value, reason, style) for value, reason in gaps]
    return figure(
        traces,
        style,
        height=340,
        shapes=shapes,
        annotations=notes,
        xaxis=_values_axis(axis, values, style),
        yaxis=_unit_axis(unit, found, style, log),
        margin={"l": style.px(78), "r": style.px(130), "t": 10, "b": style.px(52)},
    )


def _scaled(value: float, log: bool) -> float:
    from math import log10

    return log10(value) if log else value


def _curve(curve: Curve, style: Style) -> dict[str, Any]:
    ours = curve.way == "triton"
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [value for value, _, _ in curve.points],
        "y": [y for _, y, _ in curve.points],
        "customdata": [[value] for value, _, _ in curve.points],
        "connectgaps": False,
        "line": {"color": WAYS[curve.way].colour, "width": 3.5 if ours else 2},
        "marker": {"size": style.px(9 if ours else 7), "symbol": MARKERS[curve.way]},
        "hovertext": [text for _, _, text in curve.points],
        "hoverinfo": "text",
    }


def _ends(curves: Sequence[Curve], style: Style, log: bool) -> list[dict[str, Any]]:
    """Every curve's title at its right end, apart from each other."""
    ends = []
    for curve in curves:
        drawn = [(value, y) for value, y, _ in curve.points if y is not None]
        if drawn:
            ends.append((drawn[-1][1], curve))
    found, last = [], None
    top = max((y for y, _ in ends), default=1.0)
    for y, curve in sorted(ends, key=lambda one: -one[0]):
        height = _scaled(y, log) * (60 if log else 250 / top)
        shift = 0 if last is None else max(18 - (last - height), 0)
        last = height - shift
        text = f"<b>{plain(curve.title)}</b>" if curve.way == "triton" else plain(curve.title)
        font = {"size": style.size * 0.95, "color": style.text}
        place = {"xref": "paper", "xanchor": "left", "xshift": style.px(8), "yshift": -style.px(shift)}
        found.append(note(text, 1, _scaled(y, log), style, font=font, **place))
    return found


def _gap(value: float, reason: str, style: Style) -> dict[str, Any]:
    text = reason if len(reason) <= LETTERS else reason[: LETTERS - 1] + "…"
    return note(f"✕ {text}", _scaled(value, True), 0.02, style, yref="paper", yanchor="bottom", textangle=-90, hovertext=reason)


def _values_axis(title: str, values: Sequence[float], style: Style) -> dict[str, Any]:
    from math import log10

    positive = [value for value in values if value > 0] or [1]
    ends = [log10(positive[0]) - 0.08, log10(positive[-1]) + 0.08]
    return {
        "type": "log",
        "range": ends,
        "title": {"text": title, "font": {"size": style.size, "color": style.muted}},
        "tickvals": positive,
        "ticktext": [_short(value) for value in positive],
        "tickfont": {"size": style.size * 0.9, "color": style.muted},
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
    }


def _short(value: float) -> str:
    """A number short enough for ten of them side by side: large powers of two as such."""
    power = int(value).bit_length() - 1
    return f"2<sup>{power}</sup>" if value > 99_999 and value == 2**power else f"{value:,.0f}"


def _unit_axis(title: str, found: Sequence[float], style: Style, log: bool) -> dict[str, Any]:
    from math import log10

    base = {
        "title": {"text": title, "font": {"size": style.size, "color": style.muted}},
        "gridcolor": style.line,
        "gridwidth": 0.5,
        "tickfont": {"size": style.size * 0.9, "color": style.muted},
        "zeroline": False,
        "fixedrange": True,
    }
    if not log:
        return {**base, "range": [0, 1.15 * max(found, default=1.0)]}
    low, high = min(found, default=1.0), max(found, default=1.0)
    return {
        **base,
        "type": "log",
        "range": [log10(low) - 0.2, log10(high) + 0.3],
        "dtick": 1,
        "tickformat": "~s",
        "ticksuffix": "s",
    }
