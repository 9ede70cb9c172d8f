"""How full a multiprocessor is: its places for warps, what limits them, and what other sizes would give."""

from __future__ import annotations

from typing import Any

from .hardware import LIT, dark_window, warp_fill
from .theme import PROGRAMS, Figure, Style, bare_axis, figure, note


def places_figure(programs: int, warps: int, slots: int, style: Style) -> Figure:
    """A multiprocessor's places for warps, a row for each of its four schedulers; those of one program in one colour."""
    taken = programs * warps
    number = list(range(slots))
    colours = [warp_fill(place // warps).colour if place < taken else dark_window(style) for place in number]
    hovers = [
        f"<b>program {place // warps} of this SM</b><br>its warp {place % warps}" if place < taken else "nobody"
        for place in number
    ]
    wide = -(-slots // 4)
    squares = {
        "type": "bar",
        "orientation": "h",
        "base": [place // 4 + 0.06 for place in number],
        "x": [0.88] * slots,
        "y": [place % 4 for place in number],
        "width": 0.84,
        "marker": {"color": colours, "line": {"width": 0}},
        "hovertext": hovers,
        "hoverinfo": "text",
    }
    return figure(
        [squares],
        style,
        height=150,
        xaxis=bare_axis(style, range=[0, wide], visible=False),
        yaxis=bare_axis(style, range=[3.5, -0.5], visible=False),
        margin={"l": 4, "r": 4, "t": 4, "b": 4},
    )


def limits_figure(limits: list[tuple[str, int | None]], style: Style) -> Figure:
    """(what, how many programs it allows; None where it does not limit): a bar each; the shortest decide."""
    known = [limit for _, limit in limits if limit is not None]
    least, most = min(known), max(known)
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": [name for name, _ in limits],
        "x": [limit if limit is not None else 0 for _, limit in limits],
        "width": 0.6,
        "marker": {
            "color": [LIT.colour if limit == least else style.masked for _, limit in limits],
            "line": {"width": [2 if limit == least else 1 for _, limit in limits], "color": style.text},
        },
        "text": [
            "does not limit" if limit is None else f"{limit:,}{' ← limits' if limit == least else ''}" for _, limit in limits
        ],
        "textposition": "outside",
        "textfont": {"size": style.size, "color": style.text},
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
    return figure(
        [bars],
        style,
        height=150,
        xaxis=bare_axis(style, range=[0, max(most, 1) * 1.4], visible=False),
        yaxis=bare_axis(style, autorange="reversed", tickfont={"size": style.size, "color": style.text}),
        margin={"l": style.px(120), "r": 8, "t": 4, "b": 4},
    )


def curve_figure(
    name: str, points: list[tuple[int, float | None, str]], chosen: int, style: Style, height: float = 190
) -> Figure:
    """(value, occupancy or None where it cannot be had, a few words) for every value of a size; the chosen one is framed."""
    known = [(place, share) for place, (_, share, _) in enumerate(points) if share is not None]
    line: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines+markers+text",
        "x": [place for place, _ in known],
        "y": [share for _, share in known],
        "text": [f"{share:.0%}" for _, share in known],
        "textposition": "top center",
        "textfont": {"size": style.size, "color": style.text},
        "line": {"color": PROGRAMS[0].colour, "width": 3},
        "marker": {
            "size": [style.px(15 if points[place][0] == chosen else 9) for place, _ in known],
            "color": PROGRAMS[0].colour,
            "line": {"width": [3 if points[place][0] == chosen else 0 for place, _ in known], "color": style.text},
        },
        "hovertext": [f"<b>{name} = {points[place][0]:,}</b><br>{points[place][2]}" for place, _ in known],
        "hoverinfo": "text",
        "cliponaxis": False,
    }
    said = [
        note("refused", place, 0.04, style, yanchor="bottom") for place, (_, share, _) in enumerate(points) if share is None
    ]
    ticks = [f"<b>{value:,}</b>" if value == chosen else f"{value:,}" for value, _, _ in points]
    return figure(
        [line],
        style,
        height=height,
        xaxis=bare_axis(
            style,
            tickvals=list(range(len(points))),
            ticktext=ticks,
            range=[-0.5, len(points) - 0.5],
            title={"text": name, "font": {"size": style.size}},
        ),
        yaxis=bare_axis(style, range=[0, 1.22], tickvals=[0, 0.5, 1], tickformat=".0%", showgrid=True, gridcolor=style.line),
        annotations=said,
        margin={"l": style.px(48), "r": 12, "t": 8, "b": style.px(50)},
    )
