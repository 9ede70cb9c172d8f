"""Triton's interpreter as this project needs it: repaired where a release is broken, relaxed for a picture where asked.

A process interprets from its first import of Triton on, or never: it must be started with TRITON_INTERPRET=1. Raises
ImportError on import where it was not.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import triton
import triton.language as tl
from triton.language import core, semantic
from triton.runtime import interpreter

from .memory import is_undefined, undefined

if not isinstance(tl.cdiv, interpreter.InterpretedFunction):
    raise ImportError("Kernels are traced in a process that was started with TRITON_INTERPRET=1; this one was not.")


def version() -> tuple[int, int]:
    """The installed Triton's major and minor version."""
    major, minor, *_ = triton.__version__.split(".")
    return int(major), int(minor)


def repair() -> None:
    """Makes the interpreters of Triton 3.6 to 3.8 compute as a GPU does where they refuse; a later one is left alone."""
    if version() < (3, 7):
        _repair_loops()
    if version() < (3, 9):
        _repair_sums()


@functools.cache
def _repair_loops() -> None:
    """A loop over a run-time bound: NumPy 2.4 refuses `int()` of a one-element array (triton issue 9171)."""
    original = interpreter._patch_lang_tensor

    def patched(tensor: Any, *args: Any) -> None:
        original(tensor, *args)
        tensor.__index__ = lambda self: int(self.handle.data.item())

    interpreter._patch_lang_tensor = patched


@functools.cache
def _repair_sums() -> None:
    """A sum past its dtype wraps: NumPy 2 refuses an array of a number that does not fit (triton issue 11531)."""
    original = interpreter.ReduceScanOpInterface.to_tensor

    def narrowed(self: Any, values: Any, dtype: Any) -> Any:
        return original(self, np.asarray(values).astype(interpreter._get_np_dtype(dtype))[()], dtype)

    interpreter.ReduceScanOpInterface.to_tensor = narrowed


@contextlib.contextmanager
def others_seen(note: Callable[[Any], None]) -> Iterator[None]:
    """Tells `note` the `other` of every `tl.load` as the kernel gave it, for one trace.

    The builder is not told of an `other` that is false in Python, so in the interpreter a single 0.0 looks like none at all.
    """
    load = semantic.TritonSemantic.load

    def noting(self: Any, pointer: Any, mask: Any, other: Any, *rest: Any, **options: Any) -> Any:
        note(other)
        return load(self, pointer, mask, other, *rest, **options)

    semantic.TritonSemantic.load = noting
    try:
        yield
    finally:
        semantic.TritonSemantic.load = load


@contextlib.contextmanager
def undefined_kept() -> Iterator[None]:
    """Makes a maximum or minimum that takes in an undefined value undefined, for one trace.

    Undefined values are marked NaN, which these pass over: a masked lane without `other` would seem to change nothing.
    """
    builder, reduce = interpreter.interpreter_builder, interpreter.ReduceOps
    reduced = reduce.min_max

    def reducing(self: Any, given: Any, *rest: Any, **options: Any) -> Any:
        result = reduced(self, given, *rest, **options)
        data = (given[0] if isinstance(given, tuple) else given).handle.data
        unknown = is_undefined(data)
        if unknown.any():
            value = (result[0] if isinstance(result, tuple) else result).handle
            value.data = _marked(value.data, unknown.any(axis=self.axis, keepdims=self.keep_dims))
        return result

    def elementwise(name: str) -> Callable[..., Any]:
        original = getattr(builder, name)

        def combined(left: Any, right: Any) -> Any:
            result = original(left, right)
            unknown = is_undefined(left.data) | is_undefined(right.data)
            if unknown.any():
                result.data = _marked(result.data, unknown)
            return result

        return combined

    reduce.min_max = reducing
    for name in ("create_maxnumf", "create_minnumf"):
        setattr(builder, name, elementwise(name))
    try:
        yield
    finally:
        reduce.min_max = reduced
        for name in ("create_maxnumf", "create_minnumf"):
            delattr(builder, name)


def _marked(values: Any, unknown: Any) -> np.ndarray:
    """The values, undefined where `unknown`."""
    data = np.array(values)
    if np.issubdtype(data.dtype, np.floating):
        data[unknown] = undefined((), data.dtype)
    return data


@contextlib.contextmanager
def unsanitized() -> Iterator[None]:
    """Leaves out the interpreter's asserts against integer overflow, for one trace: a third of its time, and no value changes.

    A trace shows what an overflow does instead (32-bit offsets that wrap).
    """
    options = interpreter.interpreter_builder.options
    interpreter.interpreter_builder.options = dataclasses.replace(options, sanitize_overflow=False)
    try:
        yield
    finally:
        interpreter.interpreter_builder.options = options


@contextlib.contextmanager
def relaxed() -> Iterator[None]:
    """Lets blocks have any length, for one trace: the tutorial draws blocks of 3, which Triton refuses."""
    validate, arange = core.validate_block_shape, semantic.TritonSemantic.arange

    def any_arange(self: Any, start: int, end: int, **options: Any) -> Any:
        if end <= start or end - start & (end - start - 1) == 0:
            return arange(self, start, end, **options)
        whole = arange(self, 0, 1 << (end - start).bit_length())
        part = interpreter.TensorHandle(whole.handle.data[: end - start] + start, tl.int32)
        return core.tensor(part, core.block_type(tl.int32, [end - start]))

    core.validate_block_shape = math.prod
    semantic.TritonSemantic.arange = any_arange
    try:
        yield
    finally:
        core.validate_block_shape = validate
        semantic.TritonSemantic.arange = arange
