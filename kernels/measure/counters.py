"""DRAM bytes as the GPU's own counters have them, through Nsight Compute, in a process apart; never needed."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..runtime.device import Gpu
from ..storage import codec
from .profiler import CLEARING, short_name
from .records import KernelBytes, Point

METRICS = ("dram__bytes_read.sum", "dram__bytes_write.sum")
SECONDS = 180
ROOT = Path(__file__).parents[2]  # where `python -m` finds this program, wherever the app was started
UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12}


class UncountedError(RuntimeError):
    """No counters could be read; its text is a sentence that says why."""


def missing() -> str | None:
    """Why no counters can be read here, in a sentence; None where Nsight Compute is there."""
    if shutil.which("ncu") is None:
        return "Nsight Compute's `ncu` is not on the PATH; it reads the counters."
    return None


def counted(point: Point, gpu: Gpu) -> Point:
    """The point with the DRAM bytes of every kernel of every implementation that has a time. Raises UncountedError."""
    reason = missing()
    if reason:
        raise UncountedError(reason)
    names = [one.way for one in point.timed if one.kernel]
    if not names:
        return point
    asked = codec.compact(replace(point, timed=())).decode()
    script = (sys.executable, "-m", "kernels.measure.counted_call", asked, *names)
    options = ("--csv", "--clock-control", "none", "--cache-control", "none", "--profile-from-start", "off")
    environment = {**os.environ, "TRITON_INTERPRET": "0", "CUDA_VISIBLE_DEVICES": gpu.uuid or str(gpu.index)}
    command = [shutil.which("ncu") or "ncu", *options, "--metrics", ",".join(METRICS), *script]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment, cwd=ROOT, check=False)
    except subprocess.TimeoutExpired:
        raise UncountedError(f"Nsight Compute gave no answer in {SECONDS} s.") from None
    found = dict(zip(names, read(done.stdout, done.stderr, len(names)), strict=True))
    return replace(point, timed=tuple(replace(one, dram=found.get(one.way, ())) for one in point.timed))


def read(output: str, errors: str, calls: int) -> list[tuple[KernelBytes, ...]]:
    """What Nsight Compute printed, as the kernels of so many calls. Raises UncountedError where it is something else."""
    if "ERR_NVGPUCTRPERM" in output + errors:
        raise UncountedError(
            "The driver lets only an administrator read the counters (ERR_NVGPUCTRPERM): start the app as root, or set "
            "NVreg_RestrictProfilingToAdminUsers=0 for the kernel module."
        )
    found = parted(_kernels(output))
    if len(found) != calls:
        lines = [line for line in (errors + "\n" + output).split("\n") if line.strip()]
        said = next((line for line in lines if line.startswith("==ERROR==")), lines[-1] if lines else "it printed nothing")
        raise UncountedError(f"Nsight Compute gave no figures: {said[:200]}")
    return found


def _kernels(output: str) -> list[KernelBytes]:
    """All kernels in order, with their full names."""
    start = re.search(r'^"ID"', output, re.MULTILINE)
    kernels: dict[str, dict[str, float]] = {}
    names: dict[str, str] = {}
    for row in csv.DictReader(io.StringIO(output[start.start() :] if start else "")):
        if row.get("Metric Name") in METRICS:
            amount = float(row["Metric Value"].replace(",", "")) * UNITS.get(row["Metric Unit"], 1)
            kernels.setdefault(row["ID"], {})[row["Metric Name"]] = amount
            names[row["ID"]] = row["Kernel Name"]
    return [KernelBytes(names[key], *(values.get(metric, 0.0) for metric in METRICS)) for key, values in kernels.items()]


def parted(kernels: Sequence[KernelBytes]) -> list[tuple[KernelBytes, ...]]:
    """The kernels of each call: a clearing of the cache lies before every one."""
    calls: list[list[KernelBytes]] = []
    for kernel in kernels:
        if CLEARING in kernel.name:
            calls.append([])
        elif calls:
            calls[-1].append(replace(kernel, name=short_name(kernel.name)))
    return [tuple(call) for call in calls]
