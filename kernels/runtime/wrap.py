"""Where 32-bit offsets would wrap: the first program that goes wrong, found among few by the closed form, told by its trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np

from ..launch import Tensor, TypeName
from ..operator import INT32_END, id_refusal
from .limits import traceable
from .records import Access, Limits, unravel
from .request import Request

# Rows in turns go to at most so many programs; the next row after as many is the first program's again.
MOST_SHARING = 2**16
# Offsets do not depend on values and grow from turn to turn, so that the first and the last turn of a loop tell of all.
ENDS = Limits(turns=2, skipping=True)


@dataclass(frozen=True)
class Wrap:
    """The first program that goes wrong in 32 bits, the argument, and an offset of it as it should be and as it wraps."""

    program: int
    argument: str
    right: int
    wrong: int


def wrap(request: Request) -> Wrap | None:
    """None where every program does in 32 bits what it does in 64, or where the operator does not say who owns an element."""
    launch = request.launch()
    if not traceable(launch) or id_refusal(launch.grid):
        return None
    return first_wrong(candidates(request, INT32_END), partial(wrong_in, request))


def first_wrong(programs: Iterable[int], wrong: Callable[[int], Wrap | None]) -> Wrap | None:
    """What is found of the first of these programs that goes wrong."""
    return next(filter(None, map(wrong, programs)), None)


def candidates(request: Request, end: int) -> list[int]:
    """The programs among which the first one with an offset from `end` on is, in order.

    In a tensor the elements past `end` are the rest of one row, then whole rows. Numbers of programs grow along a row and from
    row to row, or come back to the first program after PROGRAMS rows. Masked lanes that wrap, and so are masked no more, lie
    past the end of the last row and of the last column.
    """
    owner = request.description.owner
    if owner is None:
        return []
    programs = request.launch().programs
    found = [
        np.asarray(owner(request.problem, request.tiling, name, _elements(tensor, end))).ravel()
        for name, tensor in request.launch().tensors.items()
        if tensor.numel
    ]
    numbers = np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)
    return [number for number in numbers.tolist() if 0 <= number < programs]


def _elements(tensor: Tensor, end: int) -> np.ndarray:
    """The corners of the tensor, its first element past `end`, and the first elements of the rows after it."""
    columns = tensor.shape[-1]
    rows = prod(tensor.shape[:-1])
    corners = [columns - 1, (rows - 1) * columns, tensor.numel - 1]
    if tensor.numel <= end:
        return np.array(corners, np.int64)
    if rows == 1:
        return np.array([end, *corners], np.int64)
    row = end // columns
    following = np.arange(row + 1, min(row + 2 + MOST_SHARING, rows), dtype=np.int64) * columns
    return np.concatenate(([end, *corners], following))


def wrong_in(request: Request, number: int) -> Wrap | None:
    """What one program does otherwise in 32 bits: the first lane in force whose offset differs."""
    from .trace import trace

    launch = request.launch()
    program = unravel(number, launch.grid)
    right, wrong = (
        trace(launch.with_constants(OFFSET_TYPE=TypeName(kind)), [program], seed=request.seed, limits=ENDS).accesses
        for kind in ("int64", "int32")
    )
    return differing(number, right, wrong)


def differing(number: int, right: Iterable[Access], wrong: Iterable[Access]) -> Wrap | None:
    """The first lane that is in force in one of the two traces and has another offset in the other."""
    for good, bad in zip(right, wrong, strict=True):
        apart = np.flatnonzero(((good.offsets != bad.offsets) & (good.live | bad.live)).ravel())
        if apart.size:
            at = apart[0]
            return Wrap(number, good.argument, int(good.offsets.flat[at]), int(bad.offsets.flat[at]))
    return None
