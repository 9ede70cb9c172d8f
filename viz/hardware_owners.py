"""Who owns which element of a block: a square an element, coloured by warp, thread or register."""

from __future__ import annotations

from typing import Any

import numpy as np

from .hardware import ramp, warp_scale
from .theme import PROGRAMS, Figure, Style, bare_axis, figure, note
from .words import count

MODES = {"warp": "by warp", "thread": "by thread", "register": "by register"}
ROWS = 24
WIDEST = 256
NUMBERED = 64


def owners_figure(
    shape: tuple[int, ...],
    threads: np.ndarray,
    registers: np.ndarray | None,
    lanes: int,
    mode: str,
    style: Style,
    height: float = 430,
) -> Figure:
    """`threads` and `registers` tell the owner of every element in row-major order; registers are None where not known.

    A vector is folded into rows, as long as what one warp holds in one piece. Rows past the first 24 are said, not drawn.
    """
    wide = shape[1] if len(shape) == 2 else folded(threads, lanes)
    rows = threads.size // wide
    shown = min(rows, ROWS) if len(shape) == 1 else rows
    grid = threads[: shown * wide].reshape(shown, wide)
    slots = registers[: shown * wide].reshape(shown, wide) if registers is not None else None
    values, scale = _colours(grid, slots, lanes, mode, style)
    drawn = {
        "type": "heatmap",
        "z": values,
        "zmin": -0.5,
        "zmax": len(scale) // 2 - 0.5,
        "colorscale": scale,
        "showscale": False,
        "xgap": 1 if wide <= 160 else 0,
        "ygap": 2 if shown <= 40 else 0,
        "hovertemplate": _hover(shape, wide, slots is not None),
        "customdata": _custom(grid, slots, lanes, wide),
    }
    if grid.size <= NUMBERED and wide <= NUMBERED // 4:
        texts = [[str(thread) for thread in row] for row in grid.tolist()]
        drawn |= {"text": texts, "texttemplate": "%{text}", "textfont": {"size": style.size}}
    more = rows - shown
    notes = [
        note(f"{count(more * wide)} more elements: the same again", 0, 0, style, yref="paper", xanchor="left", yanchor="top")
    ]
    return figure(
        [drawn],
        style,
        height=min(70 + 44 * shown, height) if len(shape) == 1 else height,
        xaxis=_across(shape, wide, grid, lanes, style),
        yaxis=_down(shape, shown, wide, grid, lanes, style),
        annotations=notes if more else [],
        margin={"l": style.px(118 if len(shape) == 1 else 64), "r": 8, "t": style.px(26), "b": style.px(24 if more else 4)},
    )


def folded(threads: np.ndarray, lanes: int) -> int:
    """How many elements from the first on one warp holds in one piece, within what fits on a line."""
    warps = threads // lanes
    changes = np.flatnonzero(warps != warps[0])
    piece = int(changes[0]) if changes.size else int(_until_again(threads))
    return min(max(piece, 1), WIDEST, threads.size)


def _until_again(threads: np.ndarray) -> int:
    """Where thread 0's second piece begins, in a block that one warp holds."""
    falls = np.flatnonzero(np.diff(threads) < 0)
    return int(falls[0]) + 1 if falls.size else threads.size


def _colours(grid: np.ndarray, slots: np.ndarray | None, lanes: int, mode: str, style: Style) -> tuple[np.ndarray, list[Any]]:
    if mode == "register" and slots is not None:
        return slots, ramp(PROGRAMS[1].colour, int(slots.max()) + 1, style)
    if mode == "thread":
        return grid % lanes, ramp(PROGRAMS[0].colour, lanes, style)
    warps = int(grid.max()) // lanes + 1
    return grid // lanes * 2 + grid % 2, warp_scale(warps, 2, style)


def _custom(grid: np.ndarray, slots: np.ndarray | None, lanes: int, wide: int) -> list[Any]:
    element = np.arange(grid.size).reshape(grid.shape)
    told = [element, grid // lanes, grid % lanes, grid]
    return np.stack([*told, slots] if slots is not None else told, axis=-1).tolist()


def _hover(shape: tuple[int, ...], wide: int, with_registers: bool) -> str:
    place = "element %{customdata[0]:,}" if len(shape) == 1 else "row %{y}, column %{x}"
    register = "<br>in its register %{customdata[4]}" if with_registers else ""
    who = "warp %{customdata[1]}, lane %{customdata[2]}: thread %{customdata[3]}"
    return f"<b>{place}</b><br>{who}{register}<extra></extra>"


def _across(shape: tuple[int, ...], wide: int, grid: np.ndarray, lanes: int, style: Style) -> dict[str, Any]:
    if len(shape) == 2:
        ticks = [0, wide // 4, wide // 2, 3 * wide // 4, wide - 1]
        return bare_axis(style, side="top", tickvals=ticks, ticktext=[f"column {ticks[0]}", *map(count, ticks[1:])])
    starts = [place for place in range(wide) if place == 0 or grid[0, place] != grid[0, place - 1]]
    named = starts[:: max(len(starts) // 4, 1)]
    labels = [f"lane {grid[0, place] % lanes}" for place in named]
    return bare_axis(style, side="top", tickvals=named, ticktext=labels)


def _down(shape: tuple[int, ...], shown: int, wide: int, grid: np.ndarray, lanes: int, style: Style) -> dict[str, Any]:
    range_ = [shown - 0.5, -0.5]
    if len(shape) == 2:
        ticks = [0, shown // 2, shown - 1]
        return bare_axis(style, range=range_, tickvals=ticks, ticktext=[f"row {count(tick)}" for tick in ticks])
    step = max(shown // 12, 1)
    ticks = list(range(0, shown, step))
    names = [f"<b>warp {grid[row, 0] // lanes}</b>  {count(row * wide)} –" for row in ticks]
    return bare_axis(style, range=range_, tickvals=ticks, ticktext=names, tickfont={"size": style.size, "color": style.text})
