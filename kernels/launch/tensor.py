"""Tensors as a kernel gets them: where each element lies in a storage, and which values it holds before the launch."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

from .dtypes import ITEMSIZE


@dataclass(frozen=True)
class Filling:
    """Seeded random values of an input, `mean + scale * noise(stream, index)`; see kernels/values.py.

    With a period they repeat: the index counts from 0 again after so many elements.
    """

    stream: int
    mean: float = 0.0
    scale: float = 1.0
    period: int = 0


@dataclass(frozen=True)
class Tensor:
    """A tensor that a kernel gets; without a filling or data it is an output, uninitialised.

    strides -- in elements; row-major without gaps where None
    offset  -- of its first element, in elements of the storage
    storage -- a name that tensors which share memory have in common; a storage of its own where empty
    size    -- elements of the storage; where None, up to the last element of this view
    data    -- the values, an array of this shape
    """

    shape: tuple[int, ...]
    dtype: str
    filling: Filling | None = None
    strides: tuple[int, ...] | None = None
    offset: int = 0
    storage: str = ""
    size: int | None = None
    data: Any = field(default=None, compare=False, repr=False)

    @property
    def numel(self) -> int:
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.numel * ITEMSIZE[self.dtype]

    @property
    def is_output(self) -> bool:
        """Whether nothing is in it before the launch."""
        return self.filling is None and self.data is None

    @property
    def row_major(self) -> tuple[int, ...]:
        """The strides of this shape without gaps."""
        return tuple(prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))

    @property
    def is_contiguous(self) -> bool:
        """Whether element i lies at i of the storage."""
        pairs = zip(self.shape, self.steps, self.row_major, strict=True)
        return self.offset == 0 and all(step == plain for length, step, plain in pairs if length > 1)

    @property
    def steps(self) -> tuple[int, ...]:
        """The strides, also where none are given."""
        return self.row_major if self.strides is None else self.strides

    @property
    def extent(self) -> int:
        """Elements of the storage; beyond them lies memory of others."""
        if self.size is not None:
            return self.size
        if not self.numel:
            return 0
        return self.offset + sum((length - 1) * step for length, step in zip(self.shape, self.steps, strict=True)) + 1

    def positions(self, index: Any) -> tuple[Any, Any]:
        """For elements of the storage: which element of the view, counted row by row, lies there, and whether one does.

        `index` is an int64 array. Where several do, as in an expanded view, the first along each axis. Exact where every stride
        is at least the extent of the smaller ones together, as PyTorch's views but for sliding windows have it.
        """
        if self.is_contiguous:
            return index, (index >= 0) & (index < self.numel)
        rest, position = index - self.offset, index * 0
        axes = [axis for axis, length in enumerate(self.shape) if length > 1 and self.steps[axis] > 0]
        for axis in sorted(axes, key=lambda axis: -self.steps[axis]):
            along = (rest // self.steps[axis]).clip(0, self.shape[axis] - 1)
            rest, position = rest - along * self.steps[axis], position + along * self.row_major[axis]
        return position, (rest == 0) & bool(self.numel)

    def places(self, position: Any) -> Any:
        """Where elements of the view, counted row by row, lie in the storage; `position` is an int64 array."""
        if self.is_contiguous:
            return position
        place, rest = position * 0 + self.offset, position
        for step, plain in zip(self.steps, self.row_major, strict=True):
            along, rest = rest // max(plain, 1), rest % max(plain, 1)
            place = place + along * step
        return place


@dataclass(frozen=True)
class Descriptor:
    """A tensor descriptor made on the host: the tensor, and the block that one load or store moves."""

    tensor: Tensor
    block_shape: tuple[int, ...]
