"""Which thread holds which element of a block: Triton's layouts, as the TTGIR of a compiled kernel names them.

A layout maps (warp, lane, register) to the coordinates of an element. What is not understood here, a tensor-core layout for
one, is `Unknown`: it is named and never guessed.
"""

from __future__ import annotations

import ast
import functools
import re
from dataclasses import dataclass
from math import prod

import numpy as np

Numbers = tuple[int, ...]


@dataclass(frozen=True)
class Blocked:
    """A thread holds a small box of `size_per_thread`; boxes of a warp's threads, then of the warps, lie beside each other.

    `order` names the dimension along which threads and warps are counted first, then the others. Source: the attribute
    `BlockedEncodingAttr` in Triton's TritonGPUAttrDefs.td.
    """

    size_per_thread: Numbers
    threads_per_warp: Numbers
    warps: Numbers
    order: Numbers


@dataclass(frozen=True)
class Linear:
    """The coordinates of an element are the XOR of one vector for every bit of the register, the lane and the warp.

    Source: the attribute `LinearEncodingAttr` in Triton's TritonGPUAttrDefs.td.
    """

    registers: tuple[Numbers, ...]
    lanes: tuple[Numbers, ...]
    warps: tuple[Numbers, ...]


@dataclass(frozen=True)
class Slice:
    """The parent's layout with one dimension taken away: a row or a column of a two-dimensional block."""

    dimension: int
    parent: Blocked | Linear | Slice | Unknown


@dataclass(frozen=True)
class Unknown:
    """A layout that is named and not drawn from its text."""

    name: str
    text: str


Layout = Blocked | Linear | Slice | Unknown


@dataclass(frozen=True)
class Owners:
    """Who holds a block: `elements[warp, lane, register]` is the row-major number of the element in `shape`.

    Registers that only repeat another one are left out.
    """

    shape: Numbers
    elements: np.ndarray

    @property
    def warps(self) -> int:
        return self.elements.shape[0]

    @property
    def lanes(self) -> int:
        return self.elements.shape[1]

    @property
    def registers(self) -> int:
        return self.elements.shape[2]

    def first(self) -> tuple[np.ndarray, np.ndarray]:
        """For every element, in row-major order, the first thread that holds it, and in which of its registers."""
        holders = np.empty(prod(self.shape), np.int64)
        flat = self.elements.reshape(-1)
        holders[flat[::-1]] = np.arange(flat.size)[::-1]
        return holders // self.registers, holders % self.registers

    def copies(self) -> int:
        """How many threads hold each element."""
        return self.elements.size // prod(self.shape)

    def holds(self, threads: np.ndarray) -> np.ndarray:
        """For every element, in row-major order, whether the thread given for it holds it."""
        inside = (threads >= 0) & (threads < self.warps * self.lanes)
        own = self.elements.reshape(-1, self.registers)[np.where(inside, threads, 0)]
        return inside & (own == np.arange(threads.size)[:, None]).any(axis=1)


def parsed(text: str) -> Layout:
    """A layout from its text, `#ttg.blocked<{sizePerThread = [4], ...}>`, aliases written out."""
    name = re.match(r"#\w+\.(\w+)", text)
    kind = name[1] if name else text
    if _several_blocks(text):
        return Unknown(kind, text)
    if kind == "blocked":
        fields = [_list(text, field) for field in ("sizePerThread", "threadsPerWarp", "warpsPerCTA", "order")]
        return Blocked(*fields) if all(fields) else Unknown(kind, text)
    if kind == "linear":
        bases = [_bases(text, field) for field in ("register", "lane", "warp")]
        return Linear(*bases) if None not in bases else Unknown(kind, text)
    if kind == "slice":
        found = re.match(r"#\w+\.slice<\{dim = (\d+), parent = (.*)\}>$", text)
        return Slice(int(found[1]), parsed(found[2])) if found else Unknown(kind, text)
    return Unknown(kind, text)


def _several_blocks(text: str) -> bool:
    """Whether a tensor is spread over a cluster of thread blocks, which no kernel here asks for."""
    split = re.search(r"CTAsPerCGA = \[([\d, ]*)\]", text)
    return "CGALayout = [[" in text or "block = [[" in text or bool(split and set(split[1].split(", ")) != {"1"})


def _list(text: str, field: str) -> Numbers:
    found = re.search(rf"\b{field} = \[([\d, ]+)\]", text)
    return tuple(int(number) for number in found[1].split(",")) if found else ()


def _bases(text: str, field: str) -> tuple[Numbers, ...] | None:
    found = re.search(rf"\b{field} = (\[(?:\[[\d, ]*\](?:, )?)*\])", text)
    return tuple(tuple(one) for one in ast.literal_eval(found[1])) if found else None


def understood(layout: Layout) -> bool:
    """Whether the owners of a layout can be told from its text."""
    return understood(layout.parent) if isinstance(layout, Slice) else not isinstance(layout, Unknown)


@functools.lru_cache(maxsize=64)
def owners(layout: Layout, shape: Numbers) -> Owners:
    """Who holds a block of that shape; raises ValueError for a layout that is not understood."""
    coordinates = _coordinates(layout, shape)
    numbers = np.ravel_multi_index(tuple(np.moveaxis(coordinates, -1, 0)), shape)
    _, places = np.unique(numbers.reshape(-1, numbers.shape[-1]), axis=1, return_index=True)
    return Owners(shape, numbers[:, :, np.sort(places)])


def _coordinates(layout: Layout, shape: Numbers) -> np.ndarray:
    """(warp, lane, register, dimension): a block smaller than the layout is held several times over."""
    if isinstance(layout, Unknown):
        raise ValueError(f"A {layout.name} layout is not read from its text.")
    if isinstance(layout, Slice):
        whole = (*shape[: layout.dimension], 1, *shape[layout.dimension :])
        return np.delete(_coordinates(layout.parent, whole), layout.dimension, axis=-1)
    parts = _linear(layout, len(shape)) if isinstance(layout, Linear) else _blocked(layout, shape)
    return parts % np.array(shape)


def _blocked(layout: Blocked, shape: Numbers) -> np.ndarray:
    box, threads, warps = (np.array(one) for one in (layout.size_per_thread, layout.threads_per_warp, layout.warps))
    tile = box * threads * warps
    turns = np.maximum(-(-np.array(shape) // tile), 1)
    again = _counted(turns, layout.order) * tile
    register = (again[:, None] + _counted(box, layout.order)).reshape(-1, len(shape))
    lane = _counted(threads, layout.order) * box
    warp = _counted(warps, layout.order) * box * threads
    return warp[:, None, None] + lane[None, :, None] + register[None, None]


def _counted(sizes: np.ndarray, order: Numbers) -> np.ndarray:
    """The digits of 0, 1, 2, ... in a number system of these sizes, the dimension that `order` names first changing fastest."""
    left, digits = np.arange(prod(sizes.tolist())), np.empty((prod(sizes.tolist()), len(order)), np.int64)
    for dimension in order:
        left, digits[:, dimension] = np.divmod(left, sizes[dimension])
    return digits


def _linear(layout: Linear, rank: int) -> np.ndarray:
    register, lane, warp = (_combined(bases, rank) for bases in (layout.registers, layout.lanes, layout.warps))
    return warp[:, None, None] ^ lane[None, :, None] ^ register[None, None]


def _combined(bases: tuple[Numbers, ...], rank: int) -> np.ndarray:
    """The XOR of the bases of the bits that are set in 0, 1, 2, ..."""
    found = np.zeros((1, rank), np.int64)
    for basis in bases:
        found = np.concatenate((found, found ^ np.array(basis, np.int64)))
    return found
