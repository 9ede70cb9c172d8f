"""What a trace records. Plain values: they can be made, sent and read where Triton cannot be imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Program = tuple[int, int, int]


def linear(program: Program, grid: Program) -> int:
    """A program's number in launch order, the first axis counted first."""
    return program[0] + grid[0] * (program[1] + grid[1] * program[2])


def unravel(number: int, grid: Program) -> Program:
    """The program of that number; see `linear`."""
    return number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])


UNKNOWN_TOTAL = 0


@dataclass(frozen=True)
class Turn:
    """Where a loop stands: the line of its `for` or `while`, the turn, and how many it has; a `while` does not tell."""

    line: int
    index: int
    total: int


@dataclass(frozen=True)
class Access:
    """One load or store. Arrays have the shape of the pointers; offsets are in elements of the argument's storage.

    `mask` is what the kernel gave, `live` what was in force (all lanes where the mask is ignored), `out_of_bounds` is of live
    lanes only. `values` are those loaded, or what memory holds after a store; they mean nothing where `defined` is False.
    `outside_view` are live lanes in the argument's storage at which no element of the argument lies, None where there can be
    none. An atomic operation is a load and a store, both `atomic`.
    """

    kind: str
    argument: str
    program: Program
    line: int
    turns: tuple[Turn, ...]
    dtype: str
    offsets: np.ndarray
    mask: np.ndarray
    live: np.ndarray
    out_of_bounds: np.ndarray
    values: np.ndarray
    defined: np.ndarray
    outside_view: np.ndarray | None = None
    atomic: bool = False


@dataclass(frozen=True)
class Variable:
    """A variable's value after a statement: lanes as an array; of a pointer, the argument's name and offsets into it."""

    values: np.ndarray
    dtype: str
    argument: str | None = None


@dataclass(frozen=True)
class Step:
    """One statement that the watched program ran: what it assigned, and the accesses it made, by number."""

    line: int
    turns: tuple[Turn, ...]
    changes: Mapping[str, Variable]
    accesses: tuple[int, ...]


@dataclass(frozen=True)
class WhatIf:
    """What the tracer changes under an unchanged kernel: masks ignored, another `other`, a strided view not copied."""

    no_mask: bool = False
    other: float | None = None
    stride: int = 1


@dataclass(frozen=True)
class Limits:
    """What is kept of long loops: the first and last `turns / 2` turns and those in `window`; and when to stop early.

    `lanes` bounds what one trace keeps in memory; `seconds` ends it at the next turn of a loop, incomplete. With `skipping`
    turns that are not kept are not run either: offsets are right, values of what a loop carries are not.
    """

    turns: int = 64
    window: tuple[int, int] = (0, 0)
    lanes: int = 2**23
    seconds: float = float("inf")
    skipping: bool = False

    def keeps(self, turn: int, total: int) -> bool:
        """Whether that turn of a loop of `total` turns is kept."""
        half = self.turns // 2
        last = total != UNKNOWN_TOTAL and turn >= total - half
        return turn < half or last or self.window[0] <= turn < self.window[1]


NO_CHANGE = WhatIf()
EVERYTHING = Limits(turns=2**62, lanes=2**62)


@dataclass(frozen=True)
class Trace:
    """What the chosen programs did. Incomplete where the time limit ended it; `dropped` counts accesses not kept.

    `memory` holds the virtual tensors as the programs left them, by argument.
    """

    programs: tuple[Program, ...]
    accesses: tuple[Access, ...]
    steps: tuple[Step, ...]
    complete: bool
    dropped: int
    seconds: float
    memory: Mapping[str, Any]
