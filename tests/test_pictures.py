"""Pictures: what a page shows of a trace is the trace, bounded at any size, and the same from every source."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kernels import Numbers, Problem, Tiling, operators
from kernels.runtime.arithmetic import MOST_ACCESSES, arithmetic
from kernels.runtime.draw import draw, programs_to_show, programs_to_trace
from kernels.runtime.faults import never_written
from kernels.runtime.picture import Picture
from kernels.runtime.provenance import origin
from kernels.runtime.recorded import recorded_picture
from kernels.runtime.records import EVERYTHING, Limits, linear, unravel
from kernels.runtime.request import Request
from kernels.runtime.selftest import selftest
from kernels.runtime.settings import corrected
from kernels.runtime.trace import trace
from kernels.runtime.wrap import wrap
from kernels.storage import codec

from .examples import problems
from .kinds import kind_of
from .properties import examples

EVERY = pytest.mark.parametrize("operator", operators().values(), ids=list(operators()))
# The backward pass reads its own sums back in a loop; they stay on the chip, and the formula does not count them.
READ_ONCE = [operator for name, operator in operators().items() if name != "rms_norm_backward"]
EXAMPLES = [(operator, preset) for operator in operators().values() for preset in operator.presets]


def vector(n: int, block: int, **more) -> Request:
    return Request("vector_add", Problem(Numbers(n_elements=n)), Tiling(Numbers(BLOCK_SIZE=block)), **more)


def rows(name: str, count: int, columns: int, block: int, **more) -> Request:
    return Request(name, Problem(Numbers(rows=count, columns=columns)), Tiling(Numbers(BLOCK_SIZE=block)), **more)


def example(operator, preset) -> tuple[Request, int]:
    texts = {name: str(value) for name, value in {**preset.sizes, **preset.blocks}.items()}
    found, _ = corrected({"operator": operator.name, "dtype": preset.dtype, **texts})
    return found.request, found.program


def test_the_installed_triton_is_understood():
    assert selftest() is None


def test_the_self_test_can_fail(monkeypatch):
    monkeypatch.setattr("kernels.runtime.selftest.N", 8)
    assert "wrong" in selftest()


def test_the_relaxation_for_a_block_of_3_is_undone():
    import triton.language as tl
    from triton.language import core, semantic

    before = core.validate_block_shape, semantic.TritonSemantic.arange, semantic.TritonSemantic.load
    draw(vector(7, 3), 2)
    assert (core.validate_block_shape, semantic.TritonSemantic.arange, semantic.TritonSemantic.load) == before
    with pytest.raises(ValueError, match="power of 2"):
        tl.block_type(tl.int32, [3])


@EVERY
@examples(20)
@given(data=st.data())
def test_groups_count_the_lanes_of_the_trace(operator, data):
    problem, tiling = data.draw(problems(operator).filter(lambda drawn: operator.plan(*drawn).programs > 0))
    request = Request(operator.name, problem, tiling)
    launch = request.launch()
    chosen = data.draw(st.integers(0, launch.programs - 1))
    picture = draw(request, chosen)
    exact = trace(launch, [unravel(chosen, launch.grid)], limits=EVERYTHING).accesses
    shown = picture.accesses_of(picture.chosen)
    assert len(shown) == len(exact)
    for lanes, access in zip(shown, exact, strict=True):
        assert (lanes.kind, lanes.argument, lanes.line) == (access.kind, access.argument, access.line)
        assert lanes.live.sum() == access.live.sum()
        assert lanes.first.flat[0] == access.offsets.flat[0]
        assert lanes.last.flat[-1] == access.offsets.flat[-1]
    assert picture.origin == "traced"
    assert picture.complete


@EVERY
def test_pictures_are_small_at_any_size(operator):
    sizes = {
        "flat": {"n_elements": 2**40},
        "rows": {"rows": 2**20, "columns": 2**20},
        "tiles": {"m": 2**20, "n": 2**20, "k": 2**20},
    }
    problem = Problem(Numbers(sizes[kind_of(operator)]), "float16")
    request = Request(operator.name, problem, operator.tiling(problem))
    picture = draw(request, request.launch().programs // 2, limits=Limits(seconds=0.3))
    assert len(pickle.dumps(picture)) < 700_000
    assert len(picture.shown) <= 8
    assert max(lanes.first.size for lanes in picture.accesses) <= 256
    assert all(memory.cells.values.size <= 400 for memory in picture.memory)


@EVERY
@examples(15)
@given(data=st.data())
def test_arithmetic_pictures_have_the_traced_offsets_and_masks(operator, data):
    problem, tiling = data.draw(problems(operator).filter(lambda drawn: operator.plan(*drawn).programs > 0))
    request = Request(operator.name, problem, tiling)
    traced, formula = draw(request, 0), arithmetic(request, 0)
    assume(traced.counted is not None and len(traced.accesses_of(traced.chosen)) <= MOST_ACCESSES)  # the whole launch
    assert formula.origin == "formula"
    assert traced.shown == formula.shown
    for ours, theirs in zip(traced.accesses_of(traced.chosen), formula.accesses_of(formula.chosen), strict=True):
        if ours.first.shape == theirs.first.shape:
            np.testing.assert_array_equal(ours.first, theirs.first)
        assert ours.live.sum() == theirs.live.sum()
    for ours, theirs in zip(traced.memory, formula.memory, strict=True):
        np.testing.assert_array_equal(ours.read > 0, theirs.read > 0)
        np.testing.assert_array_equal(ours.written > 0, theirs.written > 0)
        np.testing.assert_array_equal(ours.cells.owner, theirs.cells.owner)


@pytest.mark.parametrize("operator", READ_ONCE, ids=lambda operator: operator.name)
@examples(15)
@given(data=st.data())
def test_counted_bytes_are_the_formulas(operator, data):
    problem, tiling = data.draw(problems(operator).filter(lambda drawn: operator.plan(*drawn).programs > 0))
    picture = draw(Request(operator.name, problem, tiling), 0)
    assume(picture.counted is not None)
    fused = operator.traffic(problem, tiling).fused[0]
    assert picture.counted == (fused.read, fused.written)


@pytest.mark.parametrize(("operator", "preset"), EXAMPLES, ids=[f"{o.name}-{p.title}" for o, p in EXAMPLES])
def test_shipped_pictures_are_what_a_trace_gives_today(operator, preset):
    request, program = example(operator, preset)
    shipped = recorded_picture(request, program)
    assert shipped is not None, "python -m kernels record makes them again"
    assert shipped.origin == "recorded"
    fresh = draw(request, program)
    assert shipped.steps == fresh.steps
    assert shipped.shown == fresh.shown
    for ours, theirs in zip(shipped.accesses, fresh.accesses, strict=True):
        np.testing.assert_array_equal(ours.first, theirs.first)
        np.testing.assert_array_equal(ours.live, theirs.live)
        if theirs.values is not None:
            finite = np.abs(theirs.values[np.isfinite(theirs.values)])
            largest = finite.max(initial=0.0)  # dot products are summed in the order of the BLAS
            np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-5, atol=1e-6 * largest)


def test_a_picture_survives_json():
    picture = draw(rows("rms_norm", 3, 5, 8), 1, step=4)
    again = codec.decoded(Picture, codec.compact(picture), "picture")
    assert (again.steps, again.step, again.active, again.faults) == (
        picture.steps,
        picture.step,
        picture.active,
        picture.faults,
    )
    np.testing.assert_array_equal(again.memory[0].cells.values, picture.memory[0].cells.values)
    assert again.values.keys() == picture.values.keys()


def test_a_step_shows_the_values_of_that_moment():
    picture = draw(vector(7, 4), 1, step=4)
    assert picture.steps[4].line == picture.accesses[picture.active[0]].line
    assert {name for line in picture.values.values() for name in line} == {"pid", "block_start", "offsets", "mask", "x"}
    assert picture.accesses[picture.active[0]].argument == "x_ptr"
    assert picture.accesses[picture.active[0]].program == picture.chosen


def test_which_programs_are_looked_at():
    launch = vector(98432, 1024).launch()
    assert programs_to_trace(launch, 1024, 50) == [0, 49, 50, 51, 96]
    assert programs_to_trace(vector(7, 3).launch(), 3, 1) == [0, 1, 2]
    assert programs_to_show(list(range(40)), 20) == [0, 17, 18, 19, 20, 21, 22, 39]


@pytest.mark.parametrize(
    ("request_", "chosen", "sentences"),
    [
        (
            vector(7, 4, what_if="no_mask"),
            1,
            [
                "Program 1 writes 1 element past the end of output, into bytes 28 to 31.",
                "Program 1 reads 1 element past the end of x, from bytes 28 to 31.",
            ],
        ),
        (
            rows("softmax", 2, 5, 8, what_if="no_mask"),
            0,
            [
                "Program 0 writes 3 elements of output that belong to program 1, inside the tensor: elements 5 to 7.",
                "Program 1 writes 3 elements past the end of output, into bytes 40 to 51.",
            ],
        ),
        (vector(100, 64, what_if="floor_grid"), 0, ["1 program is missing: 36 elements, from 64 on, are never written."]),
        (vector(7, 4, what_if="other"), 1, ["No stored value changes: what masked lanes hold is never stored here."]),
        (vector(7, 4, what_if="stride"), 0, ["Of the values that the programs shown store, 6 change by up to"]),
    ],
)
def test_what_goes_wrong_is_said_with_exact_lanes_and_distances(request_, chosen, sentences):
    said = draw(request_, chosen).faults
    for sentence in sentences:
        assert any(one.startswith(sentence) for one in said), said


def test_the_chosen_programs_faults_come_first():
    said = draw(rows("rms_norm", 6, 5, 8, what_if="no_mask"), 3).faults
    assert said[1].startswith("Program 3 writes")


def test_a_rounded_down_grid_of_tiles_leaves_its_edges_unwritten():
    operator = operators()["matmul_relu"]
    problem = Problem(Numbers(m=40, n=48, k=8))
    tiling = Tiling(Numbers(BLOCK_M=16, BLOCK_N=32, BLOCK_K=8, GROUP_M=0))
    request = Request("matmul_relu", problem, tiling)
    floor = Request("matmul_relu", problem, tiling, what_if="floor_grid")
    said = never_written(request.launch(), floor.launch(), operator.axes(problem, tiling))
    assert said == (f"4 programs are missing: {40 * 48 - 32 * 32:,} elements are never written.",)


@EVERY
@examples(15)
@given(data=st.data())
def test_the_way_of_an_element_leads_to_the_loads_that_fed_it(operator, data):
    problem, tiling = data.draw(problems(operator).filter(lambda drawn: operator.plan(*drawn).programs > 0))
    request = Request(operator.name, problem, tiling)
    launch = request.launch()
    argument = data.draw(st.sampled_from([name for name, tensor in launch.tensors.items() if tensor.filling is None]))
    element = data.draw(st.integers(0, launch.tensors[argument].numel - 1))
    found = origin(request, argument, element)
    assert found.store is not None
    assert (found.store.argument, found.store.element) == (argument, element)
    fed = operator.feeds(problem, tiling, argument, element)
    assert found.count == sum(len(elements) for elements in fed.values())
    for load in found.loads:
        assert load.element in fed[load.argument]
        assert load.program == found.store.program


def test_the_way_of_the_tutorials_last_element():
    found = origin(vector(7, 3), "output_ptr", 6)
    assert (found.store.program, found.store.lane) == (2, 0)
    x, y = found.loads
    assert [(load.argument, load.element, load.lane) for load in found.loads] == [("x_ptr", 6, 0), ("y_ptr", 6, 0)]
    assert found.store.value == pytest.approx(x.value + y.value)


def test_where_32_bit_offsets_would_wrap():
    found = wrap(vector(3 * 2**30, 1024))
    assert (found.program, found.right, found.wrong) == (2**21, 2**31, -(2**31))
    assert wrap(vector(2**31, 1024)) is None
    large = wrap(rows("rms_norm", 300_000, 8192, 8192))
    assert (large.program, large.right) == (2**31 // 8192, 2**31)


def test_nothing_to_draw_is_drawn_as_nothing():
    for request in (vector(0, 8), vector(7, 0), vector(7, 2**21)):
        picture = draw(request, 0)
        assert (picture.shown, picture.accesses, picture.steps) == ((), (), ())
    assert linear((0, 0, 0), (1, 1, 1)) == 0
