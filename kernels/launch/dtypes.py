"""The dtypes that a kernel's tensors can have."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dtype:
    """A dtype by torch's name: bytes per element, Triton's name in a signature, and the NumPy dtype that holds it here.

    NumPy has no bfloat16: it is held as the float32 that it is the upper half of. Float8 is held as its bits; `exponent_bias`
    and `mantissa` say what they mean (OCP 8-bit Floating Point Specification 1.0; "fnuz": one zero, NaN at 0x80).
    """

    name: str
    itemsize: int
    signature: str
    numpy: str
    exponent_bias: int = 0
    mantissa: int = 0

    @property
    def is_float8(self) -> bool:
        return self.mantissa > 0

    @property
    def is_floating(self) -> bool:
        return self.is_float8 or "float" in self.numpy


_ALL = (
    Dtype("float32", 4, "fp32", "float32"),
    Dtype("float16", 2, "fp16", "float16"),
    Dtype("bfloat16", 2, "bf16", "float32"),
    Dtype("float64", 8, "fp64", "float64"),
    Dtype("float8_e4m3fn", 1, "fp8e4nv", "uint8", 7, 3),
    Dtype("float8_e5m2", 1, "fp8e5", "uint8", 15, 2),
    Dtype("float8_e4m3fnuz", 1, "fp8e4b8", "uint8", 8, 3),
    Dtype("float8_e5m2fnuz", 1, "fp8e5b16", "uint8", 16, 2),
    *(Dtype(f"int{bits}", bits // 8, f"i{bits}", f"int{bits}") for bits in (8, 16, 32, 64)),
    *(Dtype(f"uint{bits}", bits // 8, f"u{bits}", f"uint{bits}") for bits in (8, 16, 32, 64)),
    Dtype("bool", 1, "u1", "bool"),
)
TABLE = {dtype.name: dtype for dtype in _ALL}
ITEMSIZE = {name: dtype.itemsize for name, dtype in TABLE.items()}

# Those that the operators compute in.
DTYPES = ("float32", "float16", "bfloat16")


class TypeName(str):
    """A compile-time constant that is a type of `triton.language`, by its name; any other text stays a text."""

    __slots__ = ()
