"""The traced kernels against hand counts, closed forms and float64: every operator that is found, any size."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import DTYPES, Numbers, Operator, Problem, Tiling, find, operators
from kernels.launch import ITEMSIZE, Launch, TypeName
from kernels.runtime.records import EVERYTHING, Access, Limits, WhatIf, linear, unravel
from kernels.runtime.trace import trace

from .examples import problems, reference
from .kinds import kind_of
from .properties import examples

EVERY = pytest.mark.parametrize("operator", operators().values(), ids=list(operators()))


def whole_grid(launch: Launch, order: list[int] | None = None) -> tuple[Access, ...]:
    numbers = range(launch.programs) if order is None else order
    return trace(launch, [unravel(number, launch.grid) for number in numbers], limits=EVERYTHING).accesses


def written(launch: Launch, accesses: tuple[Access, ...]) -> dict[str, np.ndarray]:
    """What memory holds at the end; NaN where nothing was written."""
    found = {name: np.full(tensor.numel, np.nan) for name, tensor in launch.tensors.items() if tensor.filling is None}
    for access in accesses:
        if access.kind == "store":
            stays = access.live & ~access.out_of_bounds
            found[access.argument][access.offsets[stays]] = access.values[stays]
    return {name: values.reshape(launch.tensors[name].shape) for name, values in found.items()}


def finished(operator: Operator, launch: Launch, accesses: tuple[Access, ...]) -> dict[str, np.ndarray]:
    """The wrapper's outputs, partial results added up as the operator declares."""
    found = {name.removesuffix("_ptr"): values for name, values in written(launch, accesses).items()}
    for name, how in operator.accumulates.items():
        assert "partial.sum(0)" in how
        found["grad_weight"] = found.pop(name.removesuffix("_ptr")).sum(axis=0)
    return found


@EVERY
@examples(40)
@given(data=st.data())
def test_every_output_element_is_written_by_exactly_one_program(operator, data):
    problem, tiling = data.draw(problems(operator))
    launch = operator.plan(problem, tiling)
    writers = defaultdict(set)
    for access in whole_grid(launch):
        assert not access.out_of_bounds.any()
        if access.kind == "store":
            for offset in access.offsets[access.live].tolist():
                writers[access.argument, offset].add(linear(access.program, launch.grid))
    outputs = {name: tensor for name, tensor in launch.tensors.items() if tensor.filling is None}
    expected = {(name, offset) for name, tensor in outputs.items() for offset in range(tensor.numel)}
    assert set(writers) == expected
    assert all(len(programs) == 1 for programs in writers.values())
    for (name, offset), programs in writers.items():
        assert programs == {operator.owner(problem, tiling, name, offset)}


@pytest.mark.slow
@EVERY
@examples(25)
@given(data=st.data())
def test_programs_in_any_order_give_the_same_bits(operator, data):
    problem, tiling = data.draw(problems(operator))
    launch = operator.plan(problem, tiling)
    shuffled = list(range(launch.programs))
    random.Random(data.draw(st.integers(0, 9))).shuffle(shuffled)
    straight, mixed = written(launch, whole_grid(launch)), written(launch, whole_grid(launch, shuffled))
    for name in straight:
        np.testing.assert_array_equal(straight[name], mixed[name])


@EVERY
@examples(40)
@given(data=st.data())
def test_offsets_and_masks_equal_the_closed_form(operator, data):
    problem, tiling = data.draw(problems(operator))
    launch = operator.plan(problem, tiling)
    for number in range(min(launch.programs, 6)):
        program = unravel(number, launch.grid)
        traced = trace(launch, [program], limits=EVERYTHING).accesses
        expected = list(operator.accesses(problem, tiling, program))
        assert [(a.kind, a.argument) for a in traced] == [(e.kind, e.argument) for e in expected]
        for access, form in zip(traced, expected, strict=True):
            np.testing.assert_array_equal(access.offsets, form.offsets)
            np.testing.assert_array_equal(access.mask, form.mask)


@EVERY
@pytest.mark.parametrize("dtype", DTYPES)
@examples(15)
@given(data=st.data())
def test_traced_values_equal_the_float64_reference(operator, dtype, data):
    problem, tiling = data.draw(problems(operator, dtypes=(dtype,)))
    launch = operator.plan(problem, tiling)
    found = finished(operator, launch, whole_grid(launch))
    if not all(tensor.numel for tensor in launch.tensors.values()):
        assert all(not values.any() for values in found.values())
        return
    expected = reference(operator, problem, launch)
    assert set(found) == set(expected) == set(operator.outputs)
    for name, (exact, limit) in expected.items():
        assert found[name].shape == exact.shape
        assert (np.abs(found[name] - exact) <= limit).all()


@EVERY
@examples(25)
@given(data=st.data())
def test_formula_traffic_equals_counted_traffic(operator, data):
    problem, tiling = data.draw(problems(operator))
    launch = operator.plan(problem, tiling)
    touched = {"load": defaultdict(set), "store": defaultdict(set)}
    for access in whole_grid(launch):
        fresh = set(access.offsets[access.live].ravel().tolist())
        if access.kind == "load":
            fresh -= touched["store"][access.argument]  # its own results are still on the chip
        touched[access.kind][access.argument] |= fresh
    size = {name: ITEMSIZE[tensor.dtype] for name, tensor in launch.tensors.items()}
    counted = {kind: sum(len(found) * size[name] for name, found in names.items()) for kind, names in touched.items()}
    fused = operator.traffic(problem, tiling).fused[0]
    assert (counted["load"], counted["store"]) == (fused.read, fused.written)


@EVERY
@examples(25)
@given(data=st.data())
def test_axes_count_the_lanes_of_the_stores(operator, data):
    problem, tiling = data.draw(problems(operator))
    launch, axes = operator.plan(problem, tiling), operator.axes(problem, tiling)
    assert np.prod([axis.programs for axis in axes]) == launch.programs
    for number in range(min(launch.programs, 40)):
        stores = [a for a in trace(launch, [unravel(number, launch.grid)], limits=EVERYTHING).accesses if a.kind == "store"]
        first = [store for store in stores if store.argument == stores[0].argument]
        lanes, live = sum(store.mask.size for store in first), sum(int(store.mask.sum()) for store in first)
        place = [number] if len(axes) == 1 else _tile(operator, problem, tiling, number)
        expected = [(a.lanes, a.last if at == a.programs - 1 else a.live) for a, at in zip(axes, place, strict=True)]
        assert live * np.prod([lanes for lanes, _ in expected]) == lanes * np.prod([live for _, live in expected])


def _tile(operator: Operator, problem: Problem, tiling: Tiling, number: int) -> tuple[int, int]:
    from kernels.matmul_relu import tile_of

    return tile_of(problem, tiling, unravel(number, operator.plan(problem, tiling).grid))


@EVERY
@examples(6)
@given(data=st.data())
def test_what_an_element_depends_on_is_what_poison_reaches(operator, data):
    """Making one element of an input NaN turns exactly those outputs NaN that declare to be fed by it."""
    problem, tiling = data.draw(problems(operator).filter(lambda drawn: operator.plan(*drawn).programs > 0))
    launch = operator.plan(problem, tiling)
    programs = [unravel(number, launch.grid) for number in range(launch.programs)]
    for name, tensor in launch.tensors.items():
        if tensor.filling is None or not tensor.numel:
            continue
        element = data.draw(st.integers(0, tensor.numel - 1))
        reached = written(launch, trace(launch, programs, limits=EVERYTHING, poison={name: [element]}).accesses)
        for output, values in reached.items():
            declared = [element in operator.feeds(problem, tiling, output, at).get(name, ()) for at in range(values.size)]
            assert np.isnan(values).ravel().tolist() == declared


def test_the_tutorials_picture():
    """7 elements in blocks of 3: three programs, the last owns element 6 and masks 7 and 8."""
    operator = find("vector_add")
    launch = operator.plan(Problem(Numbers(n_elements=7)), Tiling(Numbers(BLOCK_SIZE=3)))
    assert launch.grid == (3, 1, 1)
    accesses = trace(launch, [(2, 0, 0)]).accesses
    assert [access.argument for access in accesses] == ["x_ptr", "y_ptr", "output_ptr"]
    assert accesses[0].offsets.tolist() == [6, 7, 8]
    assert accesses[0].mask.tolist() == [True, False, False]
    assert accesses[0].defined.tolist() == [True, False, False]
    assert accesses[2].values[0] == np.float32(accesses[0].values[0] + accesses[1].values[0])


def test_without_its_mask_a_row_kernel_reaches_into_the_next_row():
    operator = find("rms_norm")
    launch = operator.plan(Problem(Numbers(rows=2, columns=5)), Tiling(Numbers(BLOCK_SIZE=8)))
    first, last = (trace(launch, [(row, 0, 0)], what_if=WhatIf(no_mask=True)).accesses[-1] for row in (0, 1))
    assert first.offsets[~first.mask].tolist() == [5, 6, 7]
    assert not first.out_of_bounds.any()
    assert last.offsets[last.out_of_bounds].tolist() == [10, 11, 12]


def test_another_other_changes_a_sum_by_exactly_the_masked_lanes():
    operator = find("rms_norm")
    launch = operator.plan(Problem(Numbers(rows=1, columns=5)), Tiling(Numbers(BLOCK_SIZE=8)))
    steps = {}
    for other in (0.0, 2.0):
        trace_ = trace(launch, [(0, 0, 0)], what_if=WhatIf(other=other), watched=(0, 0, 0))
        steps[other] = {name: variable for step in trace_.steps for name, variable in step.changes.items()}
    assert steps[2.0]["mean"].values == pytest.approx(steps[0.0]["mean"].values + 3 * 4 / 5)


def test_a_single_masked_lane_gets_its_other_too():
    """Triton's interpreter forgets an `other` of 0.0 on a block of one lane."""
    operator = find("matmul_relu")
    tiling = Tiling(Numbers(BLOCK_M=1, BLOCK_N=1, BLOCK_K=1, GROUP_M=0))
    launch = operator.plan(Problem(Numbers(m=1, n=1, k=1)), tiling)
    load = trace(replace(launch, grid=(2, 1, 1)), [(1, 0, 0)]).accesses[0]
    assert (load.mask.tolist(), load.values.tolist(), load.defined.tolist()) == ([[False]], [[0.0]], [[True]])


def test_a_strided_view_without_a_copy_reads_the_wrong_elements():
    operator = find("vector_add")
    launch = operator.plan(Problem(Numbers(n_elements=6)), Tiling(Numbers(BLOCK_SIZE=8)))
    straight, strided = (trace(launch, [(0, 0, 0)], what_if=WhatIf(stride=stride)).accesses[0] for stride in (1, 2))
    assert strided.offsets.tolist() == straight.offsets.tolist()
    assert strided.values[[0, 2, 4]].tolist() == straight.values[[0, 1, 2]].tolist()  # every second one belongs to the view
    assert (strided.values[[1, 3, 5]] != straight.values[[1, 3, 5]]).all()


def test_int32_offsets_wrap_past_two_to_the_31():
    operator = find("vector_add")
    problem, tiling = Problem(Numbers(n_elements=3 * 2**30), "float16"), Tiling(Numbers(BLOCK_SIZE=1024))
    launch = operator.plan(problem, tiling)
    assert launch.constants["OFFSET_TYPE"] == "int64"
    wraps = (2**21, 0, 0)
    right = trace(launch, [wraps]).accesses[0]
    wrong = trace(launch.with_constants(OFFSET_TYPE=TypeName("int32")), [wraps]).accesses[0]
    assert right.offsets[0] == 2**31
    assert wrong.offsets[0] == -(2**31)
    assert wrong.out_of_bounds.all()
    assert wrong.mask.all()
    before = trace(launch.with_constants(OFFSET_TYPE=TypeName("int32")), [(2**21 - 1, 0, 0)]).accesses[0]
    assert not before.out_of_bounds.any()


@pytest.mark.parametrize(("n_elements", "expected"), [(2**31, "int32"), (2**31 - 1, "int32"), (2**31 + 1, "int64")])
def test_the_offset_type_counts_masked_lanes(n_elements, expected):
    launch = find("vector_add").plan(Problem(Numbers(n_elements=n_elements)), Tiling(Numbers(BLOCK_SIZE=1024)))
    assert launch.constants["OFFSET_TYPE"] == expected


@EVERY
def test_every_program_of_the_largest_sizes_stays_in_bounds(operator):
    """At 2^40 elements the last program's offsets are right to the last one."""
    sizes = {"flat": {"n_elements": 2**40 - 5}, "rows": {"rows": 2**21, "columns": 2**19 - 3}}
    problem = Problem(Numbers(sizes.get(kind_of(operator), {"m": 2**20 + 3, "n": 2**19 + 5, "k": 70})), "float16")
    tiling = operator.tiling(problem)
    launch = operator.plan(problem, tiling)
    program = unravel(launch.programs - 1, launch.grid)
    accesses = trace(launch, [program], limits=Limits(seconds=1.0)).accesses
    assert accesses
    for access, form in zip(accesses[:3], operator.accesses(problem, tiling, program), strict=False):
        np.testing.assert_array_equal(access.offsets, form.offsets)
        assert not access.out_of_bounds.any()


def test_a_long_loop_keeps_its_first_and_last_turns_and_those_asked_for():
    operator = find("rms_norm")
    launch = operator.plan(Problem(Numbers(rows=1, columns=1000)), Tiling(Numbers(BLOCK_SIZE=4)))
    plain = trace(launch, [(0, 0, 0)], watched=(0, 0, 0))
    first_loop = [access for access in plain.accesses if access.line == plain.accesses[0].line]
    assert [access.turns[0].index for access in first_loop] == [*range(32), *range(218, 250)]
    assert first_loop[0].turns[0].total == 250
    assert plain.dropped == 4 * (250 - 64)
    asked = trace(launch, [(0, 0, 0)], limits=Limits(window=(100, 103)))
    assert [access.turns[0].index for access in asked.accesses if access.line == plain.accesses[0].line][32:35] == [
        100,
        101,
        102,
    ]


def test_a_trace_out_of_time_says_so():
    operator = find("rms_norm")
    launch = operator.plan(Problem(Numbers(rows=1, columns=2**20)), Tiling(Numbers(BLOCK_SIZE=16)))
    short = trace(launch, [(0, 0, 0)], limits=Limits(seconds=0.05))
    assert not short.complete
    assert short.seconds < 0.5
    assert short.accesses


def test_the_values_of_variables_are_the_kernels_own():
    """Every statement of the watched program is reported, with the turn of its loop."""
    operator = find("rms_norm")
    launch = operator.plan(Problem(Numbers(rows=3, columns=10)), Tiling(Numbers(BLOCK_SIZE=4)))
    steps = trace(launch, [(0, 0, 0), (1, 0, 0)], watched=(1, 0, 0)).steps
    starts = [(step.turns[0].index, int(step.changes["start"].values)) for step in steps if "start" in step.changes]
    assert starts == [(0, 0), (1, 4), (2, 8), (0, 0), (1, 4), (2, 8)]
    columns = [step.changes["columns"].values.tolist() for step in steps if "columns" in step.changes]
    assert columns[:3] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    row_start = next(step.changes["row_start"] for step in steps if "row_start" in step.changes)
    assert int(row_start.values) == 10
