"""Tilings that callers bring: what Triton takes, refused otherwise with the nearest values that are legal."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any

from .operator import Numbers, Size, Tiling

MAX_LANES = 2**20  # TRITON_MAX_TENSOR_NUMEL in triton/_utils.py
MAX_WARPS = 32  # of 32 threads: 1,024 threads a program are CUDA's limit
# The stages of a pipelined loop are written out one after the other: a float32 matmul with tiles of 16 compiles for 2 s with
# 16 of them, for 19 s with 64, and not within two minutes with 300 (Triton 3.9, sm_90).
MAX_STAGES = 16


def nearest_powers(value: int, most: int) -> tuple[int, ...]:
    """The powers of two next to `value`, from 1 to `most`; one where it is the only one."""
    if value <= 1:
        return (1,)
    if value >= most:
        return (most,)
    below = 1 << value.bit_length() - 1
    return (below,) if below == value else (below, 2 * below)


def chosen(tiling: Tiling | None, rule: Tiling, sizes: tuple[Size, ...], tiles: tuple[tuple[str, str], ...] = ()) -> Tiling:
    """The caller's tiling in Python's integers; the rule's where there is none.

    `sizes` are the blocks that the kernel has, powers of two where they are extents; `tiles` pairs those that are the
    two sides of one. Raises TypeError for what is no tiling, and ValueError, with the nearest legal value, for blocks, warps or
    stages that would launch nothing or that Triton refuses.
    """
    if tiling is None:
        return rule
    if not isinstance(tiling, Tiling) or not isinstance(tiling.blocks, Mapping):
        raise TypeError(f"tiling is {tiling!r:.60}: a Tiling is needed, {rule} for one.")
    names = [size.name for size in sizes]
    if tiling.blocks.keys() != set(names):
        given = ", ".join(map(str, tiling.blocks)) or "no blocks"
        raise ValueError(f"tiling has {given}: {' and '.join(names)} {'are' if len(names) > 1 else 'is'} needed, and no other.")
    blocks = {size.name: _block(size, tiling.blocks[size.name], rule[size.name]) for size in sizes}
    for pair in tiles:
        _tile({name: blocks[name] for name in pair})
    warps = _power("num_warps", _whole("num_warps", tiling.num_warps, rule.num_warps), MAX_WARPS)
    stages = _between("num_stages", _whole("num_stages", tiling.num_stages, rule.num_stages), 1, MAX_STAGES)
    return Tiling(Numbers(blocks), warps, stages)


def _block(size: Size, value: Any, rule: int) -> int:
    number = _whole(size.name, value, rule)
    if size.extent:
        return _power(size.name, number, MAX_LANES)
    return _between(size.name, number, size.minimum, size.maximum)


def _whole(name: str, value: Any, rule: int) -> int:
    try:
        return index(value)
    except TypeError:
        raise ValueError(f"{name}: {value!r:.40} is not a whole number; {rule:,} is the launch rule's.") from None


def _power(name: str, value: int, most: int) -> int:
    if 1 <= value <= most and value & value - 1 == 0:
        return value
    nearest = nearest_powers(value, most)
    options = " and ".join(f"{number:,}" for number in nearest)
    verb = "are" if len(nearest) > 1 else "is"
    raise ValueError(f"{name}: {_shown(value)} is not a power of two from 1 to {most:,}; the nearest {verb} {options}.")


def _between(name: str, value: int, least: int, most: int) -> int:
    if least <= value <= most:
        return value
    nearest = least if value < least else most
    raise ValueError(f"{name}: {_shown(value)} is not a whole number from {least:,} to {most:,}; the nearest is {nearest:,}.")


def _tile(sides: Mapping[str, int]) -> None:
    """Raises ValueError for a block of two sides with more elements than Triton takes."""
    smaller, larger = sorted(sides, key=lambda name: sides[name])
    elements = sides[smaller] * sides[larger]
    if elements > MAX_LANES:
        raise ValueError(
            f"{smaller} {sides[smaller]:,} by {larger} {sides[larger]:,} is a block of {elements:,} elements, and Triton takes "
            f"{MAX_LANES:,}; the nearest {larger} is {MAX_LANES // sides[smaller]:,}."
        )


def _shown(value: int) -> str:
    """The number; of one too long to read, its length."""
    return f"{value:,}" if value.bit_length() <= 64 else f"a number of {value.bit_length():,} bits"
