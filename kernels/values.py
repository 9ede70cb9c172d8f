"""Seeded random values as a pure function of an element's index.

The tracer reads a few elements of a tensor that may have 2^40 of them, a launch fills the same tensor on a GPU, and both must
show the same numbers. So a value is a hash of the index, in integer arithmetic that NumPy and torch do alike, and a single
float32 multiplication.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from .launch import Filling, Tensor
from .launch.dtypes import TABLE

if TYPE_CHECKING:
    import torch

# The sum of two uniform 16-bit numbers has a variance of 2 * 65536^2 / 12: this scales it to 1, within +-2.45.
UNIT = 6**0.5 / 65536
CHUNK = 2**26


def noise(index: Any, stream: int, seed: int) -> Any:
    """Whole numbers from -65535 to 65535, symmetric around 0, for int64 indices of NumPy or torch.

    The mixing steps are Thomas Mueller's 32-bit integer hash (multiplier 0x45d9f3b); no product exceeds 63 bits.
    """
    mixed = (index + (index >> 32) * 977 + stream * 16777619 + seed * 40503) & 0xFFFFFFFF
    for _ in range(2):
        mixed = ((mixed >> 16) ^ mixed) * 0x45D9F3B & 0xFFFFFFFF
    mixed = (mixed >> 16) ^ mixed
    return (mixed & 0xFFFF) + (mixed >> 16) - 65535


def _counted(filling: Filling, index: Any) -> Any:
    return index % filling.period if filling.period else index


def round_to(values: np.ndarray, dtype: str) -> np.ndarray:
    """Values rounded to the nearest that `dtype` holds; bfloat16 stays float32, which NumPy can show, float8 becomes bits."""
    if TABLE[dtype].is_float8:
        return _encoded(values, dtype)
    if dtype == "bfloat16":
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)
        return np.where(np.isnan(values), values, rounded.view(np.float32))
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def numpy_values(filling: Filling, dtype: str, index: np.ndarray, seed: int) -> np.ndarray:
    """The values at `index` (any shape, int64), in the dtype (bfloat16 as float32)."""
    unit = noise(_counted(filling, index.astype(np.int64)), filling.stream, seed).astype(np.float32) * np.float32(
        UNIT * filling.scale
    )
    return round_to(_whole(unit + np.float32(filling.mean), dtype), dtype)


def _whole(values: Any, dtype: str) -> Any:
    """What an integer tensor is filled with instead: the nearest whole numbers, unsigned ones without their sign."""
    if TABLE[dtype].is_floating:
        return values
    if dtype == "bool":
        return values > 0
    rounded = values.round()
    return abs(rounded) if dtype.startswith("u") else rounded


@functools.cache
def _float8(dtype: str) -> np.ndarray:
    """The 256 numbers that the bits of a float8 stand for; see `Dtype` for the source."""
    known, bits = TABLE[dtype], np.arange(256)
    exponent, fraction = (bits & 0x7F) >> known.mantissa, bits & (1 << known.mantissa) - 1
    scale = float(1 << known.mantissa)
    normal = (1 + fraction / scale) * 2.0 ** (exponent - known.exponent_bias)
    values = np.where(exponent > 0, normal, fraction / scale * 2.0 ** (1 - known.exponent_bias))
    values = np.where(bits & 0x80, -values, values).astype(np.float32)
    if dtype.endswith("fnuz"):
        values[0x80] = np.nan
    elif dtype == "float8_e4m3fn":
        values[[0x7F, 0xFF]] = np.nan
    else:
        values[[0x7C, 0xFC]], values[[0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF]] = (np.inf, -np.inf), np.nan
    return values


def decoded(values: np.ndarray, dtype: str) -> np.ndarray:
    """Values as numbers: float8 is held as its bits, everything else is a number already."""
    return _float8(dtype)[values] if TABLE[dtype].is_float8 else values


def _encoded(values: np.ndarray, dtype: str) -> np.ndarray:
    """The bits of the nearest float8, ties to the even one; past the largest number that one."""
    table = _float8(dtype)[:128]
    steps = table[np.isfinite(table)]
    size = np.clip(np.abs(values), 0, steps[-1])
    above = np.clip(np.searchsorted(steps, size), 1, len(steps) - 1)
    low, high = size - steps[above - 1], steps[above] - size
    bits = np.where((low < high) | ((low == high) & (above % 2 == 1)), above - 1, above)
    signed = bits | np.where((np.signbit(values)) & (bits > 0), 0x80, 0)
    return np.where(np.isnan(values), 0x80 if dtype.endswith("fnuz") else 0x7F, signed).astype(np.uint8)


def torch_values(tensor: Tensor, seed: int, device: str) -> torch.Tensor:
    """The whole tensor on a device, in chunks that bound the int64 intermediates to half a gigabyte each."""
    import torch

    result = torch.empty(tensor.numel, dtype=getattr(torch, tensor.dtype), device=device)
    filling = tensor.filling
    for start in range(0, tensor.numel, CHUNK):
        index = torch.arange(start, min(start + CHUNK, tensor.numel), device=device)
        unit = noise(_counted(filling, index), filling.stream, seed).float() * (UNIT * filling.scale)
        result[start : start + CHUNK] = _whole(unit + filling.mean, tensor.dtype)
    return result.view(tensor.shape)
