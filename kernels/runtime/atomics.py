"""What an atomic operation makes of the value in memory and the one that it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

COMBINATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "ADD": np.add,
    "FADD": np.add,
    "MAX": np.maximum,
    "UMAX": np.maximum,
    "MIN": np.minimum,
    "UMIN": np.minimum,
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
    "XCHG": lambda before, given: given,
}


def combination(operation: Any) -> Callable[[Any, Any], Any]:
    """The function of Triton's name for an atomic operation (triton/_C/libtriton.pyi, ATOMIC_OP)."""
    name = str(operation).rpartition(".")[2].upper()
    if name not in COMBINATIONS:
        raise NotImplementedError(f"The atomic operation {name} is not traced.")
    return COMBINATIONS[name]
