"""Which multiprocessor ran which program, and when: a house of dark windows, lit while programs run."""

from __future__ import annotations

import math

import numpy as np

from .hardware import LIT, dark_window, mixed
from .theme import PROGRAMS, Figure, Style, bare_axis, figure
from .words import count

MOMENTS = 300
MOST_POINTS = 4096
MARGIN = 74


def moments(span: int) -> np.ndarray:
    """The moments that are drawn, in nanoseconds, the middle of as many equal parts of the launch."""
    step = span / MOMENTS
    return (np.arange(MOMENTS) + 0.5) * step


def windows_figure(running: np.ndarray, wave: np.ndarray, span: int, style: Style, height: float = 330) -> Figure:
    """`running[multiprocessor, moment]` programs, and in which wave: a row a multiprocessor, every other wave deeper."""
    units = running.shape[0]
    shades = (dark_window(style), LIT.colour, mixed(LIT.colour, PROGRAMS[1].colour, 0.75))
    scale = [[(place + end) / 3, colour] for place, colour in enumerate(shades) for end in (0, 1)]
    unit, factor = time_unit(span)
    house = {
        "type": "heatmap",
        "z": np.where(running > 0, 1 + wave % 2, 0).astype(np.int8),
        "customdata": running.astype(np.int16),
        "x0": span / MOMENTS / 2 / factor,
        "dx": span / MOMENTS / factor,
        "zmin": -0.5,
        "zmax": 2.5,
        "colorscale": scale,
        "showscale": False,
        "ygap": 1 if style.px(height) / units >= 4 else 0,
        "hovertemplate": f"<b>SM %{{y}}</b> at %{{x:.2f}} {unit}<br>%{{customdata}} programs running<extra></extra>",
    }
    return figure(
        [house],
        style,
        height=height,
        xaxis=bare_axis(style, range=[0, span / factor], nticks=6, ticksuffix=f" {unit}", tickangle=0),
        yaxis=bare_axis(
            style,
            range=[units - 0.5, -0.5],
            tickvals=[0, units // 2, units - 1],
            ticktext=["SM 0", f"{units // 2}", f"{units - 1}"],
        ),
        margin={"l": style.px(MARGIN), "r": style.px(22), "t": style.px(9), "b": style.px(26)},
    )


def order_figure(starts: np.ndarray, span: int, style: Style, height: float = 120) -> Figure:
    """When each program started: a point a program, program numbers upwards; starts that crowd get a time axis of their own."""
    drawn = drawn_span(starts, span)
    unit, factor = time_unit(drawn)
    first = -0.01 * drawn / factor if drawn < span else 0
    step = max(math.ceil(starts.size / MOST_POINTS), 1)
    number = np.arange(0, starts.size, step)
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": starts[::step] / factor,
        "y": number,
        "marker": {"color": PROGRAMS[0].colour, "size": style.px(3 if number.size > 500 else 6), "opacity": 0.7},
        "hovertemplate": f"program %{{y:,}} started at %{{x:.2f}} {unit}<extra></extra>",
    }
    last = starts.size - 1
    return figure(
        [points],
        style,
        height=height,
        xaxis=bare_axis(style, range=[first, drawn / factor], nticks=6, ticksuffix=f" {unit}", tickangle=0),
        yaxis=bare_axis(
            style,
            range=[-0.06 * last - 1, last * 1.06 + 1],
            tickvals=[0, last],
            ticktext=["program 0", count(last)],
            showgrid=False,
        ),
        margin={"l": style.px(MARGIN), "r": style.px(22), "t": style.px(9), "b": style.px(26)},
    )


def drawn_span(starts: np.ndarray, span: int) -> int:
    """Nanoseconds that the picture of the starts has: the launch's, or only as long as programs start where that is short."""
    latest = int(starts.max())
    return span if latest > span / 2 else max(math.ceil(latest * 1.05), 1)


def time_unit(span: int) -> tuple[str, float]:
    """The unit that suits a time in nanoseconds, and how many nanoseconds it has."""
    return ("µs", 1e3) if span < 2e6 else ("ms", 1e6)
