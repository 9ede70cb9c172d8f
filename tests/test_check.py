"""The check's parts, each with the fault planted that it is there for."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from kernels.check import bring_up, driver, facts, health, host_copies, judge, nvml, peers, physics, sustained, toolchain, truth
from kernels.check import values as v
from kernels.check.driver import Machine
from kernels.check.sustained import Load
from kernels.check.values import FAIL, NOT_MEASURED, PASS, WARN
from kernels.check.worker import Context
from kernels.measure.records import State
from kernels.measure.watch import held_back
from kernels.runtime.device import Gpu, Target, find_target

GOOD = Machine("Linux", False, (13, 0), "", False, False, "2.11.0+cu130", (13, 0), None, None, "3.6.0", "3.6.0")


def gpu(name="NVIDIA H200", arch=90, units=132, memory_mhz=3201, bus=6144, **more) -> Gpu:
    target = Target(f"sm_{arch}", "cuda", arch, shared_bytes=232448)
    return Gpu(
        0, name, "GPU-a", target, units, 150 * 10**9, 60 * 2**20, 65536, 2048, memory_mhz * 10**6, bus, 1980 * 10**6, **more
    )


# The first stage.


def statuses(machine: Machine, **environment: str) -> dict[str, str]:
    return {one.check: one.status for one in driver.checks(machine, environment)}


def test_a_good_machine_passes():
    assert set(statuses(GOOD).values()) == {PASS}


@pytest.mark.parametrize(
    ("change", "check", "status", "step"),
    [
        ({"cuda_driver": None, "cuda_problem": "libcuda.so.1 cannot be loaded"}, "driver", FAIL, "Install the GPU's driver"),
        ({"cuda_driver": None, "cuda_problem": "no", "wsl": True}, "driver", FAIL, "in Windows"),
        ({"cuda_problem": "it shows no GPU to this process"}, "driver", FAIL, "nvidia-smi"),
        ({"cuda_problem": "cuInit fails: Driver/library version mismatch"}, "driver", FAIL, "Restart the machine"),
        ({"torch": None}, "torch", FAIL, "pytorch.org"),
        ({"torch_cuda": None}, "torch", FAIL, "index"),
        ({"cuda_driver": (12, 4)}, "torch", FAIL, "newer driver"),
        ({"cuda_driver": (12, 4), "torch_cuda": (12, 8)}, "torch", WARN, "minor-version"),
        ({"torch_cuda": None, "torch_hip": "6.4"}, "torch", FAIL, "GPU's maker"),
        ({"triton": "3.4.0"}, "pair", WARN, "pair that belongs together"),
        ({"triton": None}, "pair", FAIL, "pip install triton"),
        ({"triton": None, "platform": "Darwin"}, "pair", FAIL, "no wheels"),
    ],
)
def test_a_fault_of_the_first_stage_is_named_with_its_fix(change, check, status, step):
    found = next(one for one in driver.checks(replace(GOOD, **change), {}) if one.check == check)
    assert found.status == status
    assert step in found.step


def test_other_makers_are_said():
    rocm = replace(GOOD, cuda_driver=None, cuda_problem="no", amd=True, torch_cuda=None, torch_hip="6.4.1", triton_wanted=None)
    assert statuses(rocm)["driver"] == statuses(rocm)["torch"] == PASS
    assert rocm.build == "ROCm 6.4.1"
    xpu = replace(GOOD, cuda_driver=None, cuda_problem="no", intel=True, torch_cuda=None, torch_xpu="20250302")
    assert statuses(xpu)["driver"] == NOT_MEASURED
    assert xpu.build == "XPU"
    assert statuses(replace(GOOD, wsl=True))["driver"] == PASS


def test_what_torchs_own_file_says_of_its_build():
    new = "__version__ = '2.11.0+cu130'\ndebug = False\ncuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n"
    assert driver.assigned(new) == {"__version__": "2.11.0+cu130", "cuda": "13.0"}
    assert driver.assigned("cuda = '12.1'\nhip = None\n") == {"cuda": "12.1"}
    assert driver.assigned("hip: Optional[str] = '6.4.43482'\n") == {"hip": "6.4.43482"}


def test_an_older_triton_is_not_a_fault(monkeypatch):
    def older(_):
        raise TypeError("ASTSource.__init__() got an unexpected argument")

    monkeypatch.setattr(bring_up, "_compiled", older)
    assert [one.status for one in bring_up.compiled_for(find_target("sm_90"))] == [FAIL, NOT_MEASURED]
    monkeypatch.setattr(bring_up, "older_triton", lambda: True)
    assert [one.status for one in bring_up.compiled_for(find_target("sm_90"))] == [NOT_MEASURED, NOT_MEASURED]


def test_a_pair_without_metadata_is_looked_up_and_an_unknown_one_is_not_guessed():
    assert statuses(replace(GOOD, triton_wanted=None))["pair"] == PASS
    assert statuses(replace(GOOD, triton_wanted=None, torch="2.9.1", triton="3.6.0"))["pair"] == WARN
    assert statuses(replace(GOOD, triton_wanted=None, torch="9.9.0"))["pair"] == NOT_MEASURED


def test_variables_that_slow_or_hide_are_named():
    for name in driver.SLOWING:
        found = driver.variables({name: "1"})
        assert found.status == WARN
        assert found.step == f"unset {name}"
    assert driver.variables({"CUDA_VISIBLE_DEVICES": ""}).status == WARN
    assert driver.variables({"CUDA_VISIBLE_DEVICES": "0", "TRITON_INTERPRET": "0"}).status == PASS


# The tools.


def test_a_missing_compiler(tmp_path):
    found, path = toolchain.c_compiler({"PATH": str(tmp_path)})
    assert (found.status, path) == (FAIL, None)
    assert "build-essential" in found.step
    assert toolchain.headers(None).status == NOT_MEASURED


def test_a_compiler_that_is_a_folder_or_does_not_compile(tmp_path):
    assert toolchain.c_compiler({"CC": str(tmp_path), "PATH": ""})[0].status == FAIL
    false = tmp_path / "gcc"
    false.write_text("#!/bin/sh\necho 'gcc: fatal error: cannot execute cc1' >&2\nexit 1\n")
    false.chmod(0o755)
    found, _ = toolchain.c_compiler({"PATH": str(tmp_path)})
    assert found.status == FAIL
    assert "cannot execute cc1" in found.said


def test_missing_headers(tmp_path):
    _, compiler = toolchain.c_compiler({"PATH": "/usr/bin:/bin"})
    if compiler is None:
        pytest.skip("no compiler")
    assert toolchain.headers(compiler).status == PASS
    found = toolchain.headers(compiler, str(tmp_path))
    assert found.status == FAIL
    assert "python3-dev" in found.step


def test_a_cache_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    found = toolchain.cache_folder({"TRITON_CACHE_DIR": str(tmp_path / "file" / "cache")}, "")
    assert found.status == FAIL
    assert "TRITON_CACHE_DIR" in found.step


@pytest.mark.parametrize(
    ("mounts", "status"),
    [
        ("a / ext4 rw 0 0\nb {} nfs4 rw 0 0", WARN),
        ("a / ext4 rw 0 0\nb {} tmpfs rw,noexec 0 0", FAIL),
        ("a / ext4 rw 0 0\nb {} xfs rw 0 0", PASS),
        ("a / nfs rw 0 0\nb {} xfs rw 0 0", PASS),
    ],
)
def test_where_the_cache_folder_lies(tmp_path, mounts, status):
    assert toolchain.cache_folder({"TRITON_CACHE_DIR": str(tmp_path)}, mounts.format(tmp_path)).status == status


def ptxas(folder: Path, name: str, version: str) -> None:
    file = folder / name
    file.write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release {version}, V{version}.1'\n")
    file.chmod(0o755)


def test_a_ptxas_that_is_too_old_for_the_gpu(tmp_path):
    ptxas(tmp_path, "ptxas", "12.4")
    assert [one.status for one in toolchain.ptxas([90], {}, tmp_path)] == [PASS]
    assert [one.status for one in toolchain.ptxas([120], {}, tmp_path)] == [FAIL]
    ptxas(tmp_path, "ptxas-blackwell", "12.9")
    both = list(toolchain.ptxas([90, 120], {}, tmp_path))
    assert [(one.check, one.status) for one in both] == [("ptxas", PASS), ("ptxas blackwell", PASS)]
    ptxas(tmp_path, "old", "11.4")
    (old,) = toolchain.ptxas([90], {"TRITON_PTXAS_PATH": str(tmp_path / "old")}, tmp_path)
    assert old.status == FAIL
    assert "Unset TRITON_PTXAS_PATH" in old.step
    (missing,) = toolchain.ptxas([90], {}, tmp_path / "none")
    assert missing.status == FAIL


def test_libcuda_in_the_cache_of_the_linker_or_in_a_named_folder(tmp_path):
    assert toolchain.libcuda({}, lambda: "libcuda.so.1 (libc6,x86-64) => /usr/lib/libcuda.so.1").status == PASS
    assert toolchain.libcuda({}, lambda: "libc.so.6").status == FAIL
    (tmp_path / "libcuda.so.1").write_text("")
    assert toolchain.libcuda({"TRITON_LIBCUDA_PATH": str(tmp_path)}, lambda: "").status == PASS


# The card, with NVML's values planted.


class FakeNvml:
    """Answers by name of function; what is not planted raises, as NVML does for what a card does not know."""

    def __init__(self, **answers: object) -> None:
        self.answers = answers

    def __getattr__(self, name: str):
        if name.startswith("NVML_"):
            return name
        if name not in self.answers:
            raise AttributeError(name)
        return lambda handle, *arguments: self.answers[name]


HEALTHY = {
    "nvmlDeviceGetMigMode": [0, 0],
    "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=150 * 10**9, used=5 * 10**8),
    "nvmlDeviceGetComputeRunningProcesses": [],
    "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=0),
    "nvmlDeviceGetTotalEccErrors": 0,
    "nvmlDeviceGetRemappedRows": (0, 0, 0, 0),
    "nvmlDeviceGetEnforcedPowerLimit": 700_000,
    "nvmlDeviceGetPowerManagementDefaultLimit": 700_000,
    "nvmlDeviceGetCurrentClocksThrottleReasons": 1,
    "nvmlDeviceGetApplicationsClock": 1980,
    "nvmlDeviceGetMaxClockInfo": 1980,
}


def card(**answers: object) -> nvml.Card:
    return nvml.Card(FakeNvml(**{**HEALTHY, **answers}), 0)


def found_by(name: str, **answers: object) -> v.Result:
    return next(one for one in health.checks(gpu(), card(**answers)) if one.check == name)


def test_a_healthy_card_passes():
    assert {one.check: one.status for one in health.checks(gpu(), card()) if one.status != PASS} == {}


@pytest.mark.parametrize(
    ("check", "answers", "status", "word"),
    [
        ("ecc", {"nvmlDeviceGetTotalEccErrors": 3}, FAIL, "replaced"),
        ("repairs", {"nvmlDeviceGetRemappedRows": (0, 1, 1, 0)}, FAIL, "Reset"),
        ("repairs", {"nvmlDeviceGetRemappedRows": (0, 1, 0, 1)}, FAIL, "replaced"),
        ("repairs", {"nvmlDeviceGetRemappedRows": (0, 1, 0, 0)}, WARN, "grows"),
        ("repairs", {"nvmlDeviceGetRetiredPagesPendingStatus": 1}, FAIL, "Reset"),
        ("power limit", {"nvmlDeviceGetEnforcedPowerLimit": 350_000}, WARN, "50%"),
        ("clock limit", {"nvmlDeviceGetCurrentClocksThrottleReasons": 2, "nvmlDeviceGetApplicationsClock": 900}, WARN, "-rac"),
        ("users", {"nvmlDeviceGetComputeRunningProcesses": [SimpleNamespace(pid=1)]}, WARN, "shared card"),
        ("users", {"nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=95)}, WARN, "shared card"),
        ("memory", {"nvmlDeviceGetMemoryInfo": SimpleNamespace(total=190 * 10**9, used=0)}, FAIL, "missing"),
        ("mig", {"nvmlDeviceGetMigMode": [1, 1]}, WARN, "slice"),
    ],
)
def test_a_planted_fault_of_the_card_is_caught(check, answers, status, word):
    found = found_by(check, **answers)
    assert found.status == status
    assert word in found.step


def test_what_a_card_does_not_tell_is_not_measured_and_never_passed():
    silent = nvml.Card(FakeNvml(), 0)
    told = {one.check: one.status for one in health.checks(gpu(), silent)}
    assert {name for name, status in told.items() if status == PASS} == {"mig"}
    assert [one.status for one in health.checks(gpu(), None)] == [NOT_MEASURED]


def test_nvml_that_does_not_open(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert health.library(nvml.opened()).status == NOT_MEASURED

    def broken() -> None:
        raise RuntimeError("Driver/library version mismatch")

    monkeypatch.setitem(sys.modules, "pynvml", SimpleNamespace(nvmlInit=broken))
    found = health.library(nvml.opened())
    assert found.status == FAIL
    assert "Restart" in found.step


# What a card is.


@pytest.mark.parametrize(
    ("arch", "units", "cores"),
    [(86, 82, 10496), (80, 108, 6912), (90, 132, 16896), (120, 170, 21760), (75, 40, 2560), (99, 10, None)],
)
def test_cuda_cores(arch, units, cores):
    assert facts.cores(gpu(arch=arch, units=units)) == cores


@pytest.mark.parametrize(
    ("mhz", "bus", "expected"), [(3201, 6144, 4917), (1593, 5120, 2039), (9751, 384, 936), (5001, 256, 320)]
)
def test_bandwidth(mhz, bus, expected):
    assert facts.bandwidth(gpu(memory_mhz=mhz, bus=bus)) / 1e9 == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "arch", "units", "mhz", "teraflops"),
    [
        ("NVIDIA H100 80GB HBM3", 90, 132, 1830, 989),
        ("NVIDIA A100-SXM4-80GB", 80, 108, 1410, 312),
        ("NVIDIA GeForce RTX 3090", 86, 82, 1695, 71),
        ("NVIDIA GeForce RTX 4090", 89, 128, 2520, 165),
        ("NVIDIA A40", 86, 84, 1740, 150),
        ("Tesla T4", 75, 40, 1590, 65),
    ],
)
def test_tensor_rates_give_the_data_sheets_figures(name, arch, units, mhz, teraflops):
    rate = facts.tensor_rate(gpu(name=name, arch=arch))
    assert rate * units * mhz * 1e6 / 1e12 == pytest.approx(teraflops, rel=0.01)


def test_what_is_not_known_stays_unknown():
    assert facts.tensor_rate(gpu(name="NVIDIA Something", arch=89)) is None
    assert facts.tensor_rate(gpu(name="NVIDIA GeForce GTX 1660", arch=75)) is None
    amd = Gpu(0, "AMD gfx942", None, find_target("gfx942"), 304, None, None)
    told = {fact.name: fact.value for fact in facts.facts(amd)}
    assert told["Wavefront"] == "64 threads"
    assert {
        told[name] for name in ("CUDA cores", "Memory", "L2 cache", "Bandwidth by formula", "16-bit matmul by formula")
    } == {"unknown"}
    assert facts.bandwidth(replace(amd, memory_clock_hz=1300 * 10**6, bus_bits=8192)) is None


def test_facts_show_their_formula():
    told = {fact.name: fact for fact in facts.facts(gpu())}
    assert (told["CUDA cores"].value, told["CUDA cores"].source) == ("16,896", "132 multiprocessors x 128")
    assert told["Bandwidth by formula"].source == "3,201 MHz x 6,144 bits x 2 / 8"
    assert told["Bandwidth by formula"].value == "4,917 GB/s"


# Truth.


def test_a_wheel_without_the_architecture():
    assert bring_up.covers("sm_90", ["sm_80", "sm_90"]).status == PASS
    assert bring_up.covers("sm_89", ["sm_80", "sm_86"]).status == PASS
    assert bring_up.covers("sm_120", ["sm_80", "sm_90"]).status == FAIL
    assert bring_up.covers("sm_120", ["sm_80", "compute_90"]).status == WARN
    assert bring_up.covers("sm_61", ["sm_75", "sm_80"]).status == FAIL
    assert bring_up.covers("gfx942", ["gfx90a", "gfx942"]).status == PASS


def interpreted():
    from kernels.runtime import interpreter

    interpreter.repair()


def test_the_ragged_add_is_right_in_the_interpreter():
    from kernels.check.probes import add_kernel

    interpreted()
    assert truth.ragged_add(add_kernel, 1003, "cpu", 256).status == PASS


def test_a_kernel_without_a_mask_touches_the_canaries():
    from .check_probes import unmasked_kernel

    interpreted()
    found = truth.ragged_add(unmasked_kernel, 1003, "cpu", 256)
    assert found.status == FAIL
    assert "0 of 1,003 elements differ, 21 cells past the ends" in found.said


def test_a_wrong_operator_is_caught_in_every_dtype():
    from kernels import DTYPES, Problem, operators
    from kernels.runtime.request import Request

    interpreted()
    for name in ("vector_add", "softmax", "matmul_relu"):
        operator = operators()[name]
        problems = [Problem(truth.ragged_sizes(operator, truth.SIZES_INTERPRETED), dtype) for dtype in DTYPES]
        requests = [Request(name, problem, operator.tiling(problem)) for problem in problems]

        def off_by_a_little(tiling, wrapper=operator.wrapper, **inputs):
            output = wrapper(**inputs, tiling=tiling)
            output.view(-1)[7] = output.view(-1)[7] * 1.1 + 0.1
            return output

        assert truth.one_operator(requests, "cpu").status == PASS
        assert truth.one_operator(requests, "cpu", off_by_a_little).status == FAIL


def test_an_operator_that_raises_costs_its_own_result_alone(monkeypatch):
    from kernels import operators

    def one_operator(requests, device):
        if requests[0].operator == "softmax":
            raise AttributeError("module 'triton.language' has no attribute 'make_tensor_descriptor'")
        return v.Result(requests[0].operator, "", "truth", PASS)

    monkeypatch.setattr(truth, "one_operator", one_operator)
    found = {one.check: one for one in truth.against_float64("cuda", truth.SIZES)}
    assert len(found) == len(operators())
    assert [name for name, one in found.items() if one.status == FAIL] == ["operator softmax"]
    assert "pair that belongs together" in found["operator softmax"].step
    monkeypatch.setattr(truth, "older_triton", lambda: True)
    found = {one.check: one.status for one in truth.against_float64("cuda", truth.SIZES)}
    assert found["operator softmax"] == NOT_MEASURED
    assert [one.status for one in truth.against_float64("cpu", truth.SIZES)] == [NOT_MEASURED]


def test_a_call_that_changes_its_mind_or_gives_nan():
    import torch

    results = iter([torch.zeros(4)] * 9 + [torch.tensor([0.0, 0.0, 0.0, 1e-7])] + [torch.zeros(4)] * 10)
    found = truth.same_bits({"sum": lambda: next(results)})
    assert found.status == FAIL
    assert "sum 1 times" in found.said
    assert truth.same_bits({"sum": lambda: torch.full((2,), float("nan"))}).status == FAIL
    assert truth.same_bits({"sum": lambda: torch.ones(2)}).status == PASS


def test_repeats_of_an_older_triton_say_what_was_left_out(monkeypatch):
    import torch

    noise = torch.randn
    monkeypatch.setattr(torch, "randn", lambda *sizes, device, dtype: noise(8, 8))
    monkeypatch.setitem(sys.modules, "kernels.softmax", None)
    (found,) = truth.repeats(Context())
    assert found.status == PASS
    assert found.said.startswith("cuBLAS: the same 20 times; none of Triton's, whose kernels cannot be loaded here (Module")


def test_compiling_tells_which_half_failed(monkeypatch):
    target = find_target("sm_90")
    monkeypatch.setattr(
        bring_up,
        "_compiled",
        lambda _: (_ for _ in ()).throw(RuntimeError("`ptxas` failed: sm_121a is not defined for option 'gpu-name'")),
    )
    ptx, cubin = bring_up.compiled_for(target)
    assert (ptx.status, cubin.status) == (PASS, FAIL)
    assert "TRITON_PTXAS_PATH" in cubin.step
    monkeypatch.setattr(
        bring_up, "_compiled", lambda _: (_ for _ in ()).throw(ValueError("arange's range must be a power of 2"))
    )
    ptx, cubin = bring_up.compiled_for(target)
    assert (ptx.status, cubin.status) == (FAIL, NOT_MEASURED)


# Physics.


@pytest.mark.parametrize(
    ("gigabytes", "status"), [(4270, PASS), (3940, PASS), (3900, WARN), (2960, WARN), (2900, FAIL), (4917, PASS), (5100, FAIL)]
)
def test_dram_against_its_formula(gigabytes, status):
    found = physics.dram_result("dram copy", "DRAM copy", gigabytes * 1e9, facts.bandwidth(gpu()), "cuda")
    assert found.status == status
    assert "4,917" in found.limit
    assert bool(found.step) == (status != PASS)


def test_more_than_possible_is_invalid_and_no_limit_is_not_a_pass():
    found = physics.dram_result("dram copy", "DRAM copy", 3868e9, 1008e9, "cuda")
    assert found.status == FAIL
    assert "not valid" in found.said
    found = physics.dram_result("dram copy", "DRAM copy", 3000e9, None, "hip")
    assert (found.status, found.value) == (NOT_MEASURED, 3000.0)


def test_a_slow_copy_by_a_raised_limit():
    """A driver that tells twice the clock makes a good copy fail: the limit is used."""
    assert physics.dram_result("dram copy", "", 4270e9, facts.bandwidth(gpu(memory_mhz=6402)), "cuda").status == FAIL


@pytest.mark.parametrize(
    ("rate", "clock", "status"),
    [(726e12, 1500e6, PASS), (500e12, 1500e6, WARN), (300e12, 1500e6, FAIL), (989e12, 1980e6, PASS), (1979e12, 1980e6, FAIL)],
)
def test_matmul_against_the_clock_seen(rate, clock, status):
    assert physics.matmul_result(gpu(), rate, clock, 8192).status == status


def test_matmul_without_a_clock_or_on_a_slice_is_not_measured():
    assert physics.matmul_result(gpu(), 700e12, None, 8192).status == NOT_MEASURED
    assert physics.matmul_result(gpu(), 100e12, 1500e6, 8192, mig=True).status == NOT_MEASURED
    here = v.Result("triton matmul", "", "speed", PASS)
    assert physics.against_cublas(here, 300e12, 700e12).status == WARN
    assert physics.against_cublas(here, 690e12, 700e12).status == PASS


@pytest.mark.parametrize(("microseconds", "status"), [(7, PASS), (16, WARN), (60, FAIL)])
def test_the_empty_launch(microseconds, status):
    assert judge.launch_time(v.Result("launch time", "", "speed", PASS), microseconds * 1e-6).status == status


def test_the_fit_finds_what_made_the_times():
    volumes = [2**power for power in range(20, 31, 2)]
    times = [4e-6 + volume / 4.2e12 for volume in volumes]
    a, b = judge.fit(volumes, times)
    assert (a, b) == (pytest.approx(4e-6, rel=1e-6), pytest.approx(4.2e12, rel=1e-6))
    found = physics.swept(volumes, times, 3.5e-6)
    assert found.status == PASS
    assert found.series["fit"][1] == pytest.approx(4.2e12)
    assert physics.swept(volumes, times, 30e-6).status == WARN
    disturbed = [*times[:-1], 2 * times[-1]]
    assert physics.swept(volumes, disturbed, 3.5e-6).status == WARN


def copies(**more):
    speeds = {"host to gpu": 54e9, "gpu to host": 53e9} | more.pop("speeds", {})
    found = host_copies.judged(speeds, more.get("link", (5, 16)), more.get("best", (5, 16)), same=more.get("same", True))
    return {one.check: one.status for one in found}


def test_host_copies_against_the_link_under_load():
    assert set(copies().values()) == {PASS}
    assert copies(speeds={"host to gpu": 30e9})["host to gpu"] == FAIL
    assert copies(speeds={"host to gpu": 42e9})["host to gpu"] == WARN
    down = copies(speeds={"host to gpu": 12.5e9, "gpu to host": 12.5e9}, link=(3, 16))
    assert (down["pcie"], down["host to gpu"]) == (WARN, PASS)
    assert copies(link=(5, 8))["pcie"] == WARN
    assert set(copies(link=None).values()) == {NOT_MEASURED}
    assert copies(same=False)["host to gpu"] == FAIL
    assert copies(speeds={"host to gpu": 400e9})["host to gpu"] == NOT_MEASURED


# Under load.


def load(bits: int = 0, clocks=(1980e6, 1950e6), rates=(700e12, 690e12), **more) -> Load:
    times = [0.1 * number for number in range(150)]
    first, last = clocks
    samples = tuple((time, State(first if time < 5 else last, None, 60.0, 690.0, held_back(bits))) for time in times)
    series = tuple((time, rates[0] if time < 5 else rates[1]) for time in times)
    return Load(samples, series, **{"power_limit": 700.0, "margin": 25, "uncorrected": (0, 0), "replays": (3, 3), **more})


def under(found: Load, check: str, **more) -> v.Result:
    return next(one for one in sustained.judged(found, **more) if one.check == check)


def test_a_good_load_passes_and_keeps_its_samples():
    assert {one.status for one in sustained.judged(load())} == {PASS}
    series = under(load(), "sustained rate").series
    assert len(series["sm_clock"]) == len(series["power"]) == len(series["time"]) == 150
    assert series["rate"][0] == pytest.approx(700)


@pytest.mark.parametrize(
    ("bits", "status"),
    [
        (0x0, PASS),
        (0x1, PASS),
        (0x4, PASS),
        (0x8, FAIL),
        (0x20, WARN),
        (0x40, FAIL),
        (0x80, FAIL),
        (0x4 | 0x40, FAIL),
        (0x4 | 0x20, WARN),
    ],
)
def test_reasons_are_tested_by_bits(bits, status):
    assert under(load(bits), "reasons").status == status


def test_a_clock_that_falls_is_judged_by_why():
    assert under(load(0x40, (1980e6, 1500e6)), "clock kept").status == FAIL
    assert under(load(0x20, (1980e6, 1700e6)), "clock kept").status == WARN
    by_power = under(load(0x4, (1965e6, 1700e6)), "clock kept")
    assert by_power.status == PASS
    assert "design" in by_power.step
    assert under(load(0x4, (1965e6, 1500e6)), "clock kept").status == WARN
    assert under(load(0, (1965e6, 1700e6)), "clock kept").status == WARN
    assert under(load(0, rates=(700e12, 400e12)), "sustained rate").status == FAIL


@pytest.mark.parametrize("bits", [0x0, 0x4])
@pytest.mark.parametrize("last", [1950e6, 1700e6, 1500e6])
def test_the_threshold_shown_is_the_one_that_decides(bits, last):
    found = under(load(bits, (1980e6, last)), "clock kept")
    assert (found.distance >= 0) == (found.status == PASS)


def test_a_second_that_is_not_over_is_not_the_best():
    """As seen on an H200: the load ended, and its last two samples are of a card at rest."""
    whole = load(0x4, (1500e6, 1500e6))
    rest = [(15.05 + 0.05 * number, replace(whole.samples[-1][1], sm_clock=1965e6)) for number in range(2)]
    found = under(replace(whole, samples=(*whole.samples, *rest)), "clock kept")
    assert found.threshold == pytest.approx(0.8 * 1500)


def test_heat_power_and_errors_after_the_load():
    assert under(load(margin=5), "temperature").status == WARN
    assert under(load(margin=0), "temperature").status == FAIL
    assert under(load(margin=None), "temperature").status == NOT_MEASURED
    assert under(load(power_limit=1400.0), "power").status == WARN
    assert under(load(uncorrected=(0, 1)), "after").status == FAIL
    assert under(load(replays=(3, 9)), "after").status == WARN
    assert under(load(), "after", alive=False).status == FAIL
    silent = Load(tuple((0.1 * number, State()) for number in range(100)), ())
    assert {one.status for one in sustained.judged(silent) if one.check != "after"} == {NOT_MEASURED}


def pairs(slow: float = 390e9) -> list[float]:
    return [0.0, 390e9, slow, 0.0]


def test_peer_copies():
    assert peers.judged(2, pairs(), [], [], 450.0).status == PASS
    assert peers.judged(2, pairs(200e9), [], [], 450.0).status == FAIL
    assert peers.judged(2, pairs(335e9), [], [], 450.0).status == WARN
    assert peers.judged(2, pairs(), [(0, 1)], [], 450.0).status == FAIL
    assert peers.judged(2, pairs(), [], [(0, 1), (1, 0)], 450.0).status == NOT_MEASURED
    assert peers.judged(2, pairs(), [], [], None).status == NOT_MEASURED
    assert peers.judged(2, pairs(), [], [], 450.0).series["speeds"] == (0.0, 390.0, 390.0, 0.0)


# The report.

CARD = v.Card("GPU-a", 0, "NVIDIA H200", (v.Fact("UUID", "GPU-a", "driver"), v.Fact("CUDA cores", "16,896", "132 x 128")))


def report(*results: v.Result, complete: bool = True) -> v.Report:
    essential = [v.Result(name, name, "truth", PASS, "said", "limit", "source", gpu="GPU-a", value=1.0) for name in v.ESSENTIAL]
    return v.Report("2026-01-02T03:04:05+00:00", (CARD,), (*essential, *results), {"torch": "2.11.0"}, 41.0, complete=complete)


def one(status: str, check: str = "x", **more) -> v.Result:
    return v.Result(check, "Some check", "speed", status, gpu="GPU-a", step="Do this.", **more)


def test_exit_codes_and_first_lines():
    assert v.exit_code(report()) == 0
    assert v.verdict(report()).startswith("**OK**: 3 checks passed on NVIDIA H200.")
    assert v.exit_code(report(one(WARN))) == 3
    assert "Works, with 1 warning" in v.verdict(report(one(WARN)))
    assert v.exit_code(report(one(WARN), one(FAIL))) == 1
    assert "Not OK" in v.verdict(report(one(FAIL)))
    assert v.exit_code(report(one(NOT_MEASURED))) == 0
    assert "1 could not be measured" in v.verdict(report(one(NOT_MEASURED)))
    assert v.exit_code(report(complete=False)) == 3
    assert v.exit_code(v.Report("2026", (), ())) == 4
    assert v.exit_code(v.Report("2026", (CARD,), (one(NOT_MEASURED),))) == 4


def test_an_essential_check_that_was_not_measured_is_never_a_pass():
    results = tuple(replace(found, status=NOT_MEASURED) if found.check == "dram copy" else found for found in report().results)
    short = replace(report(), results=results)
    assert v.exit_code(short) == 3
    assert "Not known" in v.verdict(short)


def test_the_distance_to_a_threshold():
    assert one(PASS, value=88.0, threshold=80.0).distance == pytest.approx(0.1)
    assert one(WARN, value=88.0, threshold=80.0, higher=False).distance == pytest.approx(-0.1)
    assert one(PASS).distance is None


def test_json_and_back():
    full = report(one(WARN, series={"a": (1.0, 2.0)}, value=3.5, threshold=4.0, higher=False))
    assert v.from_json(v.to_json(full), "a") == full


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not a JSON file"),
        ("[]", "not a report"),
        ('{"kind": "triton-explorer run", "schema": 1}', "not a report"),
        ('{"kind": "triton-explorer check", "schema": 9}', "schema 9"),
        ('{"kind": "triton-explorer check", "schema": 1}', "missing"),
        (json.dumps(json.loads(v.to_json(report())) | {"quick": 3}), "true or false"),
        (v.to_json(report()).replace('"PASS"', '"FINE"'), "$.results[0].status: invalid enum value 'FINE'"),
    ],
)
def test_bad_files_are_one_line(text, says):
    with pytest.raises(v.UnreadableError) as error:
        v.from_json(text, "file.json")
    assert says in str(error.value)
    assert "\n" not in str(error.value)
