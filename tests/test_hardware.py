"""Occupancy, waves, footprints, sectors, schedules: against NVIDIA's published examples, hand counts and brute force."""

from __future__ import annotations

import collections
import dataclasses
import itertools
import os
import re
from operator import mul
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies

from kernels import Numbers, Problem, Tiling, operators
from kernels.inside.asked import asked, residues
from kernels.inside.examples import EXAMPLES
from kernels.inside.facts import CHIPS, DEFAULT, MULTIPROCESSORS, Multiprocessor, of_gpu
from kernels.inside.footprint import footprint, tiles_in_order, why_not, with_group
from kernels.inside.held import Held
from kernels.inside.layouts import Blocked
from kernels.inside.occupancy import Waves, occupancy
from kernels.inside.recordings import key, nearest, read, recorded, shipped, written
from kernels.inside.schedule import Cost, Schedule, refuse
from kernels.inside.sector_counters import Counts, counts
from kernels.inside.sector_counters import read as read_counters
from kernels.inside.sectors import SECTOR, Touched, access_of, laid_out, patterns, standing_for, touched
from kernels.matmul_relu import tile_of
from kernels.operator import cdiv
from kernels.runtime.device import Gpu, find_target
from kernels.runtime.records import unravel
from kernels.runtime.request import Request

from .properties import examples

# Compute capability 7.0, of which NVIDIA's guides speak in their examples.
V100 = Multiprocessor(64, 4, 8, 64, 32, 96 * 1024, 128 * 1024, shared_reserved=0, shared_unit=256)


@pytest.mark.parametrize(("threads", "programs", "share"), [(128, 12, 0.75), (320, 4, 0.625)])
def test_occupancy_is_the_best_practices_guides(threads, programs, share):
    """CUDA C++ Best Practices Guide, "Calculating Occupancy": 37 registers a thread on compute capability 7.0.

    Blocks of 128 threads give 75 % with 12 blocks, blocks of 320 threads 63 % with 4.
    """
    found = occupancy(V100, threads // 32, 37, 0)
    assert (found.programs, found.share, found.limiting) == (programs, share, ("registers",))


@pytest.mark.parametrize(("registers", "programs"), [(64, 2), (65, 1)])
def test_occupancy_is_the_programming_guides(registers, programs):
    """CUDA C++ Programming Guide, "Multiprocessor Level": blocks of 512 threads on compute capability 6.x.

    With 64 registers a thread two blocks fit into 65,536; with one register more only one does.
    """
    assert occupancy(V100, 16, registers, 0).programs == programs


def test_full_occupancy_takes_32_registers():
    """Best Practices Guide: of 65,536 registers and 2048 threads each thread may have 32."""
    assert occupancy(V100, 8, 32, 0).share == 1.0
    assert occupancy(V100, 8, 33, 0).share < 1.0


def test_what_limits_is_named():
    h100 = MULTIPROCESSORS[90]
    assert occupancy(h100, 1, 16, 0).limiting == ("blocks",)
    assert occupancy(h100, 8, 16, 0).limiting == ("warps",)
    assert occupancy(h100, 4, 16, 100_000).limiting == ("shared",)
    assert occupancy(h100, 32, 255, 0).programs == 0
    assert occupancy(h100, 4, 0, 0).limits["registers"] is None
    # Hopper Tuning Guide: 228 KB an SM, 227 KB a block, 1 KB of each block for the system.
    assert occupancy(h100, 4, 16, 227 * 1024).limits["shared"] == 1
    assert occupancy(h100, 4, 16, 113 * 1024).limits["shared"] == 2
    assert occupancy(h100, 4, 16, 113 * 1024 + 1).limits["shared"] == 1


@pytest.mark.parametrize(
    ("programs", "at_once", "count", "last", "efficiency"),
    [(264, 264, 1, 0, 1.0), (265, 264, 2, 1, 265 / 528), (132, 264, 1, 132, 0.5), (0, 264, 0, 0, None), (5, 0, 0, 0, None)],
)
def test_waves(programs, at_once, count, last, efficiency):
    made = Waves(programs, at_once)
    assert (made.count, made.last, made.efficiency) == (count, last, efficiency)


def test_facts_have_sources_and_fit_each_other():
    assert DEFAULT in CHIPS
    for chip in CHIPS.values():
        assert chip.source
        if chip.multiprocessor is None:  # AMD's are not modelled
            assert (chip.unit, chip.warp_size, chip.cores) == ("CU", 64, None)
            continue
        assert chip.multiprocessor == MULTIPROCESSORS[find_target(chip.target).arch]
        assert chip.multiprocessor.l1_bytes >= chip.multiprocessor.shared_bytes
        assert find_target(chip.target).shared_bytes <= chip.multiprocessor.shared_bytes
    assert CHIPS["RTX 3090"].cores == 10496  # NVIDIA's own count
    assert CHIPS["A100 80 GB"].cores == 6912
    assert CHIPS["H200"].cores == 16896


def test_an_unknown_gpu_stays_unknown():
    target = dataclasses.replace(find_target("sm_90"), name="sm_130", arch=130)
    chip = of_gpu(Gpu(0, "New", None, target, 10, None, None))
    assert (chip.multiprocessor, chip.bandwidth, chip.cores) == (None, None, None)
    h200 = of_gpu(Gpu(0, "H200", None, find_target("sm_90"), 132, 1, 1, 65536, 2048, 3_201_000_000, 6144, 1_980_000_000))
    assert h200.multiprocessor == MULTIPROCESSORS[90]
    assert h200.bandwidth == pytest.approx(4.917e12, rel=1e-3)


def matmul(m: int, n: int, k: int, group: int, block: int = 16) -> Request:
    blocks = Numbers(BLOCK_M=block, BLOCK_N=block, BLOCK_K=16, GROUP_M=group)
    return Request("matmul_relu", Problem(Numbers(m=m, n=n, k=k)), Tiling(blocks))


@pytest.mark.parametrize("group", [0, 1, 2, 3, 8])
@pytest.mark.parametrize(("m", "n", "k"), [(64, 80, 32), (50, 33, 17), (16, 200, 40)])
def test_a_waves_footprint_is_what_its_programs_load(group, m, n, k):
    """Against the distinct elements of a and b that the programs of each wave load, one by one."""
    request = matmul(m, n, k, group)
    launch, operator = request.launch(), request.description
    for at_once in (3, 7, 1000):
        made = footprint(request, at_once)
        assert sum(len(wave.tiles) for wave in made.waves) == launch.programs
        for wave in made.waves:
            seen = {"a_ptr": set(), "b_ptr": set()}
            for number in range(wave.first, wave.first + len(wave.tiles)):
                program = unravel(number, launch.grid)
                assert tuple(wave.tiles[number - wave.first]) == tile_of(request.problem, request.tiling, program)
                for access in operator.accesses(request.problem, request.tiling, program):
                    if access.kind == "load":
                        seen[access.argument] |= set(
                            access.offsets[np.broadcast_to(access.mask, access.offsets.shape)].tolist()
                        )
            assert wave.bytes == 4 * sum(map(len, seen.values()))


def test_tiles_in_order_are_every_tile_once():
    tiles = tiles_in_order(matmul(100, 70, 16, 3))
    assert len({tuple(tile) for tile in tiles.tolist()}) == cdiv(100, 16) * cdiv(70, 16)


def test_where_grouping_helps_and_where_it_does_not():
    def reason(request: Request, at_once: int, l2: int | None) -> str | None:
        return why_not({group: footprint(with_group(request, group), at_once) for group in (1, 8)}, l2, request)

    request = EXAMPLES["matmul_relu"][0].request("matmul_relu")
    assert reason(request, 264, 50 * 2**20) is None
    assert "fit into the L2 cache" in reason(request, 264, 2**30)
    assert "in one wave" in reason(matmul(64, 64, 16, 8), 264, None)
    small = EXAMPLES["matmul_relu"][2].request("matmul_relu")
    assert "8.2 whole rows of 32 tiles" in reason(small, 264, 50 * 2**20)


def vector(n: int, block: int = 1024) -> Request:
    return Request("vector_add", Problem(Numbers(n_elements=n)), Tiling(Numbers(BLOCK_SIZE=block)))


def held(kind: str, argument: str, shape: tuple[int, ...], layout: Blocked) -> Held:
    return Held(kind, argument, 1, "f32", shape, "#blocked", "", layout, "%x", 1)


def touch(request: Request, layout: Blocked, width: int, pattern: str = "launched", argument: str = "x_ptr") -> Touched:
    one = held("load", argument, (request.tiling["BLOCK_SIZE"],), layout)
    access = access_of(request, 0, one)
    return touched(access.offsets, access.mask, request.launch().tensors[argument], one, width, pattern)


WIDE, SINGLE = Blocked((4,), (32,), (4,), (0,)), Blocked((1,), (32,), (4,), (0,))


def test_sectors_by_hand():
    """1024 floats are 4096 bytes: 128 sectors, 32 lines. A warp's 16-byte load asks for 512 bytes: 16 sectors."""
    whole_block = touch(vector(2048), WIDE, 16)
    assert (whole_block.asked, whole_block.needed, whole_block.requests, whole_block.lines) == (128, 128, 8, 32)
    assert whole_block.efficiency == 1.0
    # One element at a time, 16 bytes from lane to lane: each of 4 instructions asks for the same 16 sectors.
    scalar = touch(vector(2047), WIDE, 4)
    assert (scalar.asked, scalar.needed, scalar.requests) == (512, 128, 32)
    # Lanes side by side: 128 bytes an instruction, 4 sectors.
    beside = touch(vector(2047), SINGLE, 4)
    assert (beside.asked, beside.needed, beside.requests) == (128, 128, 32)
    # Every second element: 8 sectors an instruction, half of each wanted.
    second = touch(vector(2048), SINGLE, 4, "second")
    assert (second.asked, second.needed, second.efficiency) == (256, 256, 0.5)
    # A column: every lane a sector of its own.
    column = touch(vector(2048), SINGLE, 4, "column")
    assert (column.asked, column.efficiency) == (1024, 0.125)


def test_masked_lanes_ask_for_nothing():
    few = touch(vector(5), WIDE, 4)
    assert (few.asked, few.needed, few.useful) == (4, 1, 20)  # registers 0 to 3 of lane 0, register 0 of lane 1
    assert touch(vector(1024), WIDE, 16).useful == 4096


def test_transposed_is_where_the_elements_would_lie():
    request = Request("softmax", Problem(Numbers(rows=6, columns=8)), Tiling(Numbers(BLOCK_SIZE=8)))
    tensor = request.launch().tensors["x_ptr"]
    matrix = np.arange(48).reshape(6, 8)
    offsets = laid_out(matrix, tensor, "transposed")
    stored = np.empty(48, int)
    stored[offsets.reshape(-1)] = matrix.reshape(-1)
    assert (stored.reshape(8, 6) == matrix.T).all()
    assert patterns(tensor) == ("launched", "second", "transposed")


@given(
    strategies.integers(1, 3000),
    strategies.sampled_from([1, 2, 4]),
    strategies.sampled_from(["launched", "second", "column"]),
    strategies.sampled_from([64, 256, 1024]),
)
@examples(60)
def test_sectors_against_counting_lane_by_lane(n, each, pattern, block):
    request = vector(n, block)
    layout = Blocked((each,), (32,), (4,), (0,))
    found = touch(request, layout, 4, pattern)
    asked, needed, requests = 0, set(), 0
    for warp in found.addresses:
        for instruction in warp:
            sectors = {int(address) // SECTOR for address in instruction if address >= 0}
            asked, requests, needed = asked + len(sectors), requests + bool(sectors), needed | sectors
    assert (found.asked, found.needed, found.requests) == (asked, len(needed), requests)
    assert found.useful == 4 * min(n, block)
    reached = {int(address) for address in found.addresses.reshape(-1) if address >= 0}
    step = {"launched": 1, "second": 2, "column": 32}[pattern]
    assert reached == {4 * step * element for element in range(min(n, block))}


SUMS = ("asked", "needed", "requests", "lines", "useful")


@pytest.mark.parametrize(
    ("request_", "shape", "arguments"),
    [
        (Request("softmax", Problem(Numbers(rows=40, columns=33)), Tiling(Numbers(BLOCK_SIZE=64))), (64,), ("x_ptr",)),
        (Request("softmax", Problem(Numbers(rows=90, columns=33)), Tiling(Numbers(BLOCK_SIZE=64))), (64,), ("x_ptr",)),
        (Request("softmax", Problem(Numbers(rows=75, columns=37)), Tiling(Numbers(BLOCK_SIZE=16))), (16,), ("x_ptr",)),
        (vector(1037, 8), (8,), ("x_ptr", "y_ptr")),
        (matmul(150, 150, 20, 0), (16, 16), ("a_ptr", "b_ptr")),
    ],
    ids=["all traced", "rows that no line divides", "loops", "two arguments", "tiles"],
)
def test_all_programs_together_are_each_program_alone(request_, shape, arguments):
    layout = SINGLE if len(shape) == 1 else Blocked((1, 2), (4, 8), (4, 1), (1, 0))
    tensors = [held("load", name, shape, layout) for name in arguments]
    total = asked(request_, [(one, 4) for one in tensors], seconds=600.0)
    launch, alone = request_.launch(), []
    for number in range(launch.programs):
        program = unravel(number, launch.grid)
        for access in request_.description.accesses(request_.problem, request_.tiling, program):
            one = next((one for one in tensors if (one.kind, one.argument) == (access.kind, access.argument)), None)
            if one:
                alone.append(touched(access.offsets, access.mask, launch.tensors[one.argument], one, 4))
    for name in SUMS:
        assert getattr(total.load, name) == sum(getattr(found, name) for found in alone)
    assert (total.store.asked, total.why_not) == (0, "")


def test_the_sectors_of_a_launch_of_2_to_40_elements():
    """Each of the 4 * 2^40 bytes of both inputs is in a sector of its own 32, and aligned blocks share none."""
    tensors = [(held("load", name, (1024,), WIDE), 16) for name in ("x_ptr", "y_ptr")]
    total = asked(vector(2**40), [*tensors, (held("store", "output_ptr", (1024,), WIDE), 16)])
    assert (total.load.asked, total.store.asked) == (2 * 2**37, 2**37)
    assert total.load.efficiency == 1.0


def test_sectors_that_the_program_ids_do_not_tell_are_not_summed():
    tensors = [(held("load", "a_ptr", (16, 16), Blocked((1, 2), (4, 8), (4, 1), (1, 0))), 4)]
    found = asked(matmul(16 * 13, 16 * 7, 16, 8), tensors, seconds=600.0)
    assert (found.load, found.store) == (None, None)
    assert re.fullmatch(r"traced: \d+ of 91", found.why_not)


@given(
    strategies.integers(-100, 100),
    strategies.lists(strategies.tuples(strategies.integers(-70, 70), strategies.integers(1, 40)), max_size=3),
    strategies.sampled_from([8, 16, 32, 64, 128]),
)
@examples(100)
def test_residues_are_counted_one_by_one(first, axes, modulus):
    places = itertools.product(*(range(count) for _, count in axes))
    steps = [step for step, _ in axes]
    counts = collections.Counter((first + sum(map(mul, steps, place))) % modulus for place in places)
    found = residues(first, steps, [count for _, count in axes], modulus)
    assert found.tolist() == [counts[rest] for rest in range(modulus)]


def test_an_access_is_found_by_its_argument_or_where_that_is_not_told_by_its_line():
    first, second = held("load", "x_ptr", (64,), SINGLE), dataclasses.replace(held("load", "x_ptr", (64,), SINGLE), line=9)
    unknown = dataclasses.replace(held("store", "?", (64,), SINGLE), line=12)
    assert standing_for("load", "x_ptr", 9, (64,), [first, second]) is second
    assert standing_for("load", "x_ptr", 5, (64,), [first, second]) is first
    assert standing_for("store", "out", 12, (64,), [first, unknown]) is unknown
    assert standing_for("store", "out", 13, (64,), [first, unknown]) is None
    assert standing_for("load", "y_ptr", 9, (64,), [first, second]) is None
    assert standing_for("load", "x_ptr", 9, (1,), [first, second]) is None  # a number loaded from the same argument


def schedule(starts, ends, units, multiprocessors: int = 4, when: str = "") -> Schedule:
    arrays = [np.array(one) for one in (starts, ends, units)]
    return Schedule("Some GPU", multiprocessors, *arrays, Cost(1e-6, 2e-6, 26, 30), {"triton": "3.6.0"}, when)


def test_a_schedule_by_hand():
    one = schedule([0, 32, 64, 96, 128], [64, 96, 160, 128, 224], [0, 0, 1, 0, 1])
    assert one.per_unit().tolist() == [3, 2, 0, 0]
    assert one.together() == 2
    assert one.span == 224
    assert one.tick == 32
    assert one.tail() == 96  # SM 0 was done at 128
    assert one.running(np.array([0, 40, 70, 100, 140, 200])).tolist() == [
        [1, 2, 1, 1, 0, 0],
        [0, 0, 1, 1, 2, 1],
        [0] * 6,
        [0] * 6,
    ]
    assert one.wave(np.array([0, 40, 100])).tolist()[0] == [0, 0, 1]


@given(strategies.lists(strategies.tuples(strategies.integers(0, 50), strategies.integers(1, 20), strategies.integers(0, 3))))
@examples(60)
def test_what_runs_together_against_counting(programs):
    if not programs:
        return
    starts, lengths, units = (np.array(one) for one in zip(*programs, strict=True))
    one = schedule(starts, starts + lengths, units)
    moments = np.arange(0, 71)
    count = [
        [sum(s <= moment < s + d and u == unit for s, d, u in programs) for moment in moments.tolist()] for unit in range(4)
    ]
    assert one.running(moments).tolist() == count
    assert one.together() == max(map(max, count))


def test_a_recorded_schedule_comes_back_as_it_was():
    request = EXAMPLES["vector_add"][0].request("vector_add")
    one = schedule([5, 0, 32], [40, 41, 64], [2, 0, 1], when="2026-01-01")
    found, again = read(written(request, one))
    assert found == key(request)
    for name in ("starts", "ends", "units"):
        np.testing.assert_array_equal(getattr(again, name), getattr(one, name))
    assert (again.cost, again.device, again.when, again.versions) == (one.cost, one.device, one.when, one.versions)


def test_recorded_schedules_are_of_the_examples():
    requests = [example.request(operator) for operator, launches in EXAMPLES.items() for example in launches]
    examples_by_key = [(key(request), request) for request in requests]
    assert shipped()
    for which, schedule in shipped():
        request = next(request for known, request in examples_by_key if known == which)
        assert schedule.programs == request.launch().programs
        assert schedule.when
        assert (schedule.ends >= schedule.starts).all()
        np.testing.assert_array_equal(recorded(request).starts, schedule.starts)
    assert recorded(vector(12345)) is None


def test_the_nearest_recorded_launch_is_of_the_operator_and_of_the_nearest_size():
    sizes = [which.sizes["n_elements"] for which, _ in shipped() if which.operator == "vector_add"]
    for n_elements in (12345, 2**19, 2**40):
        which, _ = nearest(vector(n_elements))
        apart = {size: max(size / n_elements, n_elements / size) for size in sizes}
        assert which.operator == "vector_add"
        assert which.sizes == {"n_elements": min(apart, key=apart.__getitem__)}


def test_every_operator_has_examples_that_are_legal():
    assert set(EXAMPLES) == set(operators())
    for operator, launches in EXAMPLES.items():
        assert len({example.title for example in launches}) == len(launches)
        assert all(example.request(operator).launch().programs for example in launches)


def test_what_cannot_be_scheduled_is_said():
    with pytest.raises(ValueError, match="gfx942 does not tell a kernel which unit runs it"):
        refuse(5, find_target("gfx942"))
    with pytest.raises(ValueError, match="0 programs"):
        refuse(0, find_target("sm_90"))
    with pytest.raises(ValueError, match="more than the 1,048,576"):
        refuse(2**20 + 1, find_target("sm_90"))


def test_counters_are_read_or_explained():
    head = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n'
    names = [f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum" for op in ("ld", "st") for what in ("sectors", "requests")]
    rows = "".join(
        f'"0","add_kernel","{name}","","{value:,}"\n' for name, value in zip(names, (262144, 16384, 5, 6), strict=True)
    )
    assert read_counters(f"==PROF== noise\n{head}{rows}") == (Counts(262144, 16384, 5, 6), "")
    assert read_counters(head)[0] is None
    assert "ERR_NVGPUCTRPERM" in read_counters("", "==ERROR== ERR_NVGPUCTRPERM")[1]
    assert read_counters("", "no such file")[1]


def test_counters_are_asked_for_where_this_program_lies(monkeypatch, tmp_path):
    """The app may be started from any folder, and `python -m` has to find the program all the same."""
    tool = tmp_path / "ncu"
    tool.write_text('#!/bin/sh\necho "==ERROR== started in $(pwd -P)"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    gpu = Gpu(0, "H200", "GPU-a", find_target("sm_90"), 132, None, None)
    found, reason = counts(vector(100), gpu)
    assert found is None
    assert f"started in {Path(__file__).resolve().parents[1]}" in reason
