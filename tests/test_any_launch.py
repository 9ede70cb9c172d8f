"""Kernels of one feature each, and tensors as they are: traced memory is NumPy's, offsets are those of the storage."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as some
from triton.runtime.errors import InterpreterError

from kernels.launch import Launch, Tensor, unwrapped
from kernels.runtime.memory import VirtualTensor
from kernels.runtime.records import EVERYTHING, Limits, unravel
from kernels.runtime.trace import trace

from . import features


def everything(launch, **options):
    programs = [unravel(number, launch.grid) for number in range(launch.programs)]
    return trace(launch, programs, **{"strict": True, "limits": EVERYTHING, **options})


def held(tensor: VirtualTensor) -> np.ndarray:
    """The elements of a view as memory holds them, in its shape."""
    view = tensor.tensor
    index = np.full(view.shape, view.offset, np.int64)
    for axis, step in enumerate(view.steps):
        index += (np.arange(view.shape[axis]) * step).reshape([-1 if place == axis else 1 for place in range(len(view.shape))])
    return tensor.shown(tensor.read(index.reshape(-1))).reshape(view.shape)


@pytest.mark.parametrize("name", features.CASES)
def test_memory_after_a_kernel_of_one_feature_is_numpys(name):
    case = features.CASES[name]()
    if name == "block_pointers" and triton.__version__ >= "3.9":
        with pytest.raises(InterpreterError, match="Block pointers have been removed"):
            everything(case.launch)
        return
    found = everything(case.launch, watched=(case.launch.programs - 1, 0, 0))
    assert found.complete
    for argument, expected in case.outputs.items():
        np.testing.assert_allclose(held(found.memory[argument]), expected, rtol=2e-6, atol=2e-6)
    for access in found.accesses:
        assert not access.out_of_bounds.any()


def test_more_than_23_features_are_there():
    assert len(features.CASES) >= 23


def test_inline_assembly_is_refused_with_its_line():
    launch = features.inline_assembly()
    _, first = inspect.getsourcelines(features.assembly_kernel.fn)
    with pytest.raises(InterpreterError, match=r"inline assembly at line .* it can be compiled and timed, not traced") as error:
        everything(launch)
    assert f"line {first + 4}" in str(error.value)


def test_what_libdevice_has_and_numpy_has_not_is_named():
    launch = features.launched(unknown_kernel, 1, {}, {"WIDE": 8}, x=features.given(features.X), out=features.output(8)).launch
    with pytest.raises(InterpreterError, match=r"libdevice\.j0 has no counterpart in NumPy here"):
        everything(launch)


@triton.jit
def unknown_kernel(x, out, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(out + at, features.libdevice.j0(tl.load(x + at)))


def test_lanes_of_one_access_are_split_by_the_argument_that_they_go_to():
    case = features.CASES["one_load_from_two_arguments"]()
    loads = [access for access in everything(case.launch).accesses if access.kind == "load"]
    lanes = np.arange(128)
    assert [access.argument for access in loads] == ["x", "y"]
    assert (loads[0].live == (lanes % 3 == 0)).all()
    assert (loads[1].live == (lanes % 3 != 0)).all()
    assert (loads[1].offsets[loads[1].live] == lanes[lanes % 3 != 0]).all()


def test_an_atomic_is_a_load_and_a_store_of_its_lanes_one_after_the_other():
    case = features.CASES["atomic_max_of_integers"]()
    load, store = (access for access in everything(case.launch).accesses if access.atomic)
    numbers = case.launch.arguments["x"].data
    highest = np.maximum.accumulate(np.concatenate(([-100], numbers)))
    assert load.values.tolist() == highest[:-1].tolist()
    assert store.values.tolist() == highest[1:].tolist()


def test_a_while_counts_its_turns_and_stops_at_the_time_limit():
    case = features.CASES["while_loop"]()
    stores = [access for access in everything(case.launch).accesses if access.kind == "store"]
    assert [access.turns[0].index for access in stores] == [0, 1, 2, 3]
    cut = everything(case.launch, limits=Limits(seconds=0.0))
    assert not cut.complete
    assert len([access for access in cut.accesses if access.kind == "store"]) == 1


def test_a_lock_that_nobody_gives_back_ends_at_the_time_limit():
    launch = features.CASES["a_lock"]().launch.with_arguments(lock=features.given(np.ones(1, np.int32)))
    assert not everything(launch, limits=Limits(seconds=0.3)).complete


def test_an_autotuned_kernel_says_which_configuration_is_taken():
    launch, said = unwrapped(features.CASES["autotuned_with_heuristics"]().launch)
    assert launch.constants == {"WIDE": 64, "EVEN": False}
    assert said.startswith("The first of 2 configurations is taken, not tuned: WIDE: 64")


def test_nothing_is_left_in_the_kernels_module():
    everything(features.CASES["libdevice_functions"]().launch)
    assert not [name for name in vars(features) if name.startswith("_trace")]
    assert features.libdevice.tanh.__module__.startswith("triton.language.extra")


@triton.jit
def copy_kernel(x, out, rows, columns, step_row, step_column, HIGH: tl.constexpr, WIDE: tl.constexpr):
    row, column = tl.arange(0, HIGH)[:, None], tl.arange(0, WIDE)[None, :]
    mask = (row < rows) & (column < columns)
    values = tl.load(x + row * step_row + column * step_column, mask=mask)
    tl.store(out + row * columns + column, values, mask=mask)


@settings(max_examples=40, deadline=None)
@given(some.data())
def test_a_view_of_any_strides_and_offset_is_read_as_numpy_reads_it(data):
    rows, columns = data.draw(some.integers(1, 7)), data.draw(some.integers(1, 7))
    inner = data.draw(some.integers(0, 3))
    outer = data.draw(some.sampled_from([0, max(inner, 1) * columns, max(inner, 1) * columns + 3]))
    steps = data.draw(some.sampled_from([(outer, inner), (max(inner, 1), max(inner, 1) * rows)]))
    offset = data.draw(some.integers(0, 5))
    size = offset + (rows - 1) * steps[0] + (columns - 1) * steps[1] + 1
    memory = np.arange(size + 4, dtype=np.float32)
    storage = Tensor((size + 4,), "float32", data=memory, storage="s")
    view = Tensor((rows, columns), "float32", strides=steps, offset=offset, storage="s", size=size + 4)
    numbers = {"rows": rows, "columns": columns, "step_row": steps[0], "step_column": steps[1]}
    arguments = {"base": storage, "x": view, "out": Tensor((rows, columns), "float32"), **numbers}
    whole = everything(Launch(copy_with_base_kernel, (1, 1, 1), arguments, {"HIGH": 8, "WIDE": 8}))
    expected = np.lib.stride_tricks.as_strided(memory[offset:], (rows, columns), [4 * step for step in steps])
    np.testing.assert_array_equal(held(whole.memory["out"]), expected)
    load = whole.accesses[0]
    assert not load.out_of_bounds.any()
    if load.outside_view is not None:
        assert not load.outside_view.any()


@triton.jit
def copy_with_base_kernel(base, x, out, rows, columns, step_row, step_column, HIGH: tl.constexpr, WIDE: tl.constexpr):
    copy_kernel(x, out, rows, columns, step_row, step_column, HIGH, WIDE)


def test_out_of_bounds_is_outside_the_storage_and_outside_the_view_is_another_mark():
    view = Tensor((4,), "float32", data=np.arange(4, dtype=np.float32), strides=(2,), offset=1, size=9)
    launch = Launch(plain_kernel, (1, 1, 1), {"x": view, "out": Tensor((8,), "float32")}, {"WIDE": 16})
    load = everything(launch).accesses[0]
    assert load.offsets.tolist() == list(range(1, 17))
    assert np.flatnonzero(load.out_of_bounds).tolist() == list(range(8, 16))
    assert np.flatnonzero(load.outside_view).tolist() == [1, 3, 5, 7]
    assert load.values[[0, 2, 4, 6]].tolist() == [0, 1, 2, 3]


def test_an_expanded_gradient_has_one_element_of_storage():
    gradient = Tensor((16,), "float32", data=np.full(16, 3.0, np.float32), strides=(0,))
    launch = Launch(plain_kernel, (1, 1, 1), {"x": gradient, "out": Tensor((16,), "float32")}, {"WIDE": 16})
    load = everything(launch).accesses[0]
    assert load.out_of_bounds.sum() == 15
    assert load.values[0] == 3.0


@triton.jit
def plain_kernel(x, out, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(out + at, tl.load(x + at), mask=at < 8)


@triton.jit
def through_kernel(x, y, out, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(x + at, tl.load(x + at) + 1)
    tl.store(out + at, tl.load(y + at))


def test_what_is_written_through_one_view_is_read_through_another():
    numbers = np.arange(12, dtype=np.float32)
    x = Tensor((12,), "float32", data=numbers, storage="s")
    y = Tensor((8,), "float32", offset=4, storage="s")
    launch = Launch(through_kernel, (1, 1, 1), {"x": x, "y": y, "out": Tensor((8,), "float32")}, {"WIDE": 8})
    found = everything(launch)
    assert held(found.memory["out"]).tolist() == [5, 6, 7, 8, 8, 9, 10, 11]


def test_two_dtypes_on_one_storage_are_refused_in_a_sentence():
    tensors = {name: Tensor((8,), dtype, storage="s") for name, dtype in (("x", "float32"), ("out", "int32"))}
    with pytest.raises(NotImplementedError, match="x as float32 and out as int32: that is not traced"):
        everything(Launch(plain_kernel, (1, 1, 1), tensors, {"WIDE": 8}))
