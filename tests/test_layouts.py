"""Who owns which element: against hand-worked layouts, against Triton's own conversion, and from every compiled kernel."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, strategies

from kernels import DTYPES, Numbers, Problem, Tiling, operators
from kernels.inside.hardware_jobs import analysis_job
from kernels.inside.held import held
from kernels.inside.layouts import Blocked, Linear, Slice, Unknown, owners, parsed, understood
from kernels.inside.threads import agrees
from kernels.inside.widths import widths
from kernels.runtime.device import find_target
from kernels.runtime.request import Request
from kernels.runtime.workers import Workers

from . import hardware_tasks
from .kinds import kind_of
from .limits import PATIENCE
from .properties import examples

EVERY = pytest.mark.parametrize("operator", operators().values(), ids=list(operators()))
ONE = "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"


@pytest.fixture(scope="module")
def compiler():
    workers = Workers()
    yield workers["compile"]
    workers.close()


def large(operator, dtype: str = "float32") -> Request:
    sizes = {"flat": {"n_elements": 2048}, "rows": {"rows": 64, "columns": 4096}, "tiles": {"m": 1024, "n": 1024, "k": 256}}
    problem = Problem(Numbers(sizes[kind_of(operator)]), dtype)
    return Request(operator.name, problem, operator.tiling(problem))


def test_a_vector_by_hand():
    """4 consecutive elements a thread, 128 a warp, 512 in all: then thread 0 has its turn again."""
    found = owners(parsed(ONE), (1024,))
    assert found.elements[0, 0].tolist() == [0, 1, 2, 3, 512, 513, 514, 515]
    assert found.elements[1, 0].tolist() == [128, 129, 130, 131, 640, 641, 642, 643]
    assert found.elements[3, 31].tolist() == [508, 509, 510, 511, 1020, 1021, 1022, 1023]
    threads, registers = found.first()
    assert threads[[0, 3, 4, 127, 128, 511, 512]].tolist() == [0, 0, 1, 31, 32, 127, 0]
    assert registers[[0, 3, 4, 512, 515]].tolist() == [0, 3, 0, 4, 7]


def test_a_matrix_by_hand_rows_first():
    """Order [1, 0]: lanes go along columns first. 2 x 2 threads of 1 x 2 elements, 2 warps down: a tile of 4 by 4."""
    layout = Blocked((1, 2), (2, 2), (2, 1), (1, 0))
    threads, _ = owners(layout, (4, 4)).first()
    assert threads.reshape(4, 4).tolist() == [[0, 0, 1, 1], [2, 2, 3, 3], [4, 4, 5, 5], [6, 6, 7, 7]]


def test_a_matrix_by_hand_columns_first():
    """Order [0, 1]: lanes go down the rows first."""
    layout = Blocked((1, 2), (2, 2), (2, 1), (0, 1))
    threads, registers = owners(layout, (4, 4)).first()
    assert threads.reshape(4, 4).tolist() == [[0, 0, 2, 2], [1, 1, 3, 3], [4, 4, 6, 6], [5, 5, 7, 7]]
    assert registers.reshape(4, 4).tolist() == [[0, 1, 0, 1]] * 4


def test_a_block_smaller_than_the_layout_is_held_several_times():
    found = owners(parsed(ONE), (128,))
    assert found.copies() == 4
    assert found.elements[0].tolist() == found.elements[3].tolist()
    assert found.first()[0].max() == 31
    assert found.holds(np.arange(128) // 4 + 96).all()
    assert not found.holds(np.arange(128) // 4 + 97).any()


def test_slices_and_bits_by_hand():
    parent = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 2], warpsPerCTA = [2, 1], order = [1, 0]}>"
    row = parsed(f"#ttg.slice<{{dim = 0, parent = {parent}}}>")
    assert isinstance(row, Slice)
    assert owners(row, (4,)).elements[0].tolist() == [[0, 1], [2, 3], [0, 1], [2, 3]]
    bits = parsed("#ttg.linear<{register = [[1], [16]], lane = [[2], [4]], warp = [[8]], block = []}>")
    assert owners(bits, (32,)).elements[1, 3].tolist() == [14, 15, 30, 31]


@pytest.mark.parametrize(
    "text",
    [
        "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>",
        "#ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CTAsPerCGA = [2]}>",
        "#ttg.blocked<{something new}>",
        "#ttg.slice<{dim = 1, parent = #ttg.amd_mfma<{version = 3}>}>",
        "garbage",
    ],
)
def test_what_is_not_understood_is_named_and_never_guessed(text):
    layout = parsed(text)
    assert not understood(layout)
    with pytest.raises(ValueError, match="not read from its text"):
        owners(layout, (128, 128) if "slice" not in text else (128,))


def blocked(draw) -> tuple[Blocked, tuple[int, ...]]:
    rank = draw(strategies.integers(1, 3))

    def spread(bits: int) -> tuple[int, ...]:
        sizes = [1] * rank
        for _ in range(bits):
            sizes[draw(strategies.integers(0, rank - 1))] *= 2
        return tuple(sizes)

    order = tuple(draw(strategies.permutations(range(rank))))
    layout = Blocked(spread(draw(strategies.integers(0, 4))), spread(5), spread(draw(strategies.integers(0, 3))), order)
    return layout, tuple(2 ** draw(strategies.integers(0, 6)) for _ in range(rank))


@given(strategies.composite(lambda draw: blocked(draw))())
@examples(150)
def test_every_element_has_one_owner_in_every_copy(made):
    layout, shape = made
    found = owners(layout, shape)
    held_by = np.bincount(found.elements.reshape(-1), minlength=int(np.prod(shape)))
    assert set(held_by.tolist()) == {found.copies()}
    threads, registers = found.first()
    flat = found.elements.reshape(-1, found.registers)
    assert (flat[threads, registers] == np.arange(threads.size)).all()


def test_layouts_are_tritons_own(compiler):
    """Against the conversion in Triton's C++ code, for layouts of every rank, order and size."""
    source = random.Random(0)
    made = []
    for _ in range(120):
        rank = source.randint(1, 3)

        def spread(bits: int, rank: int = rank) -> tuple[int, ...]:
            sizes = [1] * rank
            for _ in range(bits):
                sizes[source.randrange(rank)] *= 2
            return tuple(sizes)

        layout = Blocked(
            spread(source.randint(0, 5)), spread(5), spread(source.randint(0, 3)), tuple(source.sample(range(rank), rank))
        )
        made.append((layout, tuple(2 ** source.randint(0, 8) for _ in range(rank))))
    theirs = compiler.call(hardware_tasks.tritons_own_of_all, made, seconds=PATIENCE)
    for (layout, shape), linear in zip(made, theirs, strict=True):
        assert isinstance(linear, Linear)
        np.testing.assert_array_equal(owners(layout, shape).elements, owners(linear, shape).elements)


@EVERY
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_access_of_every_kernel_is_found_and_understood(compiler, operator, dtype):
    request = large(operator, dtype)
    found = compiler.call(analysis_job, request, find_target("sm_90"), seconds=PATIENCE)
    launch = request.launch()
    wanted = {(one.kind, one.argument) for one in operator.accesses(request.problem, request.tiling, (0, 0, 0))}
    told = {("store" if one.kind == "store" else "load", one.argument) for one in found.accesses}
    assert told == wanted
    for one in found.accesses:
        assert understood(one.layout), one
        assert owners(one.layout, one.shape).warps == launch.num_warps
        assert found.width(one) == 16, one  # every size here is divisible by 16
    sums = [one for one in found.tensors if one.kind == "sum"]
    assert bool(sums) == (kind_of(operator) == "tiles" and dtype != "float32")
    assert all(isinstance(one.layout, Unknown) and one.layout.name == "nvidia_mma" for one in sums)


@pytest.mark.parametrize("target", ["sm_80", "sm_100", "sm_120", "gfx942", "gfx950"])
def test_other_targets_are_read_too(compiler, target):
    for operator in operators().values():
        found = compiler.call(analysis_job, large(operator), find_target(target), seconds=PATIENCE)
        assert found.accesses
        assert all(found.width(one) in (4, 8, 16) for one in found.accesses)
        assert all(one.argument in large(operator).launch().tensors for one in found.accesses)
        assert found.resources.registers


@pytest.mark.parametrize(("n", "width"), [(1024, 16), (1000, 4), (1008, 16), (1, 4)])
def test_loads_are_scalar_where_n_is_not_divisible_by_16(compiler, n, width):
    request = Request("vector_add", Problem(Numbers(n_elements=n)), Tiling(Numbers(BLOCK_SIZE=1024)))
    found = compiler.call(analysis_job, request, find_target("sm_90"), seconds=PATIENCE)
    assert {found.width(one) for one in found.accesses} == {width}


def test_a_refused_launch_has_a_verdict_and_nothing_else(compiler):
    request = Request("vector_add", Problem(Numbers(n_elements=7)), Tiling(Numbers(BLOCK_SIZE=3)))
    found = compiler.call(analysis_job, request, find_target("sm_90"), seconds=PATIENCE)
    assert not found.verdict.launchable
    assert (found.tensors, found.warps) == ((), 0)


def test_widths_by_hand():
    text = """
    .loc 1 31 9
    // begin inline asm
    .loc 1 99 1
    @%p1 ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ];
    // end inline asm
    .loc 1 34 5
    st.global.L1::evict_first.v2.b16 [ %rd5 + 0 ], { %r1, %r2 };
    cp.async.cg.shared.global [ %r29 + 0 ], [ %rd8 + 0 ], 0x10, %r30;
    ld.param.b64 %rd7, [k_param_0];
    ld.shared.b32 %r1, [%r2];
    .loc 1 40 1
    global_load_dwordx4 v[2:5], v[2:3], off
    buffer_store_short v1, v2, s[4:7], 0 offen
    """
    assert widths(text) == {
        (31, "load"): (16,),
        (34, "store"): (4,),
        (34, "copy"): (16,),
        (40, "load"): (16,),
        (40, "store"): (2,),
    }


def test_a_wrong_layout_does_not_agree(compiler):
    """What a launch reads is compared with the layout: one planted a thread wrong, or of another box, must fail."""
    request = large(operators()["vector_add"])
    one = compiler.call(analysis_job, request, find_target("sm_90"), seconds=PATIENCE).accesses[0]
    threads, _ = owners(one.layout, one.shape).first()
    assert agrees(one, threads) is True
    shifted = threads.copy()
    shifted[7] += 1
    assert agrees(one, shifted) is False
    other, _ = owners(Blocked((2,), (32,), (4,), (0,)), one.shape).first()
    assert agrees(one, other) is False
    assert agrees(one, None) is None


@EVERY
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_instrumented_copies_compile_and_change_nothing_else(compiler, operator, dtype):
    told = compiler.call(hardware_tasks.instrumented, large(operator, dtype), find_target("sm_90"), seconds=PATIENCE)
    assert told["signature"] == len(told["parameters"]) + 1
    plain, with_threads, with_schedule = told["threads"]
    assert with_threads > plain
    assert told["timers"] == [0, 0, 2]
    assert told["units"] == [0, 0, 1]
    assert len(set(told["shared"])) == 1
    assert told["same"]
    assert with_schedule <= plain + 2


@EVERY
def test_the_clock_is_read_before_the_first_load_and_after_the_last_store(compiler, operator):
    """In the machine code, past every optimisation: clock, work, all warps there, clock and unit, and only then the telling."""
    found = compiler.call(hardware_tasks.order_of_work, large(operator), find_target("sm_90"), seconds=PATIENCE)
    first, last = (place for place, kind in enumerate(found) if kind == "clock")
    work = [place for place, kind in enumerate(found) if kind in ("load", "store")]
    told = [place for place, kind in enumerate(found) if kind == "told"]
    assert first < min(work)
    assert max(work) < last
    assert found[last - 1] == "wait"
    assert len(told) == 3
    assert last < min(told)
    assert last < found.index("unit") < max(told)


def test_nothing_is_found_in_a_text_that_is_no_ttgir():
    assert held("", large(operators()["vector_add"]).launch()) == ()
