"""Figures of the compiler page: what the instructions do, what compiling takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .theme import READ, WRITTEN, Figure, Style, bare_axis, figure, note
from .words import seconds_text

COLOURS = {"global load": READ.colour, "global store": WRITTEN.colour}


def mix_figure(states: Sequence[tuple[str, Mapping[str, int]]], kinds: Mapping[str, str], style: Style) -> Figure:
    """Instructions of each kind for one or two (name, count by kind); `kinds` says what each does."""
    shown = [kind for kind in kinds if any(counts.get(kind) for _, counts in states)][::-1]
    traces = []
    for number, (name, counts) in enumerate(states):
        values = [counts.get(kind, 0) for kind in shown]
        colours = [COLOURS.get(kind, style.hatch) for kind in shown]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                "y": list(range(len(shown))),
                "x": values,
                "width": 0.78 / len(states),
                "offset": -0.39 + 0.78 / len(states) * (len(states) - 1 - number),
                "marker": {"color": colours, "line": {"color": style.line, "width": 1}, "opacity": 0.5 if number else 1.0},
                "text": [f"{value:,}" if value or len(states) > 1 else "" for value in values],
                "textposition": "outside",
                "constraintext": "none",
                "textfont": {"size": style.size, "color": style.text},
                "cliponaxis": False,
                "hovertext": [
                    f"<b>{kind}</b>: {value:,}, {name}<br>{kinds[kind]}" for kind, value in zip(shown, values, strict=True)
                ],
                "hoverinfo": "text",
            }
        )
    most = max((max(trace["x"], default=0) for trace in traces), default=0)
    drawn = figure(
        traces,
        style,
        height=30 * max(len(shown), 3) * (1.25 if len(states) > 1 else 1) + (40 if len(states) > 1 else 16),
        xaxis=bare_axis(style, range=[0, max(most, 1) * 1.12], visible=False),
        yaxis=bare_axis(
            style, tickvals=list(range(len(shown))), ticktext=shown, tickfont={"size": style.size, "color": style.text}
        ),
        margin={"l": style.px(132), "r": 8, "t": 8, "b": style.px(34) if len(states) > 1 else 8},
    )
    drawn["layout"] |= {"showlegend": len(states) > 1, "legend": {"orientation": "h", "y": -0.02, "yanchor": "top", "x": 0}}
    return drawn


def _names(names: Sequence[str], style: Style, **more: object) -> dict[str, object]:
    """An axis of names, a little apart from the bars."""
    apart = {"ticks": "outside", "ticklen": style.px(6), "tickcolor": "rgba(0,0,0,0)"}
    fonts = {"tickfont": {"size": style.size, "color": style.text}}
    return bare_axis(style, tickvals=list(range(len(names))), ticktext=list(names), **apart, **fonts, **more)


def times_figure(stages: Sequence[tuple[str, float]], cached: float, style: Style) -> Figure:
    """(stage, seconds) in the order of the compiler, end to end; below them what the same kernel takes from the cache."""
    total = sum(seconds for _, seconds in stages)
    traces, at = [], 0.0
    for number, (name, seconds) in enumerate(stages):
        traces.append(_bar(1, at, seconds, name, (style.hatch, style.masked)[number % 2], style))
        at += seconds
    traces.append(_bar(0, 0.0, cached, "from the cache", style.hatch, style))
    wide = [(name, seconds) for name, seconds in stages if seconds > 0.07 * total]
    starts = {name: sum(one for _, one in stages[:number]) for number, (name, _) in enumerate(stages)}
    notes = [
        note(name, starts[name] + seconds / 2, 1, style, font={"size": style.size, "color": style.text})
        for name, seconds in wide
    ]
    notes += [
        note(
            f"<b>{seconds_text(total)}</b>",
            total,
            1,
            style,
            xanchor="left",
            xshift=6,
            font={"size": style.size, "color": style.text},
        ),
        note(
            f"<b>{seconds_text(cached)}</b>",
            cached,
            0,
            style,
            xanchor="left",
            xshift=6,
            font={"size": style.size, "color": style.text},
        ),
    ]
    return figure(
        traces,
        style,
        height=120,
        xaxis=bare_axis(style, range=[0, total * 1.14], visible=False),
        yaxis=_names(["from Triton's cache", "compiled"], style, range=[-0.6, 1.6]),
        annotations=notes,
        barmode="stack",
        margin={"l": style.px(132), "r": 8, "t": 4, "b": 4},
    )


def _bar(row: int, start: float, seconds: float, name: str, colour: str, style: Style) -> dict[str, object]:
    return {
        "type": "bar",
        "orientation": "h",
        "y": [row],
        "x": [seconds],
        "base": [start],
        "width": 0.62,
        "marker": {"color": colour, "line": {"color": style.line, "width": 1}},
        "hovertext": f"<b>{name}</b>: {seconds_text(seconds)}",
        "hoverinfo": "text",
    }
