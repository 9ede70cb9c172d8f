"""The tasks that workers run. What they need is imported when they run: no worker has more than its task asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import TaskError as TaskError
from ..errors import in_sentences
from .records import Limits
from .request import Request

if TYPE_CHECKING:
    from .compile import Verdict
    from .device import Target
    from .launch import Result
    from .picture import Picture
    from .provenance import Origin
    from .wrap import Wrap


def selftest_job() -> str | None:
    """In the trace worker: see `selftest`."""
    from .selftest import selftest

    return selftest()


def picture_job(request: Request, chosen: int, step: int | None, lane: int, limits: Limits, alone: bool) -> Picture:
    """In the trace worker: see `draw`."""
    from .draw import draw

    with in_sentences():
        return draw(request, chosen, step, lane, limits, alone)


def origin_job(request: Request, argument: str, element: int) -> Origin:
    """In the trace worker: see `origin`."""
    from .provenance import origin

    with in_sentences():
        return origin(request, argument, element)


def wrap_job(request: Request) -> Wrap | None:
    """In the trace worker: see `wrap`."""
    from .wrap import wrap

    with in_sentences():
        return wrap(request)


def verdict_job(request: Request, target: Target) -> Verdict:
    """In the compile worker: see `verdict`."""
    from .compile import verdict

    with in_sentences():
        return verdict(request.launch(), target)


def launch_job(request: Request, device: str, progress: str | None = None) -> Result:
    """In a device worker ("cuda") or in the interpret worker ("cpu"): see `launch_once`. Progress goes to a file."""
    from .launch import launch_once

    if device == "cpu":
        from . import interpreter

        interpreter.repair()

    def report(done: int, programs: int) -> None:
        Path(progress).write_text(f"{done} {programs}")

    with in_sentences():
        return launch_once(request, device, report if progress else None)
