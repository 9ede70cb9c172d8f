"""Which arguments the lanes of one access point into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from triton.runtime import interpreter

from .memory import VirtualTensor, slot_of

NOWHERE = "An access goes to an address that belongs to no argument."


@dataclass(frozen=True)
class Part:
    """The lanes of one access that go into one argument; arrays have the shape of the pointers.

    offsets -- in elements from the start of the storage; of lanes of other arguments they mean nothing
    asked   -- what the kernel's mask lets through of them
    live    -- what is in force: all of them where the mask is ignored
    inside  -- which lie in the storage
    within  -- byte of the element that a lane points at, where a pointer was cast; else None
    """

    tensor: VirtualTensor
    offsets: np.ndarray
    asked: np.ndarray
    live: np.ndarray
    inside: np.ndarray
    bytes_at: np.ndarray | None = None

    def read(self, lanes: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The values at those lanes, as the pointers' dtype has them."""
        if self.bytes_at is not None:
            return self.tensor.read_as(self.bytes_at[lanes], dtype)
        values = self.tensor.read(self.offsets[lanes])
        return values if values.dtype == dtype else values.view(dtype)

    def write(self, lanes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Stores at those lanes; returns what memory then holds."""
        if self.bytes_at is not None:
            self.tensor.write_as(self.bytes_at[lanes], values)
            return values
        own = self.tensor.numpy_dtype
        if values.dtype.kind != own.kind and values.dtype.itemsize == own.itemsize:
            return self.tensor.write(self.offsets[lanes], values.view(own)).view(values.dtype)
        return self.tensor.write(self.offsets[lanes], values)

    def outside_view(self) -> np.ndarray | None:
        """Live lanes within the storage that no element of the argument lies at; None where it is the storage."""
        if self.tensor.tensor.is_contiguous and self.tensor.tensor.numel == self.tensor.numel:
            return None
        _, within = self.tensor.tensor.positions(self.offsets)
        return self.live & self.inside & ~within


class Reach:
    """Finds the arguments that pointers lead to."""

    def __init__(self, tensors: Iterable[VirtualTensor], no_mask: bool) -> None:
        self.no_mask = no_mask
        self.by_slot: dict[int, list[VirtualTensor]] = {}
        for tensor in tensors:
            self.by_slot.setdefault(slot_of(tensor.base), []).append(tensor)

    def of(self, slot: int) -> VirtualTensor | None:
        """The first argument that lies in a slot."""
        return next(iter(self.by_slot.get(slot, ())), None)

    @staticmethod
    def dtype(pointers: Any) -> np.dtype:
        """The NumPy dtype that the interpreter holds the pointers' elements in."""
        return np.dtype(interpreter._get_np_dtype(pointers.get_element_ty()))

    def parts(self, pointers: Any, asked: np.ndarray) -> Iterator[Part]:
        """The lanes by argument, one part for each that live lanes point into; of no live lane the part of most lanes.

        Raises NotImplementedError for live lanes that point nowhere.
        """
        addresses = pointers.data.astype(np.int64)
        slots = slot_of(addresses)
        live = np.ones_like(asked) if self.no_mask else asked
        first = int(slots.flat[0])
        if slots.size == 1 or (slots == first).all():
            yield self._part(first, pointers, addresses, asked, live)
            return
        found = np.unique(slots[live]) if live.any() else _most(slots)
        for slot in found.tolist():
            here = slots == slot
            yield self._part(slot, pointers, addresses, asked & here, live & here)

    def _part(self, slot: int, pointers: Any, addresses: np.ndarray, asked: np.ndarray, live: np.ndarray) -> Part:
        if slot not in self.by_slot:
            raise NotImplementedError(NOWHERE)
        views = self.by_slot[slot]
        size = views[0].element_size()
        distances = addresses - views[0].base
        offsets = distances // size
        inside = (offsets >= 0) & (offsets < views[0].numel)
        tensor = views[0] if len(views) == 1 else _holding(views, offsets[live & inside])
        element = self.dtype(pointers)
        cast = element.itemsize != size or bool((distances % size).any())
        if cast and tensor.tensor.dtype == "bfloat16":
            raise NotImplementedError(f"{tensor.name} is read as {element}, and only as bfloat16 is it traced.")
        if cast:
            inside &= distances + element.itemsize <= views[0].numel * size
        return Part(tensor, offsets, asked, live, inside, distances if cast else None)


def _most(slots: np.ndarray) -> np.ndarray:
    numbers, counts = np.unique(slots, return_counts=True)
    return numbers[counts.argmax()].reshape(1)


def _holding(views: list[VirtualTensor], offsets: np.ndarray) -> VirtualTensor:
    """Of views of one storage the first that holds the most of these elements."""
    counts = [int(view.tensor.positions(offsets)[1].sum()) for view in views]
    return views[counts.index(max(counts))]
