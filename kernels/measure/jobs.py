"""What the worker of a GPU does for a measurement."""

from __future__ import annotations

from pathlib import Path

from ..errors import TaskError, in_sentences
from ..runtime.device import Gpu
from ..runtime.request import Request
from ..traffic.known import count_here
from . import memory
from .point import Task
from .records import Point, Roofs


def measure_job(task: Task, gpu: Gpu, progress: str | None = None) -> Point:
    """In a device worker: see `measure`. Progress goes to a file."""
    from .point import measure

    count_here()

    def report(done: int, of: int) -> None:
        if progress:
            Path(progress).write_text(f"{done} {of}")

    return measure(task, gpu, report)


def fitting_job(request: Request, direction: str, free: int) -> Request | None:
    """In the interpret worker: see `memory.fitting`; every size that it tries is counted."""
    with in_sentences():
        count_here()
        return memory.fitting(request, direction, free)


def roofs_job(gpu: Gpu, dtypes: tuple[str, ...]) -> Roofs:
    """In a device worker: see `roofs.measured`."""
    with in_sentences():
        import torch

        from .roofs import measured

        with torch.cuda.stream(torch.cuda.Stream()):
            return measured(gpu, dtypes)


def counters_job(point: Point, gpu: Gpu) -> Point:
    """Beside a device worker: see `counters.counted`; the kernels run in a process that Nsight Compute starts."""
    from .counters import UncountedError, counted

    try:
        return counted(point, gpu)
    except UncountedError as error:
        raise TaskError(str(error)) from None


def versions_job() -> dict[str, str]:
    """In a device worker: the versions that a figure depends on."""
    import platform

    with in_sentences():
        import torch
        import triton

    found = {"torch": str(torch.__version__), "triton": triton.__version__, "python": platform.python_version()}
    driver = driver_version()
    return {
        **found,
        "cuda": torch.version.cuda or "",
        **({"hip": torch.version.hip} if torch.version.hip else {}),
        **({"driver": driver} if driver else {}),
    }


def driver_version() -> str | None:
    """The version of NVIDIA's driver; None where NVML does not tell."""
    try:
        import pynvml

        pynvml.nvmlInit()
        return str(pynvml.nvmlSystemGetDriverVersion())
    except Exception:  # no package, no driver: not told
        return None
