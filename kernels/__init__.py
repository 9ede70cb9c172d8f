"""Operators, each with its Triton kernel, and the value types that describe them.

Importing this imports neither torch nor Triton: the operators are loaded when first asked for, so that a process can still
decide whether its kernels are compiled or interpreted.
"""

from .launch import DTYPES, ITEMSIZE, Launch, Tensor
from .operator import Numbers, Operator, Problem, Tiling
from .registry import broken, find, operators

__all__ = [
    "DTYPES",
    "ITEMSIZE",
    "Launch",
    "Numbers",
    "Operator",
    "Problem",
    "Tensor",
    "Tiling",
    "broken",
    "find",
    "operators",
]
