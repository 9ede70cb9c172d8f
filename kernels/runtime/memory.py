"""Virtual tensors: what a kernel under trace reads and writes. Nothing is dereferenced, so any size and any mistake is safe.

Every storage owns a slot of 2^44 bytes, its first element at `(slot + 1) << 44`. Reads come from a pure function of the index
(seeded values), overlaid by what was written; only written pages take memory. Tensors that share a storage share its slot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..launch import Launch, Tensor
from ..launch.dtypes import TABLE
from ..values import decoded, numpy_values, round_to
from .records import WhatIf

SLOT_BITS = 44
GAP_STREAM = 100
PAGE_BITS = 12


def slot_of(address: Any) -> Any:
    """The slot that an address, or each of an array, belongs to, counted from 1; half a slot below it still does."""
    return address + (1 << (SLOT_BITS - 1)) >> SLOT_BITS


# A NaN whose bits say "nobody defined this": it spreads through arithmetic as real undefined values do, survives conversion
# between float16, float32 and float64 (the payload sits in the ten highest bits of the mantissa), and no computation makes it.
UNDEFINED_BITS = 0x7FEDC000
UNDEFINED = np.array(UNDEFINED_BITS, np.uint32).view(np.float32)


def undefined(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array of undefined values: the marked NaN for floats, zeros for integers, which have no such mark."""
    if not np.issubdtype(dtype, np.floating):
        return np.zeros(shape, dtype)
    return np.full(shape, UNDEFINED, np.float32).astype(dtype)


def is_undefined(values: np.ndarray) -> np.ndarray:
    """Which elements carry the mark of `undefined`."""
    if not np.issubdtype(values.dtype, np.floating):
        return np.zeros(values.shape, bool)
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return (bits & np.uint32(0x7FFFFFFF) == UNDEFINED_BITS).reshape(values.shape)


class DtypeName(str):
    """A dtype as the interpreter reads it off a tensor: its name, and its size for descriptors."""

    itemsize: int


class Storage:
    """The memory that one tensor or several views lie in: pages of what was written."""

    def __init__(self, slot: int) -> None:
        self.base = (slot + 1) << SLOT_BITS
        self.pages: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.views: list[VirtualTensor] = []

    def data_ptr(self) -> int:
        return self.base

    def cpu(self) -> Storage:
        return self

    def copy_(self, other: Storage) -> Storage:
        return self


class VirtualTensor:
    """One argument of a launch under trace, with the surface that the interpreter's launch path touches.

    The kernel sees bfloat16 as float32, because the interpreter would add bit patterns; element addresses are reported with
    2 bytes all the same. Elements are counted from the start of the storage.
    """

    def __init__(self, name: str, tensor: Tensor, seed: int, storage: Storage) -> None:
        self.name, self.tensor, self.seed, self.storage = name, tensor, seed, storage
        self.base, self.numel = storage.base, tensor.extent
        self.numpy_dtype = np.dtype(TABLE[tensor.dtype].numpy)
        kept = tensor.dtype != "bfloat16"
        self.dtype = DtypeName(f"torch.{tensor.dtype if kept else 'float32'}")
        self.dtype.itemsize = self.numpy_dtype.itemsize
        storage.views.append(self)

    def read(self, index: np.ndarray) -> np.ndarray:
        """The values at these elements of the storage (one-dimensional int64, in bounds)."""
        values, pages = self._initial(index), self.storage.pages
        for page in self._touched(index):
            here = index >> PAGE_BITS == page
            stored, written = pages[page]
            at = index[here] & (1 << PAGE_BITS) - 1
            values[here] = np.where(written[at], stored[at], values[here])
        return values

    def _initial(self, index: np.ndarray) -> np.ndarray:
        """What memory holds before the launch: what a view of the storage put there, and in the gaps between others' values."""
        if len(self.storage.views) == 1 and self.tensor.is_contiguous and not self.tensor.is_output:
            return self._values(index)
        values = undefined(index.shape, self.numpy_dtype)
        for view in reversed(self.storage.views):
            if view.tensor.is_output:
                continue
            position, inside = view.tensor.positions(index)
            if not inside.all() and view.tensor.filling is not None:
                values = view._gaps(index)
            values = np.where(inside, view._values(np.where(inside, position, 0)), values)
        return values

    def _values(self, position: np.ndarray) -> np.ndarray:
        """The values of elements of this view, counted row by row."""
        tensor = self.tensor
        if tensor.data is not None:
            data = np.asarray(tensor.data).reshape(-1)
            return data[position].astype(self.numpy_dtype) if data.size else np.zeros(position.shape, self.numpy_dtype)
        return numpy_values(tensor.filling, tensor.dtype, position, self.seed)

    def _gaps(self, index: np.ndarray) -> np.ndarray:
        filling = self.tensor.filling
        return numpy_values(replace(filling, stream=filling.stream + GAP_STREAM), self.tensor.dtype, index, self.seed)

    def write(self, index: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Stores, rounded to the dtype of the tensor; returns what memory then holds."""
        rounded = values if TABLE[self.tensor.dtype].is_float8 else round_to(values, self.tensor.dtype)
        rounded = np.where(is_undefined(values), values, rounded).astype(self.numpy_dtype)
        pages = self.storage.pages
        for page in np.unique(index >> PAGE_BITS).tolist():
            if page not in pages:
                pages[page] = (np.zeros(1 << PAGE_BITS, self.numpy_dtype), np.zeros(1 << PAGE_BITS, bool))
            stored, written = pages[page]
            here = index >> PAGE_BITS == page
            at = index[here] & (1 << PAGE_BITS) - 1
            stored[at], written[at] = rounded[here], True
        return rounded

    def _touched(self, index: np.ndarray) -> list[int]:
        pages = self.storage.pages
        return [page for page in np.unique(index >> PAGE_BITS).tolist() if page in pages] if pages else []

    def read_as(self, byte: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The values of another dtype at these bytes of the storage (one-dimensional, in bounds)."""
        size = self.numpy_dtype.itemsize
        if dtype.itemsize == size and not (byte % size).any():
            return self.read(byte // size).view(dtype)
        bytes_at = byte[:, None] + np.arange(dtype.itemsize)
        elements = self.read((bytes_at // size).reshape(-1))
        raw = elements.view(np.uint8).reshape(-1, size)
        return np.ascontiguousarray(raw[np.arange(len(raw)), (bytes_at % size).reshape(-1)]).view(dtype)

    def write_as(self, byte: np.ndarray, values: np.ndarray) -> None:
        """Stores values of another dtype at these bytes."""
        size = self.numpy_dtype.itemsize
        if values.dtype.itemsize == size and not (byte % size).any():
            self.write(byte // size, values.view(self.numpy_dtype))
            return
        raw = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
        bytes_at = (byte[:, None] + np.arange(raw.shape[1])).reshape(-1)
        elements, place = np.unique(bytes_at // size, return_inverse=True)
        held = self.read(elements).view(np.uint8).reshape(-1, size).copy()
        held[place.reshape(-1), bytes_at % size] = raw.reshape(-1)
        self.write(elements, held.reshape(-1).view(self.numpy_dtype))

    def shown(self, values: np.ndarray) -> np.ndarray:
        """Values as numbers: the bits of a float8 decoded."""
        return decoded(values, self.tensor.dtype)

    def data_ptr(self) -> int:
        return self.base + self.tensor.offset * self.element_size()

    def untyped_storage(self) -> Storage:
        return self.storage

    def copy_(self, other: VirtualTensor) -> VirtualTensor:
        return self

    def new_empty(self, *args: object, **kwargs: object) -> VirtualTensor:
        return self

    def set_(self, *args: object) -> None:
        pass

    def storage_offset(self) -> int:
        return self.tensor.offset

    def size(self) -> tuple[int, ...]:
        return self.tensor.shape

    def stride(self) -> tuple[int, ...]:
        return self.tensor.steps

    def element_size(self) -> int:
        return self.numpy_dtype.itemsize


def virtual(launch: Launch, seed: int, what_if: WhatIf, poison: Mapping[str, Iterable[int]]) -> dict[str, VirtualTensor]:
    """The launch's tensors as virtual ones by name. Raises NotImplementedError where two dtypes share a storage."""
    memory, storages, strided = {}, {}, False
    for name, tensor in launch.tensors.items():
        if what_if.stride > 1 and not tensor.is_output and not strided:
            strided, tensor = True, replace(tensor, strides=(what_if.stride,))
        storage = storages.setdefault(tensor.storage or (name,), Storage(len(storages)))
        memory[name] = VirtualTensor(name, tensor, seed, storage)
        if (first := storage.views[0]).tensor.dtype != tensor.dtype:
            dtypes = f"{first.name} as {first.tensor.dtype} and {name} as {tensor.dtype}"
            raise NotImplementedError(f"One storage is seen as two dtypes, {dtypes}: that is not traced.")
    for storage in storages.values():
        numel = max(view.numel for view in storage.views)
        for view in storage.views:
            view.numel = numel
    for name in poison:
        index = np.asarray(list(poison[name]), np.int64)
        memory[name].write(index, np.full(index.shape, np.nan, np.float32))
    return memory
