"""A tiled matmul: c in the middle, a on its left, b above; one program's tile, the strips it needs, and its walk along K."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .theme import READ, WRITTEN, Figure, Style, bare_axis, figure, note

if TYPE_CHECKING:
    from kernels.operator import Axis
    from kernels.runtime.picture import Lanes

MOST_TILES = 400
MAP = 32
GAP = 0.07
MILLISECONDS = 500


def tiles_figure(
    sizes: tuple[int, int, int],
    axes: tuple[Axis, Axis],
    chosen: tuple[int, int],
    numbers: np.ndarray | None,
    turns: list[tuple[Lanes, Lanes]],
    style: Style,
    *,
    turn: int | None = None,
    height: float = 440,
) -> Figure:
    """`sizes` are m, n, k; `chosen` the tile of c; `turns` the program's loads of a and b, turn by turn, as traced.

    `numbers` are programs in launch order, tile by tile, where they fit. Tiles carry (row, column) as customdata. The two
    windows move by themselves when played; without playing they stand at `turn`, the last one where None.
    """
    m, n, k = (max(size, 1) for size in sizes)
    gap = GAP * max(m, n, k)
    place = {"a": (-gap - k, 0.0), "b": (0.0, -gap - k), "c": (0.0, 0.0)}
    down, across = axes
    top, left = chosen[0] * down.lanes, chosen[1] * across.lanes
    tall, wide = min(down.lanes, m - top), min(across.lanes, n - left)
    lit = [
        _rectangle(place["a"], 0, k, top, top + tall, READ.colour, 0.35),
        _rectangle(place["b"], left, left + wide, 0, k, READ.colour, 0.35),
        _rectangle(place["c"], left, left + wide, top, top + tall, WRITTEN.colour, 0.95),
    ]
    shapes = [
        *(_rectangle(place[name], 0, w, 0, h, style.masked, 1.0) for name, w, h in (("a", k, m), ("b", n, k), ("c", n, m))),
        *_tiles(axes, (m, n), style),
        *lit,
    ]
    stands = len(turns) - 1 if turn is None else min(turn, len(turns) - 1)
    windows = [_windows(pair, place, (m, n, k)) for pair in turns]
    traces = [*_window_traces(windows[stands] if windows else None, style), _targets(axes, numbers, (m, n), chosen, style)]
    span_x, span_y = n + gap + k, m + gap + k
    drawn = figure(
        traces,
        style,
        height=height,
        xaxis=bare_axis(style, range=[-gap - k - 0.02 * span_x, n + 0.02 * span_x], visible=False, constrain="domain"),
        yaxis=bare_axis(
            style, range=[m + 0.09 * span_y, -gap - k - 0.06 * span_y], visible=False, scaleanchor="x", constrain="domain"
        ),
        shapes=shapes,
        annotations=_names(place, sizes, turns, stands, style),
        margin={"l": 2, "r": 2, "t": 2, "b": style.px(58) if len(turns) > 1 else 2},
        **_player(turns, stands, style),
    )
    frames = [
        {"data": [{"type": "scatter", "x": x, "y": y} for x, y in window], "traces": [0, 1], "name": str(number)}
        for number, window in enumerate(windows)
    ]
    return {**drawn, "frames": frames}


def _rectangle(
    origin: tuple[float, float], x0: float, x1: float, y0: float, y1: float, colour: str, opacity: float
) -> dict[str, Any]:
    return {
        "type": "rect",
        "layer": "below",
        "x0": origin[0] + x0,
        "x1": origin[0] + x1,
        "y0": origin[1] + y0,
        "y1": origin[1] + y1,
        "fillcolor": colour,
        "opacity": opacity,
        "line": {"width": 0},
    }


def _tiles(axes: tuple[Axis, Axis], size: tuple[int, int], style: Style) -> list[dict[str, Any]]:
    """The tiles of c, where there are few enough: those that reach past an edge, and so have masked lanes, are paler."""
    down, across = axes
    if down.programs * across.programs > MOST_TILES:
        return []
    found = []
    for row in range(down.programs):
        for column in range(across.programs):
            top, left = row * down.lanes, column * across.lanes
            bottom, right = min(top + down.lanes, size[0]), min(left + across.lanes, size[1])
            whole = bottom - top == down.lanes and right - left == across.lanes
            one = _rectangle((0.0, 0.0), left, right, top, bottom, style.pale[0].colour if whole else style.masked, 1.0)
            found.append({**one, "line": {"color": style.background, "width": 2}})
    return found


Window = tuple[tuple[list[float], list[float]], tuple[list[float], list[float]]]


def _windows(pair: tuple[Lanes, Lanes], place: dict[str, tuple[float, float]], sizes: tuple[int, int, int]) -> Window:
    """The outlines of the two tiles that a turn loads, cut off at the edges of a and b."""
    m, n, k = sizes
    found = []
    for access, name, rows, columns in ((pair[0], "a", m, k), (pair[1], "b", k, n)):
        row, column = divmod(int(access.first.flat[0]), columns)
        x0, x1 = column, min(column + access.shape[1], columns)
        y0, y1 = row, min(row + access.shape[0], rows)
        left, top = place[name]
        found.append(([left + x for x in (x0, x1, x1, x0, x0)], [top + y for y in (y0, y0, y1, y1, y0)]))
    return found[0], found[1]


def _window_traces(window: Window | None, style: Style) -> list[dict[str, Any]]:
    outlines = window or (([], []), ([], []))
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": x,
            "y": y,
            "fill": "toself",
            "fillcolor": READ.colour,
            "line": {"color": style.text, "width": 2},
            "hoverinfo": "skip",
        }
        for x, y in outlines
    ]


def _targets(
    axes: tuple[Axis, Axis], numbers: np.ndarray | None, size: tuple[int, int], chosen: tuple[int, int], style: Style
) -> dict[str, Any]:
    """Invisible squares over the tiles of c, to click and to hover; with the program's number where all are drawn."""
    down, across = axes
    parts = [max(-(-axis.programs // MAP), 1) for axis in axes]
    rows, columns = np.arange(0, down.programs, parts[0]), np.arange(0, across.programs, parts[1])
    row, column = (grid.ravel() for grid in np.meshgrid(rows, columns, indexing="ij"))
    x = (np.minimum((column + parts[1]) * across.lanes, size[1]) + column * across.lanes) / 2
    y = (np.minimum((row + parts[0]) * down.lanes, size[0]) + row * down.lanes) / 2
    written = numbers is not None and numbers.size <= 144
    here = [bool(r <= chosen[0] < r + parts[0] and c <= chosen[1] < c + parts[1]) for r, c in zip(row, column, strict=True)]
    lanes = down.lanes * across.lanes
    tall = np.minimum(down.lanes, size[0] - row * down.lanes)
    wide = np.minimum(across.lanes, size[1] - column * across.lanes)
    number = numbers[row, column] if numbers is not None else np.full(row.size, -1)
    name = "program %{customdata[2]:,}, " if numbers is not None else ""
    near = "" if parts == [1, 1] else " and its neighbours"
    return {
        "type": "scatter",
        "mode": "markers+text" if written else "markers",
        "x": x,
        "y": y,
        "text": [f"<b>{one:,}</b>" for one in number] if written else None,
        "textfont": {"size": style.size, "color": [WRITTEN.text if one else style.text for one in here]},
        "marker": {"symbol": "square", "size": style.px(26), "opacity": 0},
        "selected": {"marker": {"opacity": 0}},
        "unselected": {"marker": {"opacity": 0}},
        "customdata": np.stack((row, column, number, lanes - tall * wide), axis=-1).tolist(),
        "hovertemplate": f"<b>{name}tile (%{{customdata[0]:,}}, %{{customdata[1]:,}})</b>{near}<br>"
        f"%{{customdata[3]:,}} of its {lanes:,} lanes masked<br>click to show it<extra></extra>",
    }


def _names(
    place: dict[str, tuple[float, float]],
    sizes: tuple[int, int, int],
    turns: list[tuple[Lanes, Lanes]],
    stands: int,
    style: Style,
) -> list[dict[str, Any]]:
    m, n, k = sizes
    shapes = {"a": (m, k), "b": (k, n), "c": (m, n)}
    found = []
    for name, (left, top) in place.items():
        text = f"<b>{name}</b> {shapes[name][0]:,} × {shapes[name][1]:,}"
        under = name == "c"
        found.append(note(text, left, top + (m if under else 0), style, xanchor="left", yanchor="top" if under else "bottom"))
    return found


def _player(turns: list[tuple[Lanes, Lanes]], stands: int, style: Style) -> dict[str, Any]:
    """A play button and a slider over the turns; both run in the browser."""
    if len(turns) < 2:
        return {}
    options = {"mode": "immediate", "frame": {"duration": MILLISECONDS, "redraw": False}, "transition": {"duration": 150}}
    at_once = {"mode": "immediate", "frame": {"duration": 0, "redraw": False}, "transition": {"duration": 0}}
    names = [pair[0].turns[0].index if pair[0].turns else at for at, pair in enumerate(turns)]  # by formula there is no loop
    total = turns[0][0].turns[0].total if turns[0][0].turns else len(turns)
    return {
        "updatemenus": [
            {
                "type": "buttons",
                "direction": "left",
                "x": 0,
                "y": 0,
                "xanchor": "left",
                "yanchor": "top",
                "pad": {"t": style.px(18), "l": 2},
                "bgcolor": style.panel,
                "bordercolor": style.line,
                "font": {"color": style.text, "size": style.size},
                "showactive": False,
                "buttons": [
                    {"label": "▶ walk along K", "method": "animate", "args": [None, {**options, "fromcurrent": False}]}
                ],
            }
        ],
        "sliders": [
            {
                "active": stands,
                "x": 0.32,
                "len": 0.66,
                "y": 0,
                "yanchor": "top",
                "pad": {"t": style.px(14)},
                "currentvalue": {
                    "prefix": "turn ",
                    "suffix": f" of {total:,}",
                    "xanchor": "left",
                    "font": {"size": style.size, "color": style.text},
                },
                "font": {"size": 1, "color": "rgba(0,0,0,0)"},
                "ticklen": 0,
                "minorticklen": 0,
                "bgcolor": style.panel,
                "bordercolor": style.line,
                "activebgcolor": READ.colour,
                "steps": [
                    {"label": f"{name:,}", "method": "animate", "args": [[str(number)], at_once]}
                    for number, name in enumerate(names)
                ],
            }
        ],
    }
