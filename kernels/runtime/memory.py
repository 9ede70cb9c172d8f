"""Virtual tensors: what a kernel under trace reads and writes. Nothing is dereferenced, so any size and any mistake is safe.

Every argument owns a slot of 2^44 bytes, its first element at `(slot + 1) << 44`. Reads come from a pure function of the index
(seeded values), overlaid by what was written; only written pages take memory.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..operator import ITEMSIZE, Tensor
from ..values import numpy_values, round_to

SLOT_BITS = 44
GAP_STREAM = 100
PAGE_BITS = 12

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


class VirtualTensor:
    """One argument of a launch under trace, with the surface that the interpreter's launch path touches.

    The kernel sees bfloat16 as float32, because the interpreter would add bit patterns; element addresses are reported with
    2 bytes all the same. `stride` spreads the elements over a longer storage, for the view that is given without a copy.
    """

    def __init__(self, name: str, slot: int, tensor: Tensor, seed: int, stride: int = 1) -> None:
        self.name, self.tensor, self.seed, self.stride_of_view = name, tensor, seed, stride
        self.base = (slot + 1) << SLOT_BITS
        self.numel = max(tensor.numel * stride - (stride - 1), 0)
        self.numpy_dtype = np.dtype("float32" if tensor.dtype == "bfloat16" else tensor.dtype)
        self.dtype = f"torch.{self.numpy_dtype.name}"
        self.pages: dict[int, np.ndarray] = {}

    def read(self, index: np.ndarray) -> np.ndarray:
        """The values at these elements of the storage (one-dimensional int64, in bounds)."""
        values = self._initial(index)
        for page in self._touched(index):
            here = index >> PAGE_BITS == page
            stored, written = self.pages[page]
            at = index[here] & (1 << PAGE_BITS) - 1
            values[here] = np.where(written[at], stored[at], values[here])
        return values

    def _initial(self, index: np.ndarray) -> np.ndarray:
        """What memory holds before the launch: in a strided view's gaps other values than those of the view."""
        filling, stride = self.tensor.filling, self.stride_of_view
        if filling is None:
            return undefined(index.shape, self.numpy_dtype)
        values = numpy_values(filling, self.tensor.dtype, index // stride, self.seed)
        if stride == 1:
            return values
        gaps = numpy_values(replace(filling, stream=filling.stream + GAP_STREAM), self.tensor.dtype, index, self.seed)
        return np.where(index % stride == 0, values, gaps)

    def write(self, index: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Stores, rounded to the dtype of the tensor; returns what memory then holds."""
        rounded = np.where(is_undefined(values), values, round_to(values, self.tensor.dtype)).astype(self.numpy_dtype)
        for page in np.unique(index >> PAGE_BITS).tolist():
            if page not in self.pages:
                self.pages[page] = (np.zeros(1 << PAGE_BITS, self.numpy_dtype), np.zeros(1 << PAGE_BITS, bool))
            stored, written = self.pages[page]
            here = index >> PAGE_BITS == page
            at = index[here] & (1 << PAGE_BITS) - 1
            stored[at], written[at] = rounded[here], True
        return rounded

    def _touched(self, index: np.ndarray) -> list[int]:
        return [page for page in np.unique(index >> PAGE_BITS).tolist() if page in self.pages] if self.pages else []

    def address(self, index: int) -> int:
        """The byte address of an element, as a GPU would see it: 2 bytes apart for 16-bit dtypes."""
        return self.base + index * ITEMSIZE[self.tensor.dtype]

    def data_ptr(self) -> int:
        return self.base

    def untyped_storage(self) -> VirtualTensor:
        return self

    def cpu(self) -> VirtualTensor:
        return self

    def copy_(self, other: VirtualTensor) -> VirtualTensor:
        return self

    def new_empty(self, *args: object, **kwargs: object) -> VirtualTensor:
        return self

    def set_(self, *args: object) -> None:
        pass

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int]:
        return (self.numel,)

    def stride(self) -> tuple[int]:
        return (1,)

    def element_size(self) -> int:
        return self.numpy_dtype.itemsize
