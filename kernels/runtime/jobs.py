"""The tasks that workers run. What they need is imported when they run: no worker has more than its task asks for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .records import Limits
from .request import Request

if TYPE_CHECKING:
    from .compile import Verdict
    from .device import Target
    from .launch import Result
    from .picture import Picture
    from .provenance import Origin
    from .wrap import Wrap


class TaskError(RuntimeError):
    """A task that failed; its text is for a person. Errors of Triton and torch do not travel between processes."""


@contextlib.contextmanager
def in_words() -> Iterator[None]:
    """Turns every error into a TaskError whose text is one sentence."""
    try:
        yield
    except Exception as error:
        inner: BaseException = error
        while inner.__cause__ is not None:
            inner = inner.__cause__
        name = type(inner).__name__
        plain = name in ("ValueError", "MemoryError", "TaskError", "NotImplementedError")
        text = str(inner).strip().split("\n")[0][:400]
        raise TaskError(text if plain else f"{name}: {text}") from None


def selftest_job() -> str | None:
    """In the trace worker: see `selftest`."""
    from .selftest import selftest

    return selftest()


def picture_job(request: Request, chosen: int, step: int | None, lane: int, limits: Limits, alone: bool) -> Picture:
    """In the trace worker: see `draw`."""
    from .draw import draw

    with in_words():
        return draw(request, chosen, step, lane, limits, alone)


def origin_job(request: Request, argument: str, element: int) -> Origin:
    """In the trace worker: see `origin`."""
    from .provenance import origin

    with in_words():
        return origin(request, argument, element)


def wrap_job(request: Request) -> Wrap | None:
    """In the trace worker: see `wrap`."""
    from .wrap import wrap

    with in_words():
        return wrap(request)


def verdict_job(request: Request, target: Target) -> Verdict:
    """In the compile worker: see `verdict`."""
    from .compile import verdict

    with in_words():
        return verdict(request.launch(), target)


def launch_job(request: Request, device: str, progress: str | None = None) -> Result:
    """In a device worker ("cuda") or in the interpret worker ("cpu"): see `launch_once`. Progress goes to a file."""
    from .launch import launch_once

    if device == "cpu":
        from . import interpreter

        interpreter.repair()

    def report(done: int, programs: int) -> None:
        Path(progress).write_text(f"{done} {programs}")

    with in_words():
        return launch_once(request, device, report if progress else None)
