"""What a dtype does to the numbers of a formula: where squares overflow, what rounds to 0, what is lost beside 1."""

from __future__ import annotations

import numpy as np

from .operator import Remark
from .values import round_to

# The largest and the smallest normal number, and the distance from 1 to the next number: IEEE 754 binary32 and binary16, and
# binary32 cut to 16 bits.
LARGEST = {"float32": float(np.finfo(np.float32).max), "float16": 65504.0, "bfloat16": 2.0**127 * (2 - 2.0**-7)}
UNIT = {"float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
# Activations of language models reach thousands; what overflows only far past that is not worth a word.
COMMON = 1e5


def rounded(value: float, dtype: str) -> float:
    """The nearest number that the dtype holds; infinity past its largest."""
    return float(round_to(np.array([value], np.float64).astype(np.float32), dtype)[0])


def first_infinite_square(dtype: str) -> float:
    """The smallest power of two whose square the dtype cannot hold."""
    return float(2.0 ** next(power for power in range(129) if 4.0**power > LARGEST[dtype]))


def overflowing_squares(dtype: str) -> list[Remark]:
    """Where a formula that squares in this dtype overflows; nothing where numbers of that size are not met."""
    first = first_infinite_square(dtype)
    if first > COMMON:
        return []
    unfused = f"unfused, the square of {first:,.0f} is infinite and its row comes out as 0"
    return [Remark(f"{dtype} ends at {LARGEST[dtype]:,.0f}: {unfused}. The kernel squares in float32.")]


def vanishing(name: str, value: float, dtype: str) -> list[Remark]:
    """What becomes of a small number that keeps a root from 0, in this dtype and in float32, in which kernels compute."""
    zeros = "a row of zeros gives NaN"
    if value == 0:
        return [Remark(f"{name} = 0: {zeros}, 0 times the reciprocal root of 0.", entered=True)]
    if rounded(value, "float32") == 0:
        return [Remark(f"{name} = {value:g} rounds to 0 in float32, in which the kernel adds it: {zeros}.", entered=True)]
    if rounded(value, dtype) == 0:
        said = f"{name} = {value:g} rounds to 0 in {dtype}: unfused, {zeros}. The kernel adds it in float32."
        return [Remark(said, entered=True)]
    return []


def lost_beside_one(dtype: str) -> list[Remark]:
    """The largest power of two that vanishes when it is added to 1: what a weight kept less 1 must not meet."""
    if dtype == "float32":
        return []
    lost = UNIT[dtype] / 2
    words = f"in {dtype} 1 + {lost:.10g} is 1"
    return [Remark(f"A weight that is kept less 1 (Gemma) must get its 1 in float32: {words}.")]
