"""Which tiles of a matmul run at one time, and what strips of a and b they need together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..launch import ITEMSIZE
from ..operator import Numbers
from ..runtime.request import Request


@dataclass(frozen=True)
class Wave:
    """Programs that run together: the tiles of c (row, column), and how many strips of a and b they share.

    `bytes` is what these strips hold: what must come from DRAM or be in the cache for this wave, each strip once.
    """

    first: int
    tiles: np.ndarray
    strips_a: int
    strips_b: int
    bytes: int


@dataclass(frozen=True)
class Footprint:
    """All waves of one order of programs; `shape` is tiles down and across c."""

    order: str
    shape: tuple[int, int]
    waves: tuple[Wave, ...]

    @property
    def bytes(self) -> int:
        """What all waves need, each for itself: the traffic where nothing stays in the cache from wave to wave."""
        return sum(wave.bytes for wave in self.waves)

    @property
    def largest(self) -> int:
        """The most that one wave needs."""
        return max((wave.bytes for wave in self.waves), default=0)


def with_group(request: Request, group: int) -> Request:
    """The same matmul with another order of its programs."""
    return replace(request, tiling=replace(request.tiling, blocks=Numbers(request.tiling.blocks, {"GROUP_M": group})))


def order_name(group: int) -> str:
    """What a GROUP_M means: 0 a two-dimensional grid, whose first axis is launched first: down the columns of c."""
    return {0: "down the columns", 1: "row by row"}.get(group, f"groups of {group} rows")


def tiles_in_order(request: Request) -> np.ndarray:
    """(program, 2): the row and column of every program's tile of c, in launch order."""
    operator = request.description
    down, across = operator.axes(request.problem, request.tiling)
    n = request.problem["n"]
    row, column = np.divmod(np.arange(down.programs * across.programs), max(across.programs, 1))
    element = row * down.lanes * n + column * across.lanes
    numbers = operator.owner(request.problem, request.tiling, operator.product.c, element)
    return np.stack((row, column), axis=1)[np.argsort(numbers)]


def footprint(request: Request, at_once: int) -> Footprint:
    """The waves of a matmul where `at_once` programs run together, in the order in which they are launched."""
    down, across = request.description.axes(request.problem, request.tiling)
    tiles = tiles_in_order(request)
    waves = tuple(_wave(request, tiles, first, at_once) for first in range(0, len(tiles), max(at_once, 1)))
    return Footprint(order_name(request.tiling["GROUP_M"]), (down.programs, across.programs), waves)


def _wave(request: Request, tiles: np.ndarray, first: int, at_once: int) -> Wave:
    here = tiles[first : first + at_once]
    rows, columns = np.unique(here[:, 0]), np.unique(here[:, 1])
    problem, blocks = request.problem, request.tiling.blocks
    tall = _covered(rows, blocks["BLOCK_M"], problem["m"])
    wide = _covered(columns, blocks["BLOCK_N"], problem["n"])
    moved = (tall + wide) * problem["k"] * ITEMSIZE[problem.dtype]
    return Wave(first, here, rows.size, columns.size, moved)


def _covered(strips: np.ndarray, block: int, extent: int) -> int:
    """How many rows or columns these strips cover; the last one may reach past the edge."""
    return int(np.minimum((strips + 1) * block, extent).sum() - (strips * block).sum())


def why_not(orders: Mapping[int, Footprint], l2_bytes: int | None, request: Request) -> str | None:
    """Why grouping does not help these sizes, in a sentence; None where it does. `orders` has GROUP_M 1 and a group."""
    rows, grouped = orders[1], next(found for group, found in orders.items() if group > 1)
    problem = request.problem
    operands = (problem["m"] + problem["n"]) * problem["k"] * ITEMSIZE[problem.dtype]
    if len(rows.waves) <= 1:
        return "All tiles run at once, in one wave: whatever the order, the wave needs all of a and b."
    if l2_bytes and operands <= l2_bytes:
        return (
            f"a and b together are {operands / 1e6:,.1f} MB and fit into the L2 cache of {l2_bytes / 1e6:,.1f} MB: "
            "once they are there, the order hardly matters."
        )
    if grouped.bytes >= rows.bytes:
        at_once, across = len(rows.waves[0].tiles), rows.shape[1]
        return (
            f"The {at_once:,} tiles that run at once are {at_once / across:.1f} whole rows of {across:,} tiles: "
            f"groups need no fewer strips of a and b than row by row."
        )
    return None
