"""Which 32-byte sectors of memory each warp's loads and stores touch: a model of the hardware's coalescing.

A warp's instruction asks for the sectors that its 32 lanes touch, each once; four sectors are a 128-byte line. What another
instruction or another warp asked for before is not remembered here: a cache may have it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

import numpy as np

from ..launch import ITEMSIZE, Tensor
from ..runtime.records import Access, Limits, unravel
from ..runtime.request import Request
from .held import Held
from .layouts import Owners, owners

SECTOR, LINE = 32, 128
PATTERNS = {
    "launched": "as launched",
    "second": "every second element",
    "transposed": "transposed: down the columns",
    "column": "every 32nd element: a column",
}
# The first and the last turn of every loop: an access is drawn as its first turn has it.
FIRST_TURNS = Limits(turns=2, seconds=8.0, skipping=True)


@dataclass(frozen=True)
class Touched:
    """What one load or store of a program touches.

    width     -- bytes a lane moves with one instruction
    addresses -- [warp, instruction, lane] byte addresses, from the tensor's start; lanes that touch nothing are -1
    asked     -- sectors that all instructions of all warps ask for; `needed` the different ones among them
    useful    -- bytes that the program wants
    """

    width: int
    addresses: np.ndarray
    asked: int
    needed: int
    requests: int
    lines: int
    useful: int

    @property
    def efficiency(self) -> float | None:
        """Bytes wanted over bytes asked for; None where nothing is."""
        return self.useful / (self.asked * SECTOR) if self.asked else None


def access_of(request: Request, program: int, tensor: Held) -> Access | None:
    """The first access of a program that this tensor stands for; None where it comes to none. In the trace worker.

    Raises InterpreterError where the kernel cannot be traced.
    """
    from ..runtime.trace import trace

    launch = request.launch()
    found = trace(launch, [unravel(program, launch.grid)], seed=request.seed, limits=FIRST_TURNS)
    alike = [
        access
        for access in found.accesses
        if standing_for(access.kind, access.argument, access.line, access.offsets.shape, [tensor])
    ]
    return next((access for access in alike if access.line == tensor.line), alike[0] if alike else None)


def standing_for(kind: str, argument: str, line: int, shape: tuple[int, ...], tensors: Iterable[Held]) -> Held | None:
    """Which of the tensors of a compiled kernel an access of its trace is: the same argument, on the same line if one is.

    Where the compiler's text does not tell the argument, the line alone decides.
    """
    alike = [one for one in tensors if one.kind != "sum" and (one.kind == "store") == (kind == "store") and one.shape == shape]
    same = [one for one in alike if one.argument == argument or (one.argument == "?" and one.line == line)]
    return max(same, key=lambda one: one.line == line, default=None)


def patterns(tensor: Tensor) -> tuple[str, ...]:
    """The ways to lay a tensor out that make sense for its rank."""
    return ("launched", "second", "transposed" if len(tensor.shape) == 2 else "column")


def laid_out(offsets: np.ndarray, tensor: Tensor, pattern: str) -> np.ndarray:
    """The offsets of the same elements where the tensor lay otherwise in memory, in elements."""
    if pattern == "second":
        return offsets * 2
    if pattern == "transposed":
        row, column = np.divmod(offsets, tensor.shape[-1])
        return column * prod(tensor.shape[:-1]) + row
    return offsets * 32 if pattern == "column" else offsets


def touched(
    offsets: np.ndarray, live: np.ndarray, tensor: Tensor, held: Held, width: int, pattern: str = "launched"
) -> Touched:
    """What an access of these offsets touches where its tensor lies by that pattern, not contiguous: element by element."""
    itemsize = ITEMSIZE[tensor.dtype]
    offsets = laid_out(np.broadcast_to(offsets, held.shape), tensor, pattern).reshape(-1)
    live = np.broadcast_to(live, held.shape).reshape(-1)
    who = owners(held.layout, held.shape)
    each = max(width // itemsize, 1) if pattern == "launched" else 1
    return _touched(who, offsets * itemsize, live, itemsize, each, once=held.kind == "store")


def _touched(who: Owners, addresses: np.ndarray, live: np.ndarray, itemsize: int, each: int, *, once: bool) -> Touched:
    """`each` elements a lane and instruction; with `once`, an element that several threads hold is touched by the first."""
    first = who.elements[:, :, ::each]
    here = live[first]
    if once and who.copies() > 1:
        threads, _ = who.first()
        own = np.arange(who.warps * who.lanes).reshape(who.warps, who.lanes, 1)
        here = here & (threads[first] == own)
    found = np.where(here, addresses[first], -1).transpose(0, 2, 1)
    sectors = np.sort(np.where(found >= 0, found // SECTOR, -1), axis=-1)
    new = np.diff(sectors, axis=-1, prepend=-1) > 0
    wanted = np.unique(addresses[live] // SECTOR)
    return Touched(
        width=each * itemsize,
        addresses=found,
        asked=int(new.sum()),
        needed=int(wanted.size),
        requests=int((found >= 0).any(axis=-1).sum()),
        lines=int(np.unique(wanted * SECTOR // LINE).size),
        useful=int(live.sum()) * itemsize,
    )
