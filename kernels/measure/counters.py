"""DRAM bytes as the GPU's own counters have them, through Nsight Compute, in a process apart; never needed."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

from ..runtime.device import Gpu
from .point import Task
from .records import plain

METRICS = ("dram__bytes_read.sum", "dram__bytes_write.sum")
SECONDS = 180
UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12}


@dataclass(frozen=True)
class Counted:
    """One kernel's DRAM traffic, in bytes, as counted by the hardware."""

    kernel: str
    read: float
    written: float


def missing() -> str | None:
    """Why no counters can be read here, in a sentence; None where Nsight Compute is there."""
    if shutil.which("ncu") is None:
        return "Nsight Compute's `ncu` is not on the PATH; it reads the counters."
    return None


def count(task: Task, gpu: Gpu, way: str) -> tuple[tuple[Counted, ...], str | None]:
    """The kernels of one call of an implementation with their bytes, or a sentence that says why there are none."""
    reason = missing()
    if reason:
        return (), reason
    script = (sys.executable, "-m", "kernels.measure.counted_call", json.dumps(plain(task.point())), way)
    options = ("--csv", "--clock-control", "none", "--cache-control", "none", "--profile-from-start", "off")
    environment = {**os.environ, "TRITON_INTERPRET": "0", "CUDA_VISIBLE_DEVICES": gpu.uuid or str(gpu.index)}
    command = [shutil.which("ncu") or "ncu", *options, "--metrics", ",".join(METRICS), *script]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return (), f"Nsight Compute gave no answer in {SECONDS} s."
    return read(done.stdout, done.stderr)


def read(output: str, errors: str = "") -> tuple[tuple[Counted, ...], str | None]:
    """What Nsight Compute printed, as kernels with bytes, or why there are none."""
    if "ERR_NVGPUCTRPERM" in output + errors:
        return (), (
            "The driver lets only an administrator read the counters (ERR_NVGPUCTRPERM): start the app as root, or set "
            "NVreg_RestrictProfilingToAdminUsers=0 for the kernel module."
        )
    start = re.search(r'^"ID"', output, re.MULTILINE)
    if not start:
        last = next((line for line in reversed((errors or output).strip().split("\n")) if line.strip()), "it printed nothing")
        return (), f"Nsight Compute gave no figures: {last[:200]}"
    kernels: dict[str, dict[str, float]] = {}
    names: dict[str, str] = {}
    for row in csv.DictReader(io.StringIO(output[start.start() :])):
        if row.get("Metric Name") in METRICS:
            amount = float(row["Metric Value"].replace(",", "")) * UNITS.get(row["Metric Unit"], 1)
            kernels.setdefault(row["ID"], {})[row["Metric Name"]] = amount
            names[row["ID"]] = row["Kernel Name"]
    found = tuple(Counted(names[key], *(values.get(metric, 0.0) for metric in METRICS)) for key, values in kernels.items())
    return found, None if found else "Nsight Compute saw no kernel."
