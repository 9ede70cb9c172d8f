"""What a page draws of a launch: accesses of a few programs, the steps of one, the memory around it; bounded at any size.

Plain values that go from the trace worker to the page, and into the shipped files of recorded pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ..launch import Tensor, short
from .memory import is_undefined
from .records import Access, Program, Step, Turn, Variable, linear

GROUPS = 64
GROUPS_2D = 16
MAP = 32
WHOLE = 400
WINDOW = 40
SAMPLE = 64


@dataclass(frozen=True)
class Lanes:
    """One access of one program, lanes in groups: `group` lanes along each axis make one element of the arrays.

    `first` and `last` are offsets; `live`, `excluded` (by the kernel's mask) and `out_of_bounds` count lanes. Values are there
    where every lane is its own group.
    """

    kind: str
    argument: str
    program: Program
    line: int
    turns: tuple[Turn, ...]
    dtype: str
    shape: tuple[int, ...]
    group: tuple[int, ...]
    first: np.ndarray
    last: np.ndarray
    live: np.ndarray
    excluded: np.ndarray
    out_of_bounds: np.ndarray
    values: np.ndarray | None
    defined: np.ndarray | None

    @property
    def lanes(self) -> int:
        return prod(self.shape)

    @property
    def name(self) -> str:
        """The argument as people read it."""
        return short(self.argument)


@dataclass(frozen=True)
class Sample:
    """A variable: all its lanes, or the first and last of many; `index` says which. A pointer names its argument."""

    dtype: str
    shape: tuple[int, ...]
    argument: str | None
    index: np.ndarray
    values: np.ndarray
    defined: np.ndarray

    @property
    def name(self) -> str:
        """The argument that a pointer leads into, as people read it; nothing for other variables."""
        return short(self.argument or "")


@dataclass(frozen=True)
class Place:
    """A statement that the chosen program ran: its line and the turns of the loops around it."""

    line: int
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Cells:
    """Some elements of an argument: values, and for each the program that writes or else first reads it, with lane and line.

    The owner is -1 where no traced program touches the element; `touches` counts the accesses that do.
    """

    start: int
    values: np.ndarray
    defined: np.ndarray
    owner: np.ndarray
    lane: np.ndarray
    line: np.ndarray
    touches: np.ndarray


@dataclass(frozen=True)
class Memory:
    """One argument: a window of its elements, and a map of which parts of it the chosen program reads or writes.

    `read` and `written` hold the share of the elements in each part, over `shape` cut into a grid of at most 32 by 32 parts;
    `owners` the programs that own the first and the last element of each, by the closed form (None without one).
    """

    argument: str
    shape: tuple[int, ...]
    dtype: str
    cells: Cells
    read: np.ndarray
    written: np.ndarray
    owners: tuple[np.ndarray, np.ndarray] | None

    @property
    def name(self) -> str:
        """The argument as people read it."""
        return short(self.argument)


@dataclass(frozen=True)
class Picture:
    """A launch to be drawn, at one step of the chosen program.

    `steps` are all its statements, in order; `values` the variables that each line had assigned at `step`; `active` its
    accesses by number. Only accesses of first turns, and of the turn at `step`, are in detail; others are one group.
    `origin` is "traced", "recorded" or "formula"; where not complete, a long loop was left before its end. `counted` are the
    bytes that a whole launch reads and writes, each element once, where all its programs were traced. `program_seconds` is
    how long the chosen program took to interpret.
    """

    grid: Program
    chosen: Program
    shown: tuple[Program, ...]
    accesses: tuple[Lanes, ...]
    steps: tuple[Place, ...]
    step: int
    values: Mapping[int, Mapping[str, Sample]]
    active: tuple[int, ...]
    memory: tuple[Memory, ...]
    faults: tuple[str, ...]
    counted: tuple[int, int] | None
    complete: bool
    origin: str
    program_seconds: float

    def accesses_of(self, program: Program) -> tuple[Lanes, ...]:
        """The accesses of one of the shown programs, in order."""
        return tuple(access for access in self.accesses if access.program == program)


def grouped(access: Access, detailed: bool = True) -> Lanes:
    """Lanes in at most 64 groups, or 16 by 16 of a tile; without detail in one group."""
    shape = access.offsets.shape or (1,)
    most = (GROUPS if len(shape) == 1 else GROUPS_2D) if detailed else 1
    group = tuple(-(-length // most) for length in shape)
    single = all(size == 1 for size in group)
    offsets = access.offsets.reshape(shape)
    return Lanes(
        access.kind,
        access.argument,
        access.program,
        access.line,
        access.turns,
        access.dtype,
        shape,
        group,
        _corner(offsets, group, first=True),
        _corner(offsets, group, first=False),
        _counted(access.live.reshape(shape), group),
        _counted(~access.mask.reshape(shape), group),
        _counted(access.out_of_bounds.reshape(shape), group),
        access.values.reshape(shape).astype(np.float32) if single else None,
        access.defined.reshape(shape) if single else None,
    )


def _corner(offsets: np.ndarray, group: tuple[int, ...], first: bool) -> np.ndarray:
    """The first or last offset of every group."""
    for axis, size in enumerate(group):
        length = offsets.shape[axis]
        starts = np.arange(0, length, size)
        offsets = np.take(offsets, starts if first else np.minimum(starts + size, length) - 1, axis=axis)
    return offsets


def _counted(flags: np.ndarray, group: tuple[int, ...]) -> np.ndarray:
    """How many lanes of every group have the flag."""
    counts = flags.astype(np.int32)
    for axis, size in enumerate(group):
        counts = np.add.reduceat(counts, np.arange(0, counts.shape[axis], size), axis=axis)
    return counts


def sampled(variable: Variable) -> Sample:
    """All lanes up to 64, else the first four and the last two."""
    flat = variable.values.reshape(-1)
    index = np.arange(flat.size) if flat.size <= SAMPLE else np.array([0, 1, 2, 3, flat.size - 2, flat.size - 1])
    values = flat[index]
    return Sample(variable.dtype, variable.values.shape, variable.argument, index, values, ~is_undefined(values))


def values_at(steps: Sequence[Step], step: int) -> dict[int, dict[str, Sample]]:
    """What each line had last assigned when this step was done."""
    latest = {taken.line: taken.changes for taken in steps[: step + 1] if taken.changes}
    return {line: {name: sampled(variable) for name, variable in changes.items()} for line, changes in latest.items()}


def part_of(length: int, most: int) -> int:
    """How many elements of an axis one part of a map stands for."""
    return max(-(-length // most), 1)


def as_rows(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of an argument; a vector is one row, and of more dimensions the last one is a row."""
    return (prod(shape[:-1]), shape[-1]) if len(shape) > 1 else (1, prod(shape))


class Touched:
    """Collects which parts of the arguments of a launch are read and written, as shares of their elements."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self._tensors = tensors
        self._parts = {name: _Parts(tensor) for name, tensor in tensors.items()}

    def add(self, kind: str, argument: str, offsets: np.ndarray) -> None:
        """Counts elements that one access of that kind touches; offsets in bounds of the storage, one-dimensional."""
        position, within = self._tensors[argument].positions(offsets)
        self._parts[argument].add(kind, position[within])

    def add_access(self, access: Access) -> None:
        """Counts the live lanes of an access."""
        self.add(access.kind, access.argument, access.offsets[access.live & ~access.out_of_bounds])

    def shares(self, argument: str) -> tuple[np.ndarray, np.ndarray]:
        """(read, written) of every part; at most 1, elements touched more than once count again."""
        parts = self._parts[argument]
        return np.minimum(parts.counts["load"], 1.0), np.minimum(parts.counts["store"], 1.0)


class _Parts:
    def __init__(self, tensor: Tensor) -> None:
        rows, self.columns = as_rows(tensor.shape)
        self.high, self.wide = part_of(rows, MAP), part_of(self.columns, 4 * MAP if rows == 1 else MAP)
        shape = (max(-(-rows // self.high), 1), max(-(-self.columns // self.wide), 1))
        self.counts = {kind: np.zeros(shape, np.float32) for kind in ("load", "store")}

    def add(self, kind: str, offsets: np.ndarray) -> None:
        if self.columns:
            row, column = np.divmod(offsets, self.columns)
            np.add.at(self.counts[kind], (row // self.high, column // self.wide), 1.0 / (self.high * self.wide))


def owners_of_parts(tensor: Tensor, owner: Callable[[np.ndarray], np.ndarray] | None) -> tuple[np.ndarray, np.ndarray] | None:
    """The owners of the first and the last element of every part of a map; see `Touched`."""
    rows, columns = as_rows(tensor.shape)
    if owner is None or not rows or not columns:
        return None
    high, wide = part_of(rows, MAP), part_of(columns, 4 * MAP if rows == 1 else MAP)
    top, left = np.arange(0, rows, high, dtype=np.int64), np.arange(0, columns, wide, dtype=np.int64)
    bottom, right = np.minimum(top + high, rows) - 1, np.minimum(left + wide, columns) - 1
    first, last = top[:, None] * columns + left, bottom[:, None] * columns + right
    return np.asarray(owner(first)), np.asarray(owner(last))


def cells(values: np.ndarray, start: int, tensor: Tensor, accesses: Sequence[Access], grid: Program) -> Cells:
    """Elements of a tensor from `start` on with these values, counted row by row.

    Their owners are the programs that store them, or else first load them. Where several elements of a view lie at one place of
    the storage, an access to it is one to all of them.
    """
    index = np.arange(start, start + values.size, dtype=np.int64)
    places, which = np.unique(tensor.places(index), return_inverse=True)
    owner, count = np.full(places.size, -1, np.int64), np.zeros(places.size, np.int32)
    lane, line = np.zeros(places.size, np.int64), np.zeros(places.size, np.int32)
    for kind in ("load", "store"):
        for access in (access for access in accesses if access.kind == kind and places.size):
            lanes = np.flatnonzero((access.live & ~access.out_of_bounds).reshape(-1))
            offsets = access.offsets.reshape(-1)[lanes]
            at = np.minimum(np.searchsorted(places, offsets), places.size - 1)
            near = places[at] == offsets
            at, lanes = at[near], lanes[near]
            count[at] += 1
            if kind == "load":
                fresh = owner[at] < 0
                at, lanes = at[fresh], lanes[fresh]
            owner[at], lane[at], line[at] = linear(access.program, grid), lanes, access.line
    shown = values.astype(np.float32)
    return Cells(start, shown, ~is_undefined(values), owner[which], lane[which], line[which], count[which])
