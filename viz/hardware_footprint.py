"""A matmul's programs that run at one time, and the strips of a and b that they need: wave by wave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .hardware import LIT
from .theme import READ, Figure, Style, bare_axis, figure, note

if TYPE_CHECKING:
    from kernels.inside.footprint import Footprint

GAP = 0.03
MILLISECONDS = 600
MOST_WAVES = 64


def drawn_waves(waves: int) -> list[int]:
    """Which waves are drawn: all, or evenly chosen ones, the last among them."""
    return sorted({round(number) for number in np.linspace(0, waves - 1, min(waves, MOST_WAVES))})


def footprint_figure(found: Footprint, wave: int, style: Style, height: float = 400) -> Figure:
    """c below right, a's strips left, b's above; tiles of the wave lit, done ones shaded; played in the browser."""
    tall, wide = found.shape
    gap = max(GAP * max(tall, wide), 0.5)
    deep = max(tall, wide) * 0.22
    names = drawn_waves(len(found.waves))
    frames = [{"data": _traces(found, number, gap, deep, style), "name": str(number)} for number in names]
    stands = min(range(len(names)), key=lambda place: abs(names[place] - wave))
    base = figure(
        frames[stands]["data"],
        style,
        height=height,
        xaxis=bare_axis(style, range=[-gap - deep - 0.5, wide - 0.3], visible=False, constrain="domain"),
        yaxis=bare_axis(
            style,
            range=[tall - 0.3, -gap - deep - 0.5],
            visible=False,
            scaleanchor="x",
            scaleratio=wide / tall,
            constrain="domain",
        ),
        annotations=[
            note("<b>a</b>", -gap - deep, -gap, style, xanchor="left", yanchor="bottom"),
            note("<b>b</b>", -gap, -gap - deep, style, xanchor="right", yanchor="top"),
        ],
        margin={"l": 2, "r": 2, "t": 2, "b": style.px(56) if len(names) > 1 else 2},
        **_player(found, names, stands, style),
    )
    return {**base, "frames": frames}


def _traces(found: Footprint, number: int, gap: float, deep: float, style: Style) -> list[dict[str, Any]]:
    tall, wide = found.shape
    wave = found.waves[number]
    state = np.zeros((tall, wide))
    for before in found.waves[:number]:
        state[before.tiles[:, 0], before.tiles[:, 1]] = 1
    state[wave.tiles[:, 0], wave.tiles[:, 1]] = 2
    rows, columns = np.zeros((tall, 1)), np.zeros((1, wide))
    rows[np.unique(wave.tiles[:, 0])] = 2
    columns[0, np.unique(wave.tiles[:, 1])] = 2
    few = max(tall, wide) <= 40
    common = {"type": "heatmap", "zmin": 0, "zmax": 2, "showscale": False, "hoverinfo": "skip"}
    common |= {"xgap": 1 if few else 0, "ygap": 1 if few else 0}
    tiles = [
        [0, style.masked],
        [0.33, style.masked],
        [0.33, style.hatch],
        [0.66, style.hatch],
        [0.66, LIT.colour],
        [1, LIT.colour],
    ]
    strips = [[0, style.masked], [0.5, style.masked], [0.5, READ.colour], [1, READ.colour]]
    return [
        {**common, "z": state, "x0": 0, "dx": 1, "y0": 0, "dy": 1, "colorscale": tiles},
        {**common, "z": rows, "x": [-gap - deep / 2 - 0.5], "dx": deep, "y0": 0, "dy": 1, "colorscale": strips}
        | {"x": [-gap - deep - 0.5, -gap - 0.5]},
        {**common, "z": columns, "x0": 0, "dx": 1, "y": [-gap - deep - 0.5, -gap - 0.5], "colorscale": strips},
    ]


def _player(found: Footprint, names: list[int], stands: int, style: Style) -> dict[str, Any]:
    if len(names) < 2:
        return {}
    once = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    run = {"mode": "immediate", "frame": {"duration": MILLISECONDS, "redraw": True}, "fromcurrent": False}
    button = {"label": "▶ play", "method": "animate", "args": [None, run]}
    menu = {"type": "buttons", "x": 0, "y": 0, "xanchor": "left", "yanchor": "top", "pad": {"t": style.px(16), "l": 2}}
    menu |= {"bgcolor": style.panel, "bordercolor": style.line, "showactive": False, "buttons": [button]}
    steps = [
        {"label": f"{name + 1:,}: {_strips(found, name)}", "method": "animate", "args": [[str(name)], once]} for name in names
    ]
    slider = {"active": stands, "x": 0.2, "len": 0.78, "y": 0, "yanchor": "top", "pad": {"t": style.px(12)}, "steps": steps}
    shown = {"prefix": "wave ", "xanchor": "left", "font": {"size": style.size, "color": style.text}}
    slider |= {"currentvalue": shown, "font": {"size": 1, "color": "rgba(0,0,0,0)"}, "ticklen": 0, "minorticklen": 0}
    slider |= {"bgcolor": style.panel, "bordercolor": style.line, "activebgcolor": READ.colour}
    return {"updatemenus": [{**menu, "font": {"color": style.text, "size": style.size}}], "sliders": [slider]}


def _strips(found: Footprint, number: int) -> str:
    wave = found.waves[number]
    return f"{wave.strips_a:,} + {wave.strips_b:,} strips, {wave.bytes / 1e6:,.0f} MB"


def bytes_figure(orders: list[Footprint], chosen: str, l2_bytes: int | None, style: Style, height: float = 200) -> Figure:
    """Bytes that each wave needs, a line an order; the L2 cache's size as a line across, where it is known."""
    most = max((found.largest for found in orders), default=1)
    lines = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": list(range(1, len(found.waves) + 1)),
            "y": [wave.bytes / 1e6 for wave in found.waves],
            "line": {
                "color": READ.colour if found.order == chosen else style.hatch,
                "width": 3,
                "shape": "hvh",
                "dash": "solid" if found.order == chosen else "dot",
            },
            "name": found.order,
            "hovertemplate": f"<b>{found.order}</b>, wave %{{x}}: %{{y:,.0f}} MB<extra></extra>",
        }
        for found in orders
    ]
    said = []
    shapes = []
    if l2_bytes and l2_bytes < 3e6 * most:
        size = l2_bytes / 1e6
        said.append(note(f"L2 cache {size:,.0f} MB", 0.01, size, style, xref="paper", xanchor="left", yanchor="top"))
        shapes.append({"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": size, "y1": size})
        shapes[0]["line"] = {"color": style.text, "width": 1.5, "dash": "dash"}
    top = max(most / 1e6, l2_bytes / 1e6 if said and l2_bytes else 0)
    return figure(
        lines,
        style,
        height=height,
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": style.size, "color": style.text}},
        xaxis=bare_axis(style, title={"text": "wave", "font": {"size": style.size}}, nticks=8),
        yaxis=bare_axis(style, range=[0, top * 1.15], ticksuffix=" MB", nticks=4, showgrid=True, gridcolor=style.line),
        shapes=shapes,
        annotations=said,
        margin={"l": style.px(64), "r": 8, "t": style.px(30), "b": style.px(44)},
    )
