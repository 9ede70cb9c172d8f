"""Figures that are printed with a unit, by their literal text, and by a stand-in for hardware that is not here."""

from __future__ import annotations

import dataclasses
import sys
from types import SimpleNamespace

import pytest

from kernels import Numbers, Problem, find
from kernels.check import facts, judge, physics, sustained
from kernels.check.values import PASS, Result
from kernels.commands import bench
from kernels.measure import counters, roofs, runs, timing, watch
from kernels.measure.records import KernelBytes, KernelTime, Spread, State
from viz.words import bytes_text, seconds_text

from .test_check import gpu, load
from .test_measure import H200, ROOFS, point, request


def test_bench_prints_microseconds_terabytes_and_counters():
    measured = point(request(), pytorch=1.2e-3, triton=260e-6)
    theirs, ours = measured.timed
    ours = dataclasses.replace(
        ours,
        title="Triton",
        events=Spread(260.04e-6, 259e-6, 262.5e-6, 120),
        host=Spread(12.3e-6, 12e-6, 13e-6, 30),
        compile_seconds=1.26,
        peak_bytes=536_870_912,
        share=0.123,
        dram=(KernelBytes("rms_norm_kernel", 537e6, 510e6),),
        kernels=(KernelTime("rms_norm_kernel", 0.0, 260e-6),),
    )
    said = bench.report(dataclasses.replace(measured, timed=(theirs, ours)), ROOFS, runs.device_of(H200))
    assert said.split("\n") == [
        "rms_norm forward float32 rows=16384, columns=8192, BLOCK_SIZE=8192 num_warps=16",
        "  pytorch                     1200.0 us  [1200.0, 1200.0] n=9 events  3.13 TB/s  host 10.0 us",
        "  Triton                       260.0 us  [259.0, 262.5] n=120 events  4.13 TB/s  counters 0.537 + 0.510 GB  "
        "host 12.3 us  1 kernels  peak 537 MB  12% of tolerance  first call 1.3 s",
        "  copy of as many bytes        256.0 us  4.19 TB/s",
    ]


def test_a_load_is_told_in_teraflops_megahertz_watts_and_degrees():
    found = [(one.check, one.said, one.limit, one.value, one.unit) for one in sustained.judged(load())]
    assert found == [
        ("sustained rate", "690 TFLOP/s at the end, 99% of the best second", "at least 90%; under 80% fails", 690.0, "TFLOP/s"),
        ("clock kept", "1,950 MHz at the end, 98% of the best second", "at least 90%; under 80% fails", 1950.0, "MHz"),
        ("reasons", "nothing", "power limit only", None, ""),
        ("temperature", "25 °C left, 60 °C at most", "at least 10 °C below slow-down", 25.0, "°C"),
        ("power", "at most 690 W, 99% of the limit", "at least 70% of 700 W under dense matmul", 690.0, "W"),
        ("after", "answers; 0 new memory errors, 0 PCIe replays", "answers; no new errors", None, ""),
    ]
    series = next(sustained.judged(load())).series
    assert (series["sm_clock"][0], series["power"][0], series["temperature"][0], series["rate"][0]) == (1980, 690, 60, 700)


def speed() -> Result:
    return Result("check", "Check", "speed", PASS)


@pytest.mark.parametrize(
    ("result", "said", "value", "unit"),
    [
        (
            physics.dram_result("dram copy", "DRAM copy", 4270e9, facts.bandwidth(gpu()), "cuda"),
            "4,270 GB/s, 87% of 4,917",
            4270.0,
            "GB/s",
        ),
        (physics.matmul_result(gpu(), 726e12, 1500e6, 8192), "726 TFLOP/s, 90% of 811", 726.0, "TFLOP/s"),
        (physics.against_cublas(speed(), 630e12, 700e12), "630 TFLOP/s, 90% of 700", 90.0, "% of cuBLAS"),
        (judge.launch_time(speed(), 7.25e-6), "", 7.25, "us"),
        (
            judge.agreement(speed(), 4e-6, 4.2e12, 3.5e-6, 4.0e12),
            "a = 4.0 us (empty launch 3.5), b = 4,200 GB/s (copy 4,000)",
            5.0,
            "% apart",
        ),
    ],
)
def test_speeds_are_told_in_the_unit_that_stands_beside_them(result, said, value, unit):
    assert (result.said, result.value, result.unit) == (said, pytest.approx(value), unit)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "0 B"),
        (999.4, "999 B"),
        (999.5, "1 kB"),
        (1_024, "1.02 kB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),
        (1_073_774_592, "1.07 GB"),
        (4.4e12, "4.4 TB"),
    ],
)
def test_bytes_are_decimal(number, said):
    assert bytes_text(number) == said


@pytest.mark.parametrize(("seconds", "said"), [(2.5e-7, "0.25 µs"), (260e-6, "260 µs"), (1e-3, "1 ms"), (0.999, "999 ms")])
def test_durations_have_the_unit_that_suits_them(seconds, said):
    assert seconds_text(seconds) == said


# Nsight Compute's units, of which one number says the same in each.


@pytest.mark.parametrize(
    ("amount", "unit"),
    [("537000000", "byte"), ("537000", "Kbyte"), ("537", "Mbyte"), ("0.537", "Gbyte"), ("0.000537", "Tbyte")],
)
def test_counters_are_read_in_every_unit(amount, unit):
    head = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
    clearing = '"0","FillFunctor<long>","dram__bytes_read.sum","byte","0"'
    kernel = f'"1","rms_norm_kernel","dram__bytes_read.sum","{unit}","{amount}"'
    (((found,),)) = counters.read("\n".join([head, clearing, kernel]), "", 1)
    assert found == KernelBytes("rms_norm_kernel", pytest.approx(537e6), 0.0)


# NVML answers in MHz, milliwatts and degrees; there is none here, so a module of its name answers as an H200's does (nvml.h).


def nvml() -> SimpleNamespace:
    clocks = {1: 1980, 2: 3201}  # NVML_CLOCK_SM, NVML_CLOCK_MEM
    return SimpleNamespace(
        NVML_CLOCK_SM=1,
        NVML_CLOCK_MEM=2,
        NVML_TEMPERATURE_GPU=0,
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByUUID=lambda uuid: ("card", uuid),
        nvmlDeviceGetClockInfo=lambda handle, kind: clocks[kind],
        nvmlDeviceGetTemperature=lambda handle, sensor: 61,
        nvmlDeviceGetPowerUsage=lambda handle: 689_500,
        nvmlDeviceGetCurrentClocksThrottleReasons=lambda handle: 0x4 | 0x1,
        nvmlDeviceGetComputeRunningProcesses=lambda handle: [SimpleNamespace(pid=1), SimpleNamespace(pid=2)],
    )


def test_the_state_of_a_card_is_in_hertz_watts_and_degrees(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", nvml())
    assert watch.state("GPU-a") == State(1.98e9, 3.201e9, 61.0, 689.5, ("power limit",), others=1)


# Counts and clocks of a GPU, with a stand-in for the clock alone.


def test_a_call_in_a_graph_takes_a_tenth_of_what_ten_take(monkeypatch):
    seconds = {"whole": 5e-3, "clearing": 2e-3}  # graphs of ten calls each
    monkeypatch.setattr(timing, "captured", lambda call: "clearing" if call is clear else "whole")
    monkeypatch.setattr(timing, "replay", seconds.__getitem__)

    def clear() -> None:
        raise AssertionError("captured, not called")

    found = timing.by_graph(lambda: None, clear)
    assert (found.median, found.n) == (pytest.approx(3e-4), 7)


@pytest.mark.parametrize(("asked", "moved"), [(2**20, 2**20), (1001, 1000), (0, 2)])
def test_a_copy_counts_what_it_reads_and_what_it_writes(monkeypatch, asked, moved):
    import torch

    made, empty = [], torch.empty
    monkeypatch.setattr(torch, "empty", lambda *size, device, **more: made.append(empty(*size, **more)) or made[-1])
    call, counted = roofs.copy_call(asked)
    source = made[0].fill_(7)
    assert counted == moved == 2 * source.nbytes
    assert torch.equal(call(), source)


# Operations for each element, counted by hand from the formulas.


@pytest.mark.parametrize(
    ("name", "sizes", "operations"),
    [
        ("vector_add", {"n_elements": 1000}, 1000),  # +
        ("elementwise_chain", {"n_elements": 1000}, 3 * 1000),  # + * max
        ("softmax", {"rows": 10, "columns": 30}, 5 * 300),  # max - exp sum /
        ("rms_norm", {"rows": 10, "columns": 30}, 4 * 300),  # square sum * *
        ("rms_norm_backward", {"rows": 10, "columns": 30}, 11 * 300),
        ("matmul_relu", {"m": 10, "n": 20, "k": 30}, 2 * 10 * 20 * 30 + 10 * 20),  # * + for each of k, one max
    ],
)
def test_operations_by_hand(name, sizes, operations):
    operator, problem = find(name), Problem(Numbers(sizes))
    assert operator.traffic(problem, operator.tiling(problem)).operations == operations


def test_a_roof_is_told_with_its_formula():
    assert roofs.theoretical(H200).formula == (
        "3,201 MHz x 6,016 bits x 2 / 8 = 4.81 TB/s; "
        "132 SMs x 256 x 1,980 MHz = 67 TFLOP/s (float32); "
        "132 SMs x 4,096 x 1,980 MHz = 1,071 TFLOP/s (float16 and bfloat16)"
    )
