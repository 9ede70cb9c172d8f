"""The roofline: operations a second over operations a byte, under the roofs of a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

from .theme import WAYS, Figure, Style, figure, note, plain

HEIGHT, PLOT = 380, 320  # of the figure, of what lies between its axes
MARKERS = {"pytorch": "square", "library": "diamond", "compiled": "triangle-up", "triton": "circle"}


@dataclass(frozen=True)
class Dot:
    """An implementation: operations a byte, operations a second, and the arithmetic in words."""

    way: str
    title: str
    intensity: float
    rate: float
    words: str


@dataclass(frozen=True)
class Roof:
    """A GPU's limits in bytes and operations a second; compute None where it is not known for this dtype."""

    label: str
    bandwidth: float
    compute: float | None
    dash: str = "solid"


def roofline_figure(dots: Sequence[Dot], roofs: Sequence[Roof], style: Style) -> Figure:
    """Log-log; roofs as lines, implementations as labelled points with their arithmetic on hover."""
    low, high = _range([dot.intensity for dot in dots], roofs)
    bottom = min([dot.rate for dot in dots] + [low * roofs[0].bandwidth]) / 2
    top = 3 * max([_at(roof, _end(roof, high, roofs)) for roof in roofs])
    traces = [_roof(roof, low, _end(roof, high, roofs), style) for roof in roofs]
    traces += [_dot(dot, style) for dot in dots]
    return figure(
        traces,
        style,
        height=HEIGHT,
        annotations=_labels(dots, PLOT / log10(top / bottom), style) + _roof_labels(roofs, low, high, style),
        xaxis=_axis("operations a byte of DRAM traffic", low, high, style),
        yaxis={**_axis("operations a second", bottom, top, style), "tickformat": "~s"},
        margin={"l": style.px(78), "r": 10, "t": 8, "b": style.px(52)},
    )


def _range(intensities: Sequence[float], roofs: Sequence[Roof]) -> tuple[float, float]:
    ridges = [roof.compute / roof.bandwidth for roof in roofs if roof.compute]
    return min([*intensities, *ridges]) / 6, max([*intensities, *ridges]) * 8


def _at(roof: Roof, intensity: float) -> float:
    slope = roof.bandwidth * intensity
    return min(slope, roof.compute) if roof.compute else slope


def _end(roof: Roof, high: float, roofs: Sequence[Roof]) -> float:
    """Up to what intensity a roof is drawn: without a rate of its own, up to the highest that is known."""
    known = [one.compute for one in roofs if one.compute]
    return high if roof.compute or not known else min(high, max(known) / roof.bandwidth)


def _axis(title: str, low: float, high: float, style: Style) -> dict[str, Any]:
    return {
        "type": "log",
        "range": [log10(low), log10(high)],
        "title": {"text": title, "font": {"size": style.size, "color": style.muted}},
        "gridcolor": style.line,
        "gridwidth": 0.5,
        "tickfont": {"size": style.size * 0.9, "color": style.muted},
        "dtick": 1,
        "fixedrange": True,
        "zeroline": False,
    }


def _roof(roof: Roof, low: float, high: float, style: Style) -> dict[str, Any]:
    ridge = roof.compute / roof.bandwidth if roof.compute else None
    xs = [low, *([ridge] if ridge and low < ridge < high else []), high]
    return {
        "type": "scatter",
        "mode": "lines",
        "x": xs,
        "y": [_at(roof, x) for x in xs],
        "line": {"color": style.text if roof.dash == "solid" else style.muted, "width": 2, "dash": roof.dash},
        "hovertext": f"{roof.label}: {roof.bandwidth / 1e12:.2f} TB/s{_compute_words(roof)}",
        "hoverinfo": "text",
    }


def _compute_words(roof: Roof) -> str:
    return f", {roof.compute / 1e12:,.0f} TFLOP/s" if roof.compute else ""


def _roof_labels(roofs: Sequence[Roof], low: float, high: float, style: Style) -> list[dict[str, Any]]:
    """At the right end; on the slope where there is no rate, or one that another roof is labelled with."""
    found, taken = [], set[float | None]({None})
    for roof in roofs:
        sloping = roof.compute in taken
        taken.add(roof.compute)
        end = _end(roof, high, roofs)
        above = roof.dash != "dash"  # the measured roof lies close under the theoretical one, and points lie left
        top = min(end, roof.compute / roof.bandwidth if roof.compute else end)
        x = low * (top / low) ** (0.5 if above else 0.75) if sloping else high / 1.3
        place = {"xanchor": "right" if above or not sloping else "left", "yanchor": "bottom" if above else "top"}
        small = {"size": style.size * 0.9, "color": style.text if roof.dash == "solid" else style.muted}
        words = roof.label if sloping else f"{roof.label}{_compute_words(roof)}"
        found.append(note(words, log10(x), log10(_at(roof, x)), style, font=small, **place))
    return found


def _dot(dot: Dot, style: Style) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [dot.intensity],
        "y": [dot.rate],
        "marker": {
            "size": style.px(13),
            "color": WAYS[dot.way].colour,
            "symbol": MARKERS[dot.way],
            "line": {"color": style.text, "width": 1},
        },
        "hovertext": f"<b>{plain(dot.title)}</b><br>{dot.words}",
        "hoverinfo": "text",
    }


def _labels(dots: Sequence[Dot], decade: float, style: Style) -> list[dict[str, Any]]:
    """Beside each point, pushed down where another label is as high; `decade` is how many pixels a factor of ten takes."""
    found, taken = [], []
    for dot in sorted(dots, key=lambda one: -one.rate):
        x, y = log10(dot.intensity), log10(dot.rate)
        height = y * decade
        while any(abs(x - other) < 1.0 and abs(height - level) < 18 for other, level in taken):
            height -= 1
        taken.append((x, height))
        text = f"<b>{plain(dot.title)}</b>" if dot.way == "triton" else plain(dot.title)
        font = {"size": style.size * 0.95, "color": style.text}
        place = {"xanchor": "left", "xshift": style.px(12), "yshift": style.px(height - y * decade)}
        found.append(note(text, x, y, style, font=font, **place))
    return found
