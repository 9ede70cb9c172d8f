"""A launch is enough: a kernel, its grid, its arguments and constants, as values that say where each element lies."""

from .dtypes import DTYPES, ITEMSIZE, Dtype, TypeName
from .launch import Launch, short, unwrapped
from .tensor import Descriptor, Filling, Tensor

__all__ = ["DTYPES", "ITEMSIZE", "Descriptor", "Dtype", "Filling", "Launch", "Tensor", "TypeName", "short", "unwrapped"]
