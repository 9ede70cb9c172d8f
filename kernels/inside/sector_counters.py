"""Sectors and requests as the GPU's own counters have them, through Nsight Compute, in a process apart; never needed.

`python -m kernels.inside.sector_counters TEXTS`, with the texts of a link as JSON, is what Nsight Compute watches.
"""

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

from ..measure.counters import ROOT, UncountedError, missing
from ..measure.counters import read as read_bytes
from ..runtime.device import Gpu
from ..runtime.request import Request
from ..runtime.settings import Settings, corrected, link

_PIPE = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
METRICS = {
    _PIPE.format("sectors", "ld"): "load_sectors",
    _PIPE.format("requests", "ld"): "load_requests",
    _PIPE.format("sectors", "st"): "store_sectors",
    _PIPE.format("requests", "st"): "store_requests",
}
SECONDS = 120


@dataclass(frozen=True)
class Counts:
    """What one launch of the kernel asked of the L1 cache, in all; copies to shared memory are not among them."""

    load_sectors: int
    load_requests: int
    store_sectors: int
    store_requests: int


def counts(request: Request, gpu: Gpu) -> tuple[Counts | None, str]:
    """The counters of one launch, or a sentence that says why there are none."""
    reason = missing()
    if reason:
        return None, reason
    texts = json.dumps(link(Settings(request.without_change())))
    script = (sys.executable, "-m", "kernels.inside.sector_counters", texts)
    name = request.without_change().launch().kernel.__name__
    options = ("--csv", "--clock-control", "none", "--profile-from-start", "off", "--kernel-name", name)
    environment = {**os.environ, "TRITON_INTERPRET": "0", "CUDA_VISIBLE_DEVICES": gpu.uuid or str(gpu.index)}
    command = [shutil.which("ncu") or "ncu", *options, "--metrics", ",".join(METRICS), *script]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment, cwd=ROOT, check=False)
    except subprocess.TimeoutExpired:
        return None, f"Nsight Compute gave no answer in {SECONDS} s."
    return read(done.stdout, done.stderr)


def read(output: str, errors: str = "") -> tuple[Counts | None, str]:
    """What Nsight Compute printed of the first kernel, or why there is nothing."""
    start = re.search(r'^"ID"', output, re.MULTILINE)
    if not start:
        try:
            read_bytes(output, errors, calls=1)
        except UncountedError as error:
            return None, str(error)
    found: dict[str, int] = {}
    for row in csv.DictReader(io.StringIO(output[start.start() :] if start else "")):
        if row.get("Metric Name") in METRICS:
            found.setdefault(METRICS[row["Metric Name"]], int(float(row["Metric Value"].replace(",", ""))))
    if len(found) < len(METRICS):
        return None, "Nsight Compute knows not all of these counters on this GPU."
    return Counts(**found), ""


def main(texts: str) -> None:
    """Launches twice, and lets the second launch be counted."""
    import torch

    from ..runtime.launch import prepared

    request = corrected(json.loads(texts))[0].request
    inputs = prepared(request, request.launch(), "cuda")

    def launch() -> None:
        request.description.wrapper(**inputs, tiling=request.tiling)
        torch.cuda.synchronize()

    launch()
    torch.cuda.cudart().cudaProfilerStart()
    launch()
    torch.cuda.cudart().cudaProfilerStop()


if __name__ == "__main__":
    main(sys.argv[1])
