"""libdevice in the interpreter: what CUDA and ROCm compute, by NumPy.

The functions of triton.language.extra.libdevice have no bodies; the compiler links the vendor's. NumPy rounds otherwise in the
last place.
"""

from __future__ import annotations

import contextlib
import importlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import TensorHandle

_erf = np.vectorize(math.erf, otypes=[float])
_erfc = np.vectorize(math.erfc, otypes=[float])
_lgamma = np.vectorize(math.lgamma, otypes=[float])
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "hypot")},
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "floor", "ceil", "trunc", "rint")},
    **{name: getattr(np, name) for name in ("fmod", "fmax", "fmin", "isnan", "isinf", "copysign", "nextafter", "signbit")},
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "pow": np.power,
    "abs": np.abs,
    "fabs": np.abs,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "nearbyint": np.rint,
    "llrint": lambda x: np.rint(x).astype(np.int64),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "exp10": lambda x: np.power(10.0, x),
    "erf": _erf,
    "erfc": _erfc,
    "lgamma": _lgamma,
    "fma": lambda x, y, z: x * y + z,
    "div_rn": np.divide,
    "finite": np.isfinite,
    "isfinite": np.isfinite,
}
FAST = {
    "fast_expf": "exp",
    "fast_logf": "log",
    "fast_sinf": "sin",
    "fast_cosf": "cos",
    "fast_tanhf": "tanh",
    "fast_dividef": "div_rn",
}
MODULES = ("triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice", "triton.language.extra.hip.libdevice")


@contextlib.contextmanager
def computed(kernel: Any) -> Iterator[None]:
    """Gives the functions of libdevice bodies, for one trace: in Triton's modules, and where kernels imported them by name."""
    modules = [module for name in MODULES if (module := _imported(name))]
    changed: list[tuple[dict[str, Any], str, Any]] = []
    for scope in (*(vars(module) for module in modules), *_scopes(kernel, set())):
        for name, value in list(scope.items()):
            if str(getattr(value, "__module__", "")) in MODULES and callable(value) and not isinstance(value, type):
                changed.append((scope, name, value))
                scope[name] = _by_numpy(getattr(value, "__name__", name))
    try:
        yield
    finally:
        for scope, name, value in changed:
            scope[name] = value


def _imported(name: str) -> Any:
    with contextlib.suppress(ImportError):
        return importlib.import_module(name)
    return None


def _scopes(function: Any, seen: set[int]) -> Iterator[dict[str, Any]]:
    """The globals of a kernel and of every jit function that it can reach by a name."""
    scope = function.fn.__globals__
    if id(scope) in seen or scope.get("__name__", "").startswith("triton."):
        return
    seen.add(id(scope))
    yield scope
    for value in list(scope.values()):
        if isinstance(value, interpreter.InterpretedFunction):
            yield from _scopes(value, seen)


def _by_numpy(name: str) -> Callable[..., Any]:
    known = FAST.get(name) or (name if name in FUNCTIONS else name.removesuffix("f"))

    def call(*arguments: Any, **options: Any) -> Any:
        if known not in FUNCTIONS:
            raise NotImplementedError(f"libdevice.{name} has no counterpart in NumPy here: it can be compiled, not traced.")
        tensors = [argument if isinstance(argument, tl.tensor) else _scalar(argument) for argument in arguments]
        values = np.asarray(FUNCTIONS[known](*(tensor.handle.data for tensor in tensors)))
        kind = tl.int32 if values.dtype == bool else tl.int64 if values.dtype == np.int64 else tensors[0].dtype
        handle = TensorHandle(values.astype(interpreter._get_np_dtype(kind)), kind)
        block = any(tensor.type.is_block() for tensor in tensors)
        return tl.tensor(handle, tl.block_type(kind, list(values.shape)) if block else kind)

    return call


def _scalar(number: Any) -> Any:
    return tl.tensor(TensorHandle(np.array([float(number)], np.float32), tl.float32), tl.float32)
