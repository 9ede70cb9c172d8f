"""Where a stored element came from: the lane that stored it, and the loads that fed it. Runs in the trace worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .draw import LIMITS, traces
from .limits import traceable
from .records import Access, Limits, Trace, linear
from .request import Request
from .what_ifs import owner_in

MOST = 64


@dataclass(frozen=True)
class Touch:
    """One lane of one access: where, and the value that it moved; None where undefined."""

    kind: str
    argument: str
    element: int
    program: int
    lane: int
    line: int
    value: float | None


@dataclass(frozen=True)
class Origin:
    """The store of an element (None where no traced program stores it), the first loads that fed it, and how many did."""

    argument: str
    element: int
    store: Touch | None
    loads: tuple[Touch, ...]
    count: int


def origin(request: Request, argument: str, element: int, limits: Limits = LIMITS) -> Origin:
    """Traces the program that owns the element; the loads are those of the elements that the operator says feed it."""
    operator, launch = request.description, request.launch()
    tensor = launch.tensors.get(argument)
    owning = owner_in(request, argument)
    if tensor is None or element >= tensor.numel or not traceable(launch) or owning is None:
        return Origin(argument, element, None, (), 0)
    owner = int(owning(element))
    if not 0 <= owner < launch.programs:
        return Origin(argument, element, None, (), 0)
    trace, *_ = traces(request, owner, limits, alone=True)
    stores = list(_touches(trace, "store", argument, np.array([element]), launch.grid))
    if not stores:
        return Origin(
            argument, element, None, tuple(_touches(trace, "load", argument, np.array([element]), launch.grid))[:1], 0
        )
    fed = operator.feeds(request.problem, request.tiling, argument, element) if operator.feeds else {}
    loads = [touch for name, elements in fed.items() for touch in _first(trace, name, np.asarray(elements), launch.grid)]
    return Origin(argument, element, stores[-1], tuple(loads[:MOST]), sum(len(elements) for elements in fed.values()))


def _first(trace: Trace, argument: str, elements: np.ndarray, grid: tuple[int, int, int]) -> Iterator[Touch]:
    """The first load of each of these elements, in the order they happen; at most 64."""
    seen: set[int] = set()
    for touch in _touches(trace, "load", argument, elements[:MOST], grid):
        if touch.element not in seen:
            seen.add(touch.element)
            yield touch


def _touches(trace: Trace, kind: str, argument: str, elements: np.ndarray, grid: tuple[int, int, int]) -> Iterator[Touch]:
    for access in trace.accesses:
        if access.kind == kind and access.argument == argument:
            flat = access.offsets.reshape(-1)
            hit = np.isin(flat, elements) & access.live.reshape(-1)
            for lane in np.flatnonzero(hit)[:MOST].tolist():
                yield Touch(
                    kind, argument, int(flat[lane]), linear(access.program, grid), lane, access.line, _value(access, lane)
                )


def _value(access: Access, lane: int) -> float | None:
    return float(access.values.reshape(-1)[lane]) if access.defined.reshape(-1)[lane] else None
