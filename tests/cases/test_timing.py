"""Timing: T01 to T05, by recorded runs and planted times; on a GPU in test_on_gpu.py."""

from __future__ import annotations

import re
from dataclasses import replace

from kernels import find
from kernels.measure import runs, timing, verdicts
from kernels.measure.records import Device, Point, Roofs, Spread

from ..test_fusion_page import fusion
from ..test_measure import point, request
from ..test_pages import launched, page, words
from .reach import command


def recorded(title: str) -> tuple[Point, ...]:
    return next(run for run in runs.recorded() if run.title.startswith(title)).points


def test_t01_compiling_and_running_are_two_figures():
    every = [one for run in runs.recorded() for one in run.points if not one.problem]
    timed = [one.way("triton") for one in every if one.way("triton") and one.way("triton").kernel]
    assert timed
    assert all(one.compile_seconds is not None for one in timed)
    assert all(one.kernel.n >= 4 for one in timed)
    assert max(one.compile_seconds / one.kernel.median for one in timed) > 1000, "the first call is no sample"
    assert "warmed up until two batches agree" in timing.METHOD


def planted(n: int, seconds: float) -> Point:
    return point(request("vector_add", n_elements=n), pytorch=seconds, triton=seconds)


H200_ROOFS = Roofs(bandwidth=4.8e12, copy=4.2e12)


def test_t02_more_bandwidth_than_there_is_is_called_invalid_with_its_reason():
    n = 2**20
    device = Device("NVIDIA H200", l2_bytes=62_914_560)
    fast = planted(n, 12 * n / 9.6e12)
    said = verdicts.invalid(fast.way("triton"), fast, H200_ROOFS, device)
    assert said.startswith("invalid: 9.60 TB/s is more than the 4.80 TB/s of the DRAM: L2 holds 63 MB of the 13")
    assert verdicts.speed_up(fast, H200_ROOFS, device) is None
    just = planted(n, 12 * n / 4.79e12)
    assert verdicts.invalid(just.way("triton"), just, H200_ROOFS, device) is None


def test_t02_what_fits_into_l2_is_labelled_and_l2_is_cleared():
    text = words(fusion(operator="vector_add", n_elements=str(2**20)))
    assert re.search(r"working set ?12\.6 MB ?fits into L2", text), text
    assert "clears the L2 cache" in timing.METHOD


def test_t03_a_size_that_is_all_launching_has_no_speed_up():
    text = words(fusion(operator="vector_add", n_elements="4096"))
    assert "launching decides here, so no speed-up is given" in text
    assert "speed-up" not in text.replace("no speed-up", "")
    assert re.search(r"bound by ?overhead", text)


def test_t05_a_time_of_zero_is_below_the_clock_and_divides_nothing():
    zero = planted(4096, 0.0)
    said = verdicts.invalid(zero.way("triton"), zero, H200_ROOFS, Device("", None))
    assert said.startswith("invalid:")
    assert "too short for this clock" in said
    assert verdicts.ratio(zero) is None
    assert verdicts.speed_up(zero, H200_ROOFS, Device("", None)) is None
    assert verdicts.binding(replace(zero.way("triton"), host=None), zero, H200_ROOFS) is None


def test_t05_no_sum_over_times_of_zero_fails():
    assert timing.spread([0.0, 0.0]) == Spread(0.0, 0.0, 0.0, 2)
    for host in (0.0, 1e-6):
        clearings, seconds = timing.needed(host, 0.0, 0.0)
        assert clearings >= 1
        assert seconds >= host


def test_t05_without_a_gpu_there_is_no_gpu_time():
    app = page(n="1000", BLOCK_SIZE="64")
    text = words(launched(app))
    assert "compiled in" not in text
    assert "speed-up" not in text
    assert not re.search(r"\d (µs|ms|ns)\b", text), text
    text = words(fusion(operator="vector_add", n_elements="12345"))
    assert "No times: nothing was measured or recorded of exactly this." in text
    done = command("bench", find("vector_add").name)
    assert (done.returncode, done.stdout) == (4, "")
    assert "no GPU is attached, so there is nothing to time" in done.stderr
