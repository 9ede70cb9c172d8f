"""Every threshold just below and just above, with the threshold itself written out."""

from __future__ import annotations

import dataclasses

import pytest

from kernels import Numbers, Problem, find
from kernels.check import compared, host_copies, judge, peers, physics, sustained
from kernels.check.values import FAIL, NOT_MEASURED, PASS, WARN, Result
from kernels.measure import verdicts, watch, ways
from kernels.measure.records import Device, KernelBytes, KernelTime, Roofs, Spread, State, Timed
from kernels.operator import rounding
from kernels.rows import constants

from .test_check import gpu, load, under
from .test_measure import point, request

A_BIT = 1e-6  # relative: what is just below or just above


def below(value: float) -> float:
    return value * (1 - A_BIT)


def above(value: float) -> float:
    return value * (1 + A_BIT)


def result(unit: str = "GB/s") -> Result:
    return Result("check", "Check", "speed", PASS, unit=unit, step="Do this.")


# Speeds against physics.


@pytest.mark.parametrize(
    ("backend", "gigabytes", "status"),
    [
        ("cuda", below(600), FAIL),
        ("cuda", above(600), WARN),
        ("cuda", below(800), WARN),
        ("cuda", above(800), PASS),
        ("cuda", below(1020), PASS),
        ("cuda", above(1020), FAIL),
        ("hip", below(500), FAIL),
        ("hip", above(500), WARN),
        ("hip", below(650), WARN),
        ("hip", above(650), PASS),
    ],
)
def test_dram_at_the_edges(backend, gigabytes, status):
    assert physics.dram_result("dram copy", "DRAM copy", gigabytes * 1e9, 1e12, backend).status == status


@pytest.mark.parametrize(
    ("share", "status"),
    [
        (below(0.50), FAIL),
        (above(0.50), WARN),
        (below(0.70), WARN),
        (above(0.70), PASS),
        (below(1.05), PASS),
        (above(1.05), FAIL),
    ],
)
def test_matmul_at_the_edges(share, status):
    roof = 4096 * 132 * 1500e6  # an H200's dense bfloat16: operations per clock and SM x SMs x clock
    assert physics.matmul_result(gpu(), share * roof, 1500e6, 8192).status == status


@pytest.mark.parametrize(("share", "status"), [(below(0.60), WARN), (above(0.60), PASS)])
def test_tritons_matmul_at_the_edge(share, status):
    assert physics.against_cublas(result(), share * 700e12, 700e12).status == status


@pytest.mark.parametrize(
    ("share", "status"),
    [
        (below(0.60), FAIL),
        (above(0.60), WARN),
        (below(0.75), WARN),
        (above(0.75), PASS),
        (below(1.02), PASS),
        (above(1.02), NOT_MEASURED),
    ],
)
def test_host_copies_at_the_edges(share, status):
    speed = share * judge.link_limit((5, 16)) * 1e9
    found = {
        one.check: one.status for one in host_copies.judged({"host to gpu": speed, "gpu to host": speed}, (5, 16), (5, 16))
    }
    assert found == {"pcie": PASS, "host to gpu": status, "gpu to host": status}


@pytest.mark.parametrize(
    ("share", "status"),
    [
        (below(0.50), FAIL),
        (above(0.50), WARN),
        (below(0.70), WARN),
        (above(0.70), PASS),
        (below(1.02), PASS),
        (above(1.02), FAIL),
    ],
)
def test_peer_copies_at_the_edges(share, status):
    speed = share * 450e9
    assert peers.judged(2, [0.0, speed, speed, 0.0], [], [], 450.0).status == status


@pytest.mark.parametrize(
    ("microseconds", "status"), [(below(15), PASS), (above(15), WARN), (below(50), WARN), (above(50), FAIL)]
)
def test_the_empty_launch_at_the_edges(microseconds, status):
    assert judge.launch_time(result("us"), microseconds * 1e-6).status == status


@pytest.mark.parametrize(
    ("a", "b", "status"),
    [
        (5e-6, below(1.15) * 4e12, PASS),
        (5e-6, above(1.15) * 4e12, WARN),
        (5e-6, above(0.85) * 4e12, PASS),
        (5e-6, below(0.85) * 4e12, WARN),
        (below(10e-6), 4e12, PASS),
        (above(10e-6), 4e12, WARN),
        (1e-12, 4e12, PASS),
        (-1e-12, 4e12, WARN),
    ],
)
def test_the_fit_at_the_edges(a, b, status):
    assert judge.agreement(result(), a, b, 5e-6, 4e12).status == status


@pytest.mark.parametrize(
    ("part", "status"), [(below(0.05), PASS), (above(0.05), WARN), (below(0.10), WARN), (above(0.10), FAIL)]
)
def test_how_far_behind_at_the_edges(part, status):
    assert compared.judged(part) == status


# Under load.


@pytest.mark.parametrize(
    ("bits", "part", "status"),
    [
        (0x0, below(0.80), FAIL),
        (0x0, above(0.80), WARN),
        (0x0, below(0.90), WARN),
        (0x0, above(0.90), PASS),
        (0x4, below(0.80), WARN),  # the power limit alone: a step milder
        (0x4, above(0.80), PASS),
    ],
)
def test_speed_and_clock_kept_at_the_edges(bits, part, status):
    held = load(bits, (2e9, part * 2e9), (700e12, part * 700e12))
    assert under(held, "clock kept").status == status
    assert under(held, "sustained rate").status == status


@pytest.mark.parametrize(("margin", "status"), [(0, FAIL), (1, WARN), (9, WARN), (10, PASS)])
def test_the_temperature_margin_at_the_edges(margin, status):
    assert under(load(margin=margin), "temperature").status == status


@pytest.mark.parametrize(("limit", "status"), [(690 / below(0.70), WARN), (690 / above(0.70), PASS)])
def test_power_under_load_at_the_edge(limit, status):
    assert under(load(power_limit=limit), "power").status == status  # the planted load draws 690 W


@pytest.mark.parametrize(("count", "known"), [(3, False), (4, True)])
def test_how_many_samples_are_enough(count, known):
    assert (sustained.kept([(0.1 * number, 1.0) for number in range(count)]) is not None) == known


@pytest.mark.parametrize(("after", "count"), [(below(0.97), 1), (above(0.97), 0)])
def test_a_falling_clock_at_the_edge(after, count):
    assert len(watch.disturbed(State(sm_clock=2e9), State(sm_clock=after * 2e9))) == count


# What a measured figure means. Bytes of RMSNorm 16384 x 8192 in float32: the matrix in and out, and the weight.

MOVED = 2 * 16384 * 8192 * 4 + 8192 * 4
ROOFS = Roofs(bandwidth=4.8e12, copy=4.2e12, operations={"bfloat16": 1e15}, launch=0.0)


@pytest.mark.parametrize(("speed", "valid"), [(below(4.8e12), True), (above(4.8e12), False)])
def test_a_speed_is_impossible_from_the_roof_on(speed, valid):
    fast = point(request(), triton=MOVED / speed)
    assert (verdicts.invalid(fast.way("triton"), fast, ROOFS, Device("H200")) is None) == valid


@pytest.mark.parametrize(("rate", "valid"), [(below(1e15), True), (above(1e15), False)])
def test_a_rate_is_impossible_from_the_roof_on(rate, valid):
    operations = 2 * 4096**3 + 4096**2
    fast = point(request("matmul_relu", "bfloat16"), triton=operations / rate)
    assert (verdicts.invalid(fast.way("triton"), fast, ROOFS, Device("H200")) is None) == valid


@pytest.mark.parametrize(("l2", "fits"), [(MOVED / 2, True), (MOVED / 2 - 1, False)])
def test_the_cache_explains_what_fits_into_it_twice_over(l2, fits):
    fast = point(request(), triton=MOVED / 5e12)
    said = verdicts.invalid(fast.way("triton"), fast, ROOFS, Device("H200", l2_bytes=int(l2)))
    assert ("what it keeps is not written to DRAM" in said) == fits


@pytest.mark.parametrize(("share", "binds"), [(below(0.4), "neither"), (above(0.4), "memory")])
def test_what_binds_at_the_edge(share, binds):
    slow = point(request(), triton=MOVED / 4.2e12 / share)
    assert verdicts.binding(slow.way("triton"), slow, ROOFS).binds == binds


def counted(share: float, copy_share: float = 1.0) -> list[str]:
    """The explanation where the counters have so many times the formula's bytes, at so much of the copy's speed."""
    measured = point(request(), pytorch=4e-3, triton=1e-3)
    theirs, ours = measured.timed
    ours = dataclasses.replace(ours, dram=(KernelBytes("rms_norm_kernel", share * MOVED, 0.0),))
    copy = 1e-3 * copy_share
    return verdicts.explanation(
        dataclasses.replace(measured, timed=(theirs, ours), copy=Spread(copy, copy, copy, 9), copy_bytes=MOVED), ROOFS
    )


@pytest.mark.parametrize(("share", "said"), [(below(1.2), False), (above(1.2), True)])
def test_bytes_read_again_at_the_edge(share, said):
    assert any("what L2 does not hold is read again" in one for one in counted(share)) == said


@pytest.mark.parametrize(("share", "said"), [(below(0.8), True), (above(0.8), False)])
def test_a_kernel_slower_than_the_copy_at_the_edge(share, said):
    assert any("The fused kernel runs at 80% of the copy's speed" in one for one in counted(1.0, share)) == said


def kernels(speeds: dict[str, float], part: float | None = None) -> list[str]:
    """The explanation where PyTorch's kernels run at these parts of a copy of 4 TB/s; `part`: of the time that is "rsqrt"."""
    steps = ways.traffic(request(), "forward").unfused
    durations = [step.moved / 4e12 / speeds.get(step.name, 1.0) for step in steps]
    if part is not None:
        others = sum(durations) - durations[3]
        durations[3] = part * others / (1 - part)
    launched = tuple(KernelTime(step.name, 0.0, time) for step, time in zip(steps, durations, strict=True))
    total = Spread(sum(durations), sum(durations), sum(durations), 9)
    theirs = Timed("pytorch", "PyTorch", events=total, kernels=launched)
    measured = point(request(), triton=1e-3)
    copy = Spread(MOVED / 4e12, MOVED / 4e12, MOVED / 4e12, 9)
    return verdicts.explanation(
        dataclasses.replace(measured, timed=(theirs, *measured.timed), copy=copy, copy_bytes=MOVED), ROOFS
    )


@pytest.mark.parametrize(("speed", "said"), [(below(0.85), True), (above(0.85), False)])
def test_a_step_slower_than_the_copy_at_the_edge(speed, said):
    assert any("PyTorch runs pow at 3.4 TB/s" in one for one in kernels({"pow": speed})) == said


@pytest.mark.parametrize(("speed", "said"), [(below(1.2), False), (above(1.2), True)])
def test_a_step_faster_than_dram_at_the_edge(speed, said):
    assert any("pow found operands in the L2 cache" in one for one in kernels({"pow": speed})) == said


@pytest.mark.parametrize(("part", "said"), [(below(0.05), False), (above(0.05), True)])
def test_a_step_counts_from_a_twentieth_of_the_time_on(part, said):
    assert any("rsqrt at" in one for one in kernels({}, part)) == said


@pytest.mark.parametrize(("events", "method"), [(below(100e-6), "graph"), (above(100e-6), "events")])
def test_short_times_are_taken_from_a_graph(events, method):
    timed = Timed("triton", "Triton", events=Spread(events, events, events, 9), graph=Spread(9e-5, 9e-5, 9e-5, 7))
    assert timed.method == method


# Rounding: the limit of an error, in units of the last place of the result's dtype.


@pytest.mark.parametrize(("dtype", "bits"), [("float32", 23), ("float16", 10), ("bfloat16", 7)])
def test_two_units_in_the_last_place_are_rounding_and_three_are_not(dtype, bits):
    reference, unit = 2.0**10, 2.0 ** (10 - bits)  # where the absolute part is small beside the relative one
    tolerance = rounding(dtype)
    limit = tolerance.absolute + tolerance.relative * reference
    assert 2 * unit <= limit < 2.1 * unit
    near_zero = tolerance.absolute
    assert 2.0**-20 < near_zero <= 2.0**-20 + 2.0 ** (-bits - 6)


@pytest.mark.parametrize(("terms", "roundings"), [(1, 1), (4096, 4096)])
def test_a_sum_may_be_off_by_a_rounding_per_term(terms, roundings):
    assert rounding("float32", terms).absolute == 2.0**-29 + roundings * 2.0**-20


@pytest.mark.parametrize("name", ["softmax", "rms_norm"])
@pytest.mark.parametrize(
    ("block", "rows", "kind"),
    [
        (8, 429_496_729, "int32"),  # 5 columns in 8 lanes: the last lane's offset is 2^31 - 1
        (8, 429_496_730, "int64"),
        (16, 429_496_727, "int32"),  # 5 columns in 16 lanes: 2^31 - 3
        (16, 429_496_728, "int64"),  # 2^31 + 2, though the last column's is 2^31 - 9
    ],
)
def test_offsets_of_masked_lanes_choose_the_type_too(name, block, rows, kind):
    problem = Problem(Numbers(rows=rows, columns=5))
    tiling = dataclasses.replace(find(name).tiling(problem), blocks=Numbers(BLOCK_SIZE=block))
    assert constants(problem, tiling)["OFFSET_TYPE"] == kind
    assert find(name).plan(problem, tiling).constants["OFFSET_TYPE"] == kind
