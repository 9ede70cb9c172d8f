"""Offsets, masks and values of single accesses, each against NumPy: what memory holds in the end would not tell them apart."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

from kernels.launch import Launch, Tensor, TypeName
from kernels.runtime.records import EVERYTHING, Access, unravel
from kernels.runtime.trace import trace

RANDOM = np.random.default_rng(11)
X = RANDOM.standard_normal(256).astype(np.float32)
WHOLE = RANDOM.integers(-100, 100, 256)
LANES = np.arange(16)


def given(data: np.ndarray, dtype: str = "", **options: Any) -> Tensor:
    return Tensor(data.shape, dtype or data.dtype.name, data=data, **options)


def out(*shape: int, dtype: str = "float32") -> Tensor:
    return Tensor(shape, dtype)


def accesses(kernel: Any, grid: tuple[int, int, int], constants: Mapping[str, Any], **arguments: Any) -> list[Access]:
    launch = Launch(kernel, grid, arguments, constants)
    programs = [unravel(number, grid) for number in range(launch.programs)]
    found = trace(launch, programs, strict=True, limits=EVERYTHING)
    assert found.complete
    return list(found.accesses)


def of(found: list[Access], kind: str, argument: str) -> list[Access]:
    return [access for access in found if (access.kind, access.argument) == (kind, argument)]


def same(access: Access, offsets: Any, mask: Any = True, values: Any = None) -> None:
    """Offsets of all lanes, the mask, and the values of the lanes that the mask lets through."""
    offsets, mask = np.broadcast_arrays(offsets, mask)
    np.testing.assert_array_equal(access.offsets, offsets)
    np.testing.assert_array_equal(access.mask, mask)
    if values is not None:
        values = np.broadcast_to(values, mask.shape)
        np.testing.assert_allclose(access.values[mask], values[mask], rtol=1e-6, atol=1e-6)


@triton.jit
def cube_kernel(x, y, depth, height, width, WIDE: tl.constexpr):
    plane, row, block = tl.program_id(2), tl.program_id(1), tl.program_id(0)
    column = block * WIDE + tl.arange(0, WIDE)
    at = (plane * tl.num_programs(1) + row) * width + column
    mask = (column < width) & (plane < depth) & (row < height)
    tl.store(y + at, tl.load(x + at, mask=mask, other=-1.0) * 2, mask=mask)


def test_a_grid_of_three_dimensions():
    found = accesses(cube_kernel, (2, 3, 4), {"WIDE": 8}, x=given(X), y=out(256), depth=4, height=3, width=13)
    assert len(found) == 2 * 24
    for access in found:
        block, row, plane = access.program
        column = block * 8 + np.arange(8)
        at, mask = (plane * 3 + row) * 13 + column, column < 13
        same(access, at, mask, X[at] * (2 if access.kind == "store" else 1))
        if access.kind == "load":
            assert (access.values[~mask] == -1).all()
            assert access.defined.all()


@triton.jit
def walking_kernel(x, y, turns, step, WIDE: tl.constexpr):
    pointers = x + tl.arange(0, WIDE)
    total = tl.zeros([WIDE], tl.float32)
    for _ in range(turns):
        total += tl.load(pointers)
        pointers += step
    tl.store(y + tl.arange(0, WIDE), total)


def test_a_pointer_that_a_loop_carries():
    found = accesses(walking_kernel, (1, 1, 1), {"WIDE": 16}, x=given(X), y=out(16), turns=5, step=19)
    for turn, access in enumerate(of(found, "load", "x")):
        same(access, LANES + 19 * turn, values=X[LANES + 19 * turn])
        assert [place.index for place in access.turns] == [turn]
    same(of(found, "store", "y")[0], LANES, values=sum(X[LANES + 19 * turn] for turn in range(5)))


@triton.jit
def branching_kernel(x, y, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    if tl.program_id(0) == 0:
        tl.store(y + at, tl.load(x + at))
        return
    tl.store(y + WIDE + at, tl.load(x + 2 * at) * 3)


def test_programs_that_take_other_ways():
    found = accesses(branching_kernel, (2, 1, 1), {"WIDE": 16}, x=given(X), y=out(32))
    first, second = ([access for access in found if access.program[0] == number] for number in range(2))
    same(first[0], LANES, values=X[:16])
    same(first[1], LANES, values=X[:16])
    same(second[0], 2 * LANES, values=X[:32:2])
    same(second[1], 16 + LANES, values=3 * X[:32:2])
    assert (len(first), len(second)) == (2, 2)


@triton.jit
def loaded(x, at, n):
    return tl.load(x + at, mask=at < n, other=0.0)


@triton.jit
def twice_loaded(x, at, n):
    return loaded(x, at, n) + loaded(x, at + 1, n)


@triton.jit
def nested_kernel(x, y, n, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    both = twice_loaded(x, at, n)
    tl.store(y + at, both)


def test_accesses_of_nested_functions_are_on_the_line_of_the_kernel_that_calls():
    found = accesses(nested_kernel, (1, 1, 1), {"WIDE": 16}, x=given(X), y=out(16), n=12)
    _, first = inspect.getsourcelines(nested_kernel.fn)
    assert [access.line - first for access in found] == [3, 3, 4]
    same(found[0], LANES, LANES < 12, X[LANES])
    same(found[1], LANES + 1, LANES + 1 < 12, X[LANES + 1])
    same(found[2], LANES, values=np.where(LANES < 12, X[:16], 0) + np.where(LANES < 11, X[1:17], 0))


@triton.jit
def scalar_kernel(table, x, y, WIDE: tl.constexpr):
    start = tl.load(table + tl.program_id(0))
    total = tl.sum(tl.load(x + start + tl.arange(0, WIDE)), axis=0)
    tl.store(y + tl.program_id(0), total)


def test_scalars_are_loaded_and_stored():
    starts = np.array([40, 0, 7], np.int64)
    found = accesses(scalar_kernel, (3, 1, 1), {"WIDE": 16}, table=given(starts), x=given(X), y=out(3))
    for number, start in enumerate(starts.tolist()):
        table, x, y = found[3 * number : 3 * number + 3]
        assert (table.offsets.reshape(-1).tolist(), table.values.reshape(-1).tolist()) == ([number], [start])
        same(x, start + LANES, values=X[start : start + 16])
        assert y.offsets.reshape(-1).tolist() == [number]
        assert y.values.reshape(-1)[0] == pytest.approx(X[start : start + 16].sum(), abs=1e-5)


@triton.jit
def tile_kernel(x, y, rows, columns, HIGH: tl.constexpr, WIDE: tl.constexpr):
    row = tl.program_id(0) * HIGH + tl.arange(0, HIGH)
    column = tl.arange(0, WIDE)
    mask = (row[:, None] < rows) & (column[None, :] < columns)
    tile = tl.load(x + row[:, None] * columns + column[None, :], mask=mask, other=0.0)
    tl.store(y + column[:, None] * rows + row[None, :], tl.trans(tile), mask=tl.trans(mask))


def test_a_transpose_of_ragged_tiles():
    matrix = X[: 7 * 11].reshape(7, 11)
    found = accesses(tile_kernel, (2, 1, 1), {"HIGH": 4, "WIDE": 16}, x=given(matrix), y=out(11, 7), rows=7, columns=11)
    for number in range(2):
        row, column = number * 4 + np.arange(4), np.arange(16)
        mask = (row[:, None] < 7) & (column < 11)
        load, store = (access for access in found if access.program[0] == number)
        expected = np.zeros((4, 16), np.float32)
        expected[mask] = matrix[np.broadcast_to(row[:, None], mask.shape)[mask], np.broadcast_to(column, mask.shape)[mask]]
        same(load, row[:, None] * 11 + column, mask, expected)
        same(store, column[:, None] * 7 + row, mask.T, expected.T)


@triton.jit
def converted_kernel(x, y, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(y + at, tl.load(x + at))


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_of_every_size_are_copied_to_the_bit(dtype):
    ends = np.iinfo(dtype)
    numbers = np.array([ends.min, ends.max, 0, 1, *WHOLE[:12] % 100], dtype)
    load, store = accesses(converted_kernel, (1, 1, 1), {"WIDE": 16}, x=given(numbers), y=out(16, dtype=dtype))
    assert load.values.tolist() == store.values.tolist() == numbers.tolist()
    assert (load.dtype, store.dtype) == (dtype, dtype)


@pytest.mark.parametrize(("dtype", "numpy"), [("float16", np.float16), ("float64", np.float64)])
def test_a_store_rounds_to_the_dtype_of_the_tensor(dtype, numpy):
    large = X[:16] * 1000.1
    _, store = accesses(converted_kernel, (1, 1, 1), {"WIDE": 16}, x=given(large), y=out(16, dtype=dtype))
    assert store.values.tolist() == large.astype(numpy).tolist()


def test_a_store_to_bfloat16_rounds_to_the_nearest_even():
    numbers = np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-9, -1 - 3 * 2.0**-8] * 4, np.float32)
    _, store = accesses(converted_kernel, (1, 1, 1), {"WIDE": 16}, x=given(numbers), y=out(16, dtype="bfloat16"))
    assert store.values[:4].tolist() == [1.0, 1 + 2.0**-6, 1.0, -1 - 2.0**-6]


FLOAT8 = {"float8_e4m3fn": [1.0, 448.0, 0.40625, -2.0], "float8_e5m2": [1.0, 448.0, 0.4375, -2.0]}


@triton.jit
def narrow_kernel(x, y, KIND: tl.constexpr, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(y + at, tl.load(x + at).to(KIND))


@pytest.mark.parametrize(("dtype", "kind"), [("float8_e4m3fn", "float8e4nv"), ("float8_e5m2", "float8e5")])
def test_a_store_to_float8_has_the_numbers_of_its_bits(dtype, kind):
    numbers = np.array([1.0, 448.0, 0.41, -2.0] * 4, np.float32)
    constants = {"KIND": TypeName(kind), "WIDE": 16}
    _, store = accesses(narrow_kernel, (1, 1, 1), constants, x=given(numbers), y=out(16, dtype=dtype))
    assert store.values[:4].tolist() == FLOAT8[dtype]


@triton.jit
def shapes_kernel(x, y, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    even, odd = tl.split(tl.reshape(tl.load(x + tl.arange(0, 2 * WIDE)), (WIDE, 2)))
    tl.store(y + at, even - odd)
    tl.store(y + WIDE + tl.arange(0, 2 * WIDE), tl.interleave(odd, even))
    best, place = tl.max(even, axis=0, return_indices=True)
    tl.store(y + 3 * WIDE, best)
    tl.store(y + 3 * WIDE + 1, place.to(tl.float32))
    tl.store(y + 4 * WIDE + at, tl.cumsum(even, axis=0))
    tl.store(y + 5 * WIDE + at, tl.flip(odd, 0))


def test_shapes_are_taken_apart_and_put_together():
    found = accesses(shapes_kernel, (1, 1, 1), {"WIDE": 16}, x=given(X), y=out(96))
    even, odd = X[:32:2], X[1:32:2]
    stores = of(found, "store", "y")
    same(stores[0], LANES, values=even - odd)
    same(stores[1], 16 + np.arange(32), values=np.stack((odd, even), 1).reshape(-1))
    assert float(stores[2].values.reshape(-1)[0]) == even.max()
    assert float(stores[3].values.reshape(-1)[0]) == even.argmax()
    same(stores[4], 64 + LANES, values=even.cumsum())
    same(stores[5], 80 + LANES, values=odd[::-1])


@triton.jit
def hinted_kernel(x, y, WIDE: tl.constexpr):
    at = tl.max_contiguous(tl.multiple_of(tl.arange(0, WIDE), 16), 16)
    values = tl.load(x + at, eviction_policy="evict_first", cache_modifier=".cg", volatile=True)
    tl.store(y + at, tl.clamp(values, -0.5, 0.5), eviction_policy="evict_last")


def test_hints_change_nothing():
    load, store = accesses(hinted_kernel, (1, 1, 1), {"WIDE": 16}, x=given(X), y=out(16))
    same(load, LANES, values=X[:16])
    same(store, LANES, values=X[:16].clip(-0.5, 0.5))


@triton.jit
def swizzled_kernel(y, high, wide, GROUP: tl.constexpr):
    row, column = tl.swizzle2d(tl.program_id(0), tl.program_id(1), high, wide, GROUP)
    tl.store(y + row * wide + column, tl.program_id(0) * wide + tl.program_id(1))


def test_swizzled_programs_write_every_element_once():
    found = accesses(swizzled_kernel, (5, 3, 1), {"GROUP": 2}, y=out(15, dtype="int32"), high=5, wide=3)
    assert sorted(int(access.offsets.reshape(-1)[0]) for access in found) == list(range(15))
    # Groups of two rows, down the column first: (0, 0), (1, 0), (0, 1), ... then what is left of a row alone.
    order = {int(access.values.reshape(-1)[0]): int(access.offsets.reshape(-1)[0]) for access in found}
    assert [order[number] for number in range(15)] == [0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11, 12, 13, 14]


@triton.jit
def overflowing_kernel(y, n, WIDE: tl.constexpr):
    tl.store(y + tl.arange(0, WIDE), n * tl.arange(0, WIDE))


def test_whole_numbers_wrap_in_32_bits():
    (store,) = accesses(overflowing_kernel, (1, 1, 1), {"WIDE": 16}, y=out(16, dtype="int32"), n=2**30)
    assert store.values.tolist() == (np.arange(16) * 2**30).astype(np.int32).tolist()


@triton.jit
def masked_row_kernel(x, y, n, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n + 2)


def test_a_masked_lane_without_other_is_undefined_where_it_is_stored():
    load, store = accesses(masked_row_kernel, (1, 1, 1), {"WIDE": 16}, x=given(X), y=out(16), n=9)
    same(load, LANES, LANES < 9, X[:16])
    same(store, LANES, LANES < 11)
    assert load.defined.tolist() == store.defined.tolist() == (LANES < 9).tolist()


@triton.jit
def compare_and_swap_kernel(x, y, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(y + at, tl.atomic_cas(x + at // 2, 5, 6 + at))


def test_lanes_that_swap_one_element_come_one_after_the_other():
    numbers = np.array([5, 5, 0, 5, 1, 5, 5, 2], np.int32)
    found = accesses(compare_and_swap_kernel, (1, 1, 1), {"WIDE": 16}, x=given(numbers), y=out(16, dtype="int32"))
    before, memory = [], numbers.tolist()
    for lane in range(16):
        before.append(memory[lane // 2])
        if memory[lane // 2] == 5:
            memory[lane // 2] = 6 + lane
    same(of(found, "store", "y")[0], LANES, values=np.array(before))
    assert [access.atomic for access in found] == [True, True, False]
