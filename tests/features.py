"""Kernels of one feature each, with arguments and what NumPy makes of them: what a tracer for any kernel must get right.

A case gives the launch, the programs in order, and the outputs that must be in memory afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice

from kernels.launch import Descriptor, Launch, Tensor, TypeName

N, BLOCK = 100, 64
RANDOM = np.random.default_rng(7)
X = RANDOM.standard_normal(128).astype(np.float32)
Y = RANDOM.standard_normal(128).astype(np.float32)
M = RANDOM.standard_normal((64, 64)).astype(np.float32)
INDEX = RANDOM.integers(0, 8, 128).astype(np.int32)


def given(data: np.ndarray, dtype: str = "", **options: Any) -> Tensor:
    return Tensor(data.shape, dtype or data.dtype.name, data=data, **options)


def output(*shape: int, dtype: str = "float32") -> Tensor:
    return Tensor(shape, dtype)


@dataclass(frozen=True)
class Case:
    launch: Launch
    outputs: Mapping[str, np.ndarray]


CASES: dict[str, Callable[[], Case]] = {}


def case(function: Callable[[], Case]) -> Callable[[], Case]:
    CASES[function.__name__] = function
    return function


def launched(
    kernel: Any, programs: int, outputs: Mapping[str, np.ndarray], constants: Mapping[str, Any], **arguments: Any
) -> Case:
    return Case(Launch(kernel, (programs, 1, 1), arguments, constants), outputs)


@triton.jit
def add_pair(a, b):
    return a + b


@triton.jit
def scan_kernel(x, out, WIDE: tl.constexpr):
    at = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    tl.store(out + at, tl.associative_scan(tl.load(x + at), 0, add_pair))


@case
def associative_scan():
    return launched(scan_kernel, 2, {"out": X.reshape(2, 64).cumsum(1).reshape(-1)}, {"WIDE": 64}, x=given(X), out=output(128))


@triton.jit
def reduce_kernel(x, out, WIDE: tl.constexpr):
    at = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    tl.store(out + tl.program_id(0), tl.reduce(tl.load(x + at), 0, add_pair))


@case
def reduce():
    return launched(reduce_kernel, 2, {"out": X.reshape(2, 64).sum(1)}, {"WIDE": 64}, x=given(X), out=output(2))


@triton.jit
def sort_kernel(x, out, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(out + at, tl.sort(tl.load(x + at)))


@case
def sort():
    return launched(sort_kernel, 1, {"out": np.sort(X[:16])}, {"WIDE": 16}, x=given(X), out=output(16))


@triton.jit
def histogram_kernel(x, out, WIDE: tl.constexpr):
    tl.store(out + tl.arange(0, 8), tl.histogram(tl.load(x + tl.arange(0, WIDE)), 8))


@case
def histogram():
    counts = np.bincount(INDEX, minlength=8).astype(np.int32)
    return launched(histogram_kernel, 1, {"out": counts}, {"WIDE": 128}, x=given(INDEX), out=output(8, dtype="int32"))


@triton.jit
def gather_kernel(x, index, out, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(out + at, tl.gather(tl.load(x + at), tl.load(index + at), 0))


@case
def gather():
    return launched(gather_kernel, 1, {"out": X[INDEX]}, {"WIDE": 128}, x=given(X), index=given(INDEX), out=output(128))


@triton.jit
def indirect_kernel(x, index, out, n, WIDE: tl.constexpr):
    at = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    mask = at < n
    tl.store(out + at, tl.load(x + tl.load(index + at, mask=mask, other=0), mask=mask), mask=mask)


@case
def a_load_at_loaded_offsets():
    arguments = {"x": given(X), "index": given(INDEX), "out": output(N), "n": N}
    return launched(indirect_kernel, 2, {"out": X[INDEX][:N]}, {"WIDE": BLOCK}, **arguments)


@triton.jit
def random_kernel(out, seed, WIDE: tl.constexpr):
    at = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    values = tl.rand(seed, at)
    tl.store(out + at, tl.where((values >= 0) & (values < 1), 1.0, 0.0))


@case
def random_numbers():
    return launched(random_kernel, 2, {"out": np.ones(128, np.float32)}, {"WIDE": 64}, out=output(128), seed=7)


@triton.jit
def libdevice_kernel(x, out, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(out + at, libdevice.tanh(tl.load(x + at)) + libdevice.pow(2.0, tl.load(x + at)))


@case
def libdevice_functions():
    return launched(libdevice_kernel, 1, {"out": np.tanh(X) + 2.0**X}, {"WIDE": 128}, x=given(X), out=output(128))


@triton.jit
def static_kernel(x, out, WIDE: tl.constexpr):
    for turn in tl.static_range(0, 2):
        at = turn * WIDE + tl.arange(0, WIDE)
        tl.store(out + at, tl.load(x + at) * 2)


@case
def static_range():
    return launched(static_kernel, 1, {"out": 2 * X}, {"WIDE": 64}, x=given(X), out=output(128))


@triton.jit
def range_kernel(x, out, turns, WIDE: tl.constexpr):
    for turn in tl.range(0, turns, num_stages=3):
        at = turn * WIDE + tl.arange(0, WIDE)
        tl.store(out + at, tl.load(x + at) + turn.to(tl.float32))


@case
def a_loop_variable_as_a_tensor():
    expected = X + np.repeat([0.0, 1.0], 64).astype(np.float32)
    return launched(range_kernel, 1, {"out": expected}, {"WIDE": 64}, x=given(X), out=output(128), turns=2)


@triton.jit
def while_kernel(x, out, n, WIDE: tl.constexpr):
    start = 0
    while start < n:
        at = start + tl.arange(0, WIDE)
        tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)
        start += WIDE


@case
def while_loop():
    return launched(while_kernel, 1, {"out": X[:N]}, {"WIDE": 32}, x=given(X), out=output(N), n=N)


@triton.jit
def block_pointer_kernel(x, out, HIGH: tl.constexpr):
    first = tl.program_id(0) * HIGH
    source = tl.make_block_ptr(x, (60, 64), (64, 1), (first, 0), (HIGH, 64), (1, 0))
    target = tl.make_block_ptr(out, (60, 64), (64, 1), (first, 0), (HIGH, 64), (1, 0))
    tl.store(target, tl.load(source, boundary_check=(0, 1)), boundary_check=(0, 1))


@case
def block_pointers():
    return launched(block_pointer_kernel, 2, {"out": M[:60]}, {"HIGH": 32}, x=given(M[:60].copy()), out=output(60, 64))


@triton.jit
def descriptor_kernel(x, out, HIGH: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [60, 64], [64, 1], [HIGH, 64])
    target = tl.make_tensor_descriptor(out, [60, 64], [64, 1], [HIGH, 64])
    first = tl.program_id(0) * HIGH
    target.store([first, 0], source.load([first, 0]))


@case
def device_descriptors():
    return launched(descriptor_kernel, 2, {"out": M[:60]}, {"HIGH": 32}, x=given(M[:60].copy()), out=output(60, 64))


@triton.jit
def host_descriptor_kernel(source, out, HIGH: tl.constexpr):
    first = tl.program_id(0) * HIGH
    at = (first + tl.arange(0, HIGH))[:, None] * 64 + tl.arange(0, 64)[None, :]
    tl.store(out + at, source.load([first, 0]))


@case
def host_descriptors():
    source = Descriptor(given(M), (32, 64))
    return launched(host_descriptor_kernel, 2, {"out": M}, {"HIGH": 32}, source=source, out=output(64, 64))


@triton.jit
def dot_kernel(a, out, PRECISION: tl.constexpr):
    row = tl.arange(0, 64)
    at = row[:, None] * 64 + row[None, :]
    tile = tl.load(a + at)
    tl.store(out + at, tl.dot(tile, tile, input_precision=PRECISION))


@case
def a_text_as_a_constant():
    return launched(dot_kernel, 1, {"out": M @ M}, {"PRECISION": "ieee"}, a=given(M), out=output(64, 64))


@triton.jit
def typed_kernel(x, out, KIND: tl.constexpr, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(out + at, tl.load(x + at).to(KIND))


@case
def a_type_as_a_constant():
    constants = {"KIND": TypeName("int32"), "WIDE": 128}
    expected = (4 * X).astype(np.int32)
    return launched(typed_kernel, 1, {"out": expected}, constants, x=given(4 * X), out=output(128, dtype="int32"))


@triton.jit
def printing_kernel(x, out, WIDE: tl.constexpr):
    tl.device_print("x", tl.program_id(0))
    tl.device_assert(tl.program_id(0) >= 0, "negative")
    tl.static_assert(WIDE > 0)
    tl.debug_barrier()
    tl.store(out + tl.arange(0, WIDE), tl.load(x + tl.arange(0, WIDE)))


@case
def prints_and_asserts():
    return launched(printing_kernel, 1, {"out": X}, {"WIDE": 128}, x=given(X), out=output(128))


@triton.jit
def bfloat16_kernel(x, out, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(out + at, (tl.load(x + at) * 2).to(tl.bfloat16))


@case
def bfloat16():
    rounded = (X.view(np.uint32) & 0xFFFF0000).view(np.float32)
    tensors = {"x": Tensor((128,), "bfloat16", data=rounded), "out": output(128, dtype="bfloat16")}
    return launched(bfloat16_kernel, 1, {"out": 2 * rounded}, {"WIDE": 128}, **tensors)


@triton.jit
def widening_kernel(x, out, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(out + at, tl.load(x + at).to(tl.float32))


@case
def float8():
    bits = np.array([0x38, 0x40, 0xB8, 0x00, 0x7E, 0x01, 0x08, 0xC4], np.uint8)
    numbers = np.array([1.0, 2.0, -1.0, 0.0, 448.0, 2.0**-9, 2.0**-6, -3.0], np.float32)
    tensors = {"x": Tensor((8,), "float8_e4m3fn", data=bits), "out": output(8)}
    return launched(widening_kernel, 1, {"out": numbers}, {"WIDE": 8}, **tensors)


@case
def booleans():
    flags = X > 0
    return launched(widening_kernel, 1, {"out": flags.astype(np.float32)}, {"WIDE": 128}, x=given(flags), out=output(128))


@case
def float64():
    wide = X.astype(np.float64)
    return launched(widening_kernel, 1, {"out": wide}, {"WIDE": 128}, x=given(wide), out=output(128, dtype="float64"))


@triton.jit
def bitcast_kernel(x, out, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(out + at, tl.load(x + at).to(tl.int32, bitcast=True) & 0xFF)


@case
def bitcast():
    expected = X.view(np.int32) & 0xFF
    return launched(bitcast_kernel, 1, {"out": expected}, {"WIDE": 128}, x=given(X), out=output(128, dtype="int32"))


@triton.jit
def pointer_cast_kernel(x, out, KIND: tl.constexpr, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(out + at, tl.load(x.to(tl.pointer_type(KIND)) + at))


@case
def a_pointer_cast_to_another_type_of_the_size():
    constants = {"KIND": TypeName("int32"), "WIDE": 128}
    out = output(128, dtype="int32")
    return launched(pointer_cast_kernel, 1, {"out": X.view(np.int32)}, constants, x=given(X), out=out)


@case
def a_pointer_cast_to_a_smaller_type():
    constants = {"KIND": TypeName("int16"), "WIDE": 256}
    out = output(256, dtype="int16")
    return launched(pointer_cast_kernel, 1, {"out": X.view(np.int16)}, constants, x=given(X), out=out)


@case
def a_pointer_cast_to_a_larger_type():
    constants = {"KIND": TypeName("int64"), "WIDE": 64}
    out = output(64, dtype="int64")
    return launched(pointer_cast_kernel, 1, {"out": X.view(np.int64)}, constants, x=given(X), out=out)


@triton.jit
def atomic_kernel(x, index, out, n, WIDE: tl.constexpr):
    at = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    mask = at < n
    tl.atomic_add(out + tl.load(index + at, mask=mask, other=0), tl.load(x + at, mask=mask, other=0), mask=mask)


@case
def atomic_add_where_lanes_meet():
    expected = np.zeros(8, np.float32)
    np.add.at(expected, INDEX[:N], X[:N])
    arguments = {"x": given(X), "index": given(INDEX), "out": given(np.zeros(8, np.float32)), "n": N}
    return launched(atomic_kernel, 2, {"out": expected}, {"WIDE": BLOCK}, **arguments)


@triton.jit
def atomic_max_kernel(x, out, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.atomic_max(out + at * 0, tl.load(x + at))


@case
def atomic_max_of_integers():
    numbers = (INDEX * 3 - 7).astype(np.int32)
    arguments = {"x": given(numbers), "out": given(np.array([-100], np.int32))}
    return launched(atomic_max_kernel, 1, {"out": numbers.max(keepdims=True)}, {"WIDE": 128}, **arguments)


@case
def atomic_max_of_floats():
    arguments = {"x": given(X), "out": given(np.array([-100], np.float32))}
    return launched(atomic_max_kernel, 1, {"out": X.max(keepdims=True)}, {"WIDE": 128}, **arguments)


@triton.jit
def lock_kernel(lock, count):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(count, tl.load(count) + 1)
    tl.atomic_xchg(lock, 0)


@case
def a_lock():
    arguments = {"lock": given(np.zeros(1, np.int32)), "count": given(np.zeros(1, np.int32))}
    outputs = {"lock": np.zeros(1, np.int32), "count": np.array([5], np.int32)}
    return launched(lock_kernel, 5, outputs, {}, **arguments)


@triton.jit
def tuple_kernel(pair, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(pair[1] + at, tl.load(pair[0] + at))


@case
def a_tuple_of_tensors():
    return launched(tuple_kernel, 1, {"pair[1]": X}, {"WIDE": 128}, pair=(given(X), output(128)))


@triton.jit
def either_kernel(x, y, out, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(out + at, tl.load(tl.where(at % 3 == 0, x + at, y + at)))


@case
def one_load_from_two_arguments():
    expected = np.where(np.arange(128) % 3 == 0, X, Y)
    return launched(either_kernel, 1, {"out": expected}, {"WIDE": 128}, x=given(X), y=given(Y), out=output(128))


@triton.jit
def optional_kernel(x, bias, scale, out, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    values = tl.load(x + at) * scale.to(tl.float32)
    if bias is not None:
        values += tl.load(bias + at)
    tl.store(out + at, values)


@case
def none_and_a_run_time_float():
    arguments = {"x": given(X), "bias": None, "scale": 0.5, "out": output(128)}
    return launched(optional_kernel, 1, {"out": X * np.float32(0.5)}, {"WIDE": 128}, **arguments)


@triton.jit
def applied_kernel(x, out, FUNCTION: tl.constexpr, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(out + at, FUNCTION(tl.load(x + at), 1.0))


@case
def a_jit_function_as_a_constant():
    constants = {"FUNCTION": add_pair, "WIDE": 128}
    return launched(applied_kernel, 1, {"out": X + 1}, constants, x=given(X), out=output(128))


@triton.autotune([triton.Config({"WIDE": 64}), triton.Config({"WIDE": 128})], key=["n"])
@triton.heuristics({"EVEN": lambda given: given["n"] % 64 == 0})
@triton.jit
def tuned_kernel(x, out, n, EVEN: tl.constexpr, WIDE: tl.constexpr):
    at = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    if EVEN:
        tl.store(out + at, tl.load(x + at))
    else:
        tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)


@case
def autotuned_with_heuristics():
    return launched(tuned_kernel, 2, {"out": X[:N]}, {}, x=given(X), out=output(N), n=N)


@triton.jit
def assembly_kernel(x, out, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    values = tl.load(x + at)
    tl.store(
        out + at, tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [values], dtype=tl.float32, is_pure=True, pack=1)
    )


def inline_assembly() -> Launch:
    return launched(assembly_kernel, 1, {}, {"WIDE": 128}, x=given(X), out=output(128)).launch
