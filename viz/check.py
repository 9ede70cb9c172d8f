"""The check's figures: time over volume, a load over time, cards against checks, copies from card to card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .theme import CODE_FONT, Figure, Fill, Style, bare_axis, figure, note, plain

PASSED, WARNED, FAILED = Fill("#00785A", "#FFFFFF"), Fill("#E69F00", "#1A1A1A"), Fill("#B94E00", "#FFFFFF")
LINE = "#0072B2"
MOST_TITLE = 33  # characters of a check's title beside its cells
MARKS = {"PASS": "✓", "WARN": "!", "FAIL": "✕", "NOT MEASURED": "–"}
PANELS = (
    ("rate", "rate time", "TFLOP/s"),
    ("sm_clock", "time", "clock, MHz"),
    ("power", "time", "power, W"),
    ("temperature", "time", "temperature, °C"),
)


def fill_of(status: str, style: Style) -> Fill:
    """The colour of a status."""
    neutral = Fill(style.masked, style.text)
    return {"PASS": PASSED, "WARN": WARNED, "FAIL": FAILED}.get(status, neutral)


def _grid_axis(style: Style, **more: object) -> dict[str, object]:
    return bare_axis(style, **{"showgrid": True, "gridcolor": style.line, "gridwidth": 1, **more})


def fit_figure(volumes: Sequence[float], seconds: Sequence[float], a: float, b: float, empty: float, style: Style) -> Figure:
    """Measured times of copies over the bytes they move, and T = a + V / b through them; both axes logarithmic."""
    low, high = min(volumes) / 2, max(volumes) * 2
    steps = [low * (high / low) ** (place / 60) for place in range(61)]
    times = [time * 1e6 for time in seconds]
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": steps,
        "y": [(a + volume / b) * 1e6 for volume in steps],
        "line": {"color": style.muted, "width": 2.5, "dash": "dot"},
        "hoverinfo": "skip",
    }
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": list(volumes),
        "y": times,
        "marker": {"color": LINE, "size": style.px(11), "line": {"color": style.background, "width": 1.5}},
        "hovertext": [_point(volume, time) for volume, time in zip(volumes, seconds, strict=True)],
        "hoverinfo": "text",
    }
    words = f"a = <b>{a * 1e6:.1f} µs</b>, b = <b>{b / 1e9:,.0f} GB/s</b><br>empty launch {empty * 1e6:.1f} µs"
    log = {"type": "log", "tickfont": {"size": style.size, "color": style.muted}}
    return figure(
        [line, points],
        style,
        height=205,
        xaxis=_grid_axis(
            style, **log, tickvals=[10**power for power in range(6, 10)], ticktext=["1 MB", "10 MB", "100 MB", "1 GB"]
        ),
        yaxis=_grid_axis(style, **log, tickvals=[1, 10, 100, 1000], ticktext=["1 µs", "10 µs", "100 µs", "1 ms"]),
        annotations=[note(words, 0.03, 0.97, style, xref="paper", yref="paper", xanchor="left", yanchor="top", align="left")],
        margin={"l": style.px(54), "r": style.px(12), "t": style.px(8), "b": style.px(30)},
    )


def _point(volume: float, seconds: float) -> str:
    return f"{volume / 1e6:,.4g} MB in {seconds * 1e6:,.4g} µs: {volume / seconds / 1e9:,.0f} GB/s"


def load_figure(series: Mapping[str, Sequence[float]], style: Style) -> Figure:
    """What a load did to the card over time, a panel each; shaded where the driver says that it was held back."""
    shown = [panel for panel in PANELS if len(series.get(panel[0], ())) > 1]
    traces, layout, annotations = [], {}, []
    share = 1 / max(len(shown), 1)
    for place, (name, times, title) in enumerate(shown):
        axis = "" if place == 0 else str(place + 1)
        top = 1 - place * share
        low = top - share * 0.86
        values = list(series[name])
        peak = max(values) * 1.1 or 1.0
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": list(series[times]),
                "y": values,
                "yaxis": f"y{axis}",
                "line": {"color": LINE, "width": 2},
                "hovertemplate": f"%{{x:.1f}} s: %{{y:,.4g}} {title.rpartition(', ')[2]}<extra></extra>",
            }
        )
        layout[f"yaxis{axis}"] = _grid_axis(
            style,
            domain=[low, top],
            range=[0, peak],
            nticks=3,
            tickfont={"size": style.size * 0.86, "color": style.muted},
        )
        words = f"{title}: <b>{values[-1]:,.4g}</b> at the end"
        annotations.append(note(words, 0.99, low, style, xref="paper", yref="paper", xanchor="right", yanchor="bottom"))
    end = max((max(series[times]) for _, times, _ in shown), default=1.0)
    return figure(
        traces,
        style,
        height=66 * max(len(shown), 1) + 28,
        xaxis=_grid_axis(style, range=[0, end], ticksuffix=" s", anchor="free", position=0, nticks=6),
        annotations=annotations,
        shapes=[*_bands(series, "power held", style.pale[1].colour), *_bands(series, "held", FAILED.colour)],
        margin={"l": style.px(46), "r": style.px(12), "t": style.px(4), "b": style.px(26)},
        **layout,
    )


def _bands(series: Mapping[str, Sequence[float]], name: str, colour: str) -> list[dict[str, object]]:
    """A shaded stretch for every run of samples in which the flag is set."""
    times, flags = series.get("time", ()), series.get(name, ())
    found, start = [], None
    for time, flag in [*zip(times, flags, strict=False), (times[-1] if times else 0.0, 0.0)]:
        if flag and start is None:
            start = time
        if not flag and start is not None:
            found.append({"type": "rect", "xref": "x", "yref": "paper", "x0": start, "x1": time, "y0": 0, "y1": 1})
            start = None
    shading = {"fillcolor": colour, "opacity": 0.35, "line": {"width": 0}, "layer": "below"}
    return [{**one, **shading} for one in found]


def heat_figure(cards: Sequence[str], checks: Sequence[str], statuses: Sequence[Sequence[str]], style: Style) -> Figure:
    """Cards across, checks down, a cell in the colour of its status, with its sign: colour is never alone."""
    shapes, annotations = [], []
    for row in range(len(checks)):
        for column, status in enumerate(statuses[row]):
            fill = fill_of(status, style)
            box = {"x0": column - 0.46, "x1": column + 0.46, "y0": row - 0.42, "y1": row + 0.42}
            shapes.append({"type": "rect", **box, "fillcolor": fill.colour, "line": {"width": 0}})
            annotations.append(note(MARKS[status], column, row, style, font={"size": style.size, "color": fill.text}))
    cells = {
        "type": "scatter",
        "mode": "markers",
        "x": [column for _ in checks for column in range(len(cards))],
        "y": [row for row in range(len(checks)) for _ in cards],
        "marker": {"opacity": 0, "size": style.px(18)},
        "hovertext": [
            f"{card}<br>{plain(check)}: {status}"
            for check, row in zip(checks, statuses, strict=True)
            for card, status in zip(cards, row, strict=True)
        ],
        "hoverinfo": "text",
    }
    return figure(
        [cells],
        style,
        height=22 * len(checks) + 34,
        shapes=shapes,
        annotations=annotations,
        xaxis=bare_axis(
            style,
            range=[-0.5, max(len(cards), 4) - 0.5],
            tickvals=list(range(len(cards))),
            ticktext=list(cards) if len(cards) <= 4 else [card.removeprefix("GPU ") for card in cards],
            tickangle=0,
            side="top",
        ),
        yaxis=bare_axis(
            style,
            range=[len(checks) - 0.4, -0.6],
            tickvals=list(range(len(checks))),
            ticktext=[plain(check if len(check) <= MOST_TITLE else f"{check[: MOST_TITLE - 1].rstrip()}…") for check in checks],
            tickfont={"size": style.size * 0.9, "color": style.text},
        ),
        margin={"l": style.px(240), "r": style.px(8), "t": style.px(26), "b": style.px(4)},
    )


def peer_figure(count: int, speeds: Sequence[float], style: Style) -> Figure:
    """GB/s from the card of a row to the card of a column; the paler, the slower."""
    most = max(speeds, default=0.0) or 1.0
    shapes, annotations = [], []
    for place, speed in enumerate(speeds):
        row, column = divmod(place, count)
        if row == column:
            continue
        box = {"x0": column - 0.47, "x1": column + 0.47, "y0": row - 0.44, "y1": row + 0.44}
        shapes.append({"type": "rect", **box, "fillcolor": LINE, "opacity": 0.15 + 0.5 * speed / most, "line": {"width": 0}})
        font = {"size": style.size, "color": style.text, "family": CODE_FONT}
        annotations.append(note(f"{speed:,.0f}", column, row, style, font=font))
    names = [f"GPU {number}" for number in range(count)]
    across = [f"to {name}" for name in names] if count <= 4 else [f"to {number}" for number in range(count)]
    ticks = {"tickvals": list(range(count)), "tickfont": {"size": style.size, "color": style.text}}
    hidden = {"type": "scatter", "mode": "markers", "x": [0], "y": [0], "marker": {"opacity": 0}, "hoverinfo": "skip"}
    return figure(
        [hidden],
        style,
        height=34 * count + 40,
        shapes=shapes,
        annotations=annotations,
        xaxis=bare_axis(style, range=[-0.5, count - 0.5], side="top", ticktext=across, tickangle=0, **ticks),
        yaxis=bare_axis(style, range=[count - 0.5, -0.5], ticktext=[f"from {name}" for name in names], **ticks),
        margin={"l": style.px(96), "r": style.px(8), "t": style.px(28), "b": style.px(4)},
    )
