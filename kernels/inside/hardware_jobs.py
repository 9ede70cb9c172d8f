"""The tasks of workers that look at the hardware's side of a launch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import in_sentences
from ..runtime.device import Gpu, Target
from ..runtime.request import Request

if TYPE_CHECKING:
    from ..runtime.records import Access
    from .analysis import Analysis
    from .asked import Asked
    from .held import Held
    from .schedule import Schedule
    from .sector_counters import Counts
    from .threads import Threads


def analysis_job(request: Request, target: Target) -> Analysis:
    """In the compile worker: see `analysis`."""
    from .analysis import analysis

    with in_sentences():
        return analysis(request, target)


def variants_job(requests: tuple[Request, ...], target: Target, progress: str | None = None) -> tuple[Analysis, ...]:
    """In the compile worker: `analysis` of each request. Progress goes to a file."""
    from .analysis import analysis

    found = []
    for number, request in enumerate(requests):
        if progress:
            Path(progress).write_text(f"{number} {len(requests)}")
        with in_sentences():
            found.append(analysis(request, target))
    return tuple(found)


def access_job(request: Request, program: int, tensor: Held) -> Access | None:
    """In the trace worker: see `access_of`."""
    from .sectors import access_of

    with in_sentences():
        return access_of(request, program, tensor)


def asked_job(request: Request, tensors: tuple[tuple[Held, int], ...]) -> Asked:
    """In the worker of whole traces: see `asked`."""
    from .asked import asked

    with in_sentences():
        return asked(request, tensors)


def threads_job(request: Request, target: Target, progress: str | None = None) -> Threads:
    """In a device worker: see `read_threads`."""
    from .threads import read_threads

    with in_sentences():
        return read_threads(request, target)


def schedule_job(request: Request, target: Target, progress: str | None = None) -> Schedule:
    """In a device worker: see `run_schedule`."""
    from .schedule import run_schedule

    with in_sentences():
        return run_schedule(request, target)


def counts_job(request: Request, gpu: Gpu, progress: str | None = None) -> tuple[Counts | None, str]:
    """In a device worker, in line with other launches: see `counts`."""
    from .sector_counters import counts

    with in_sentences():
        return counts(request, gpu)
