"""Where 32-bit offsets would wrap: the first program with an element past 2^31, traced with either type."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..operator import INT32_END
from .records import Limits, unravel
from .request import Request


@dataclass(frozen=True)
class Wrap:
    """The first program that goes wrong in 32 bits, the argument, and an offset of it as it should be and as it wraps."""

    program: int
    argument: str
    right: int
    wrong: int


def wrap(request: Request) -> Wrap | None:
    """None where every element has an offset below 2^31, or where the operator does not say who owns an element."""
    from .trace import trace

    operator, launch = request.description, request.launch()
    large = [name for name, tensor in launch.tensors.items() if tensor.numel > INT32_END]
    if not large or operator.owner is None:
        return None
    owners = {name: int(operator.owner(request.problem, request.tiling, name, INT32_END)) for name in large}
    number = min(owners.values())
    program, limits = unravel(number, launch.grid), Limits(seconds=1.0)
    right = trace(launch, [program], seed=request.seed, limits=limits).accesses
    wrong = trace(launch.with_constants(OFFSET_TYPE="int32"), [program], seed=request.seed, limits=limits).accesses
    for good, bad in zip(right, wrong, strict=False):
        apart = np.flatnonzero((good.offsets != bad.offsets).reshape(-1) & good.live.reshape(-1))
        if apart.size:
            at = apart[0]
            return Wrap(number, good.argument, int(good.offsets.reshape(-1)[at]), int(bad.offsets.reshape(-1)[at]))
    return None
