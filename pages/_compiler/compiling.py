"""What the compile worker gave for this page: kept as long as the server lives, failures as sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from kernels.inside.fits import Fit
from kernels.inside.jobs import fits_job, interpreted_job, remarks_job, stages_job, variants_job
from kernels.inside.stages import Stages
from kernels.inside.variants import Variant
from kernels.language import MISSING
from kernels.runtime.compile import Verdict
from kernels.runtime.device import Target
from kernels.runtime.jobs import TaskError
from kernels.runtime.request import Request
from kernels.runtime.workers import WorkerError
from pages import _shell
from pages._kept import kept

SECONDS = 60.0
MANY_SECONDS = 180.0
NO_ANSWER = "The compiler gave no result"
COLD_TURNS, CACHED_TURNS = 3, 7
LONG = 3.0  # a kernel that compiles so long is compiled once


def checkpoint() -> None:
    """Lets a newer run of this session take over: reading the session's state is where Streamlit stops a stale run."""
    st.session_state.get("compiler.settings")


def stages(request: Request, target: Target) -> Stages:
    """Every stage, with a line of progress while the compiler works; a crash or a hang is a refusal in words."""
    if MISSING:
        return Stages(target, Verdict(False, target.name, "Triton", MISSING))
    name = request.launch().kernel.__name__
    try:
        with st.spinner(f"Compiling {name} for {target.name} …", show_time=True):
            return _stages(f"{request!r} {target!r}", request, target)
    except WorkerError as error:
        words = f"{error} Fewer elements a thread compile faster: more warps or smaller blocks."
        return Stages(target, Verdict(False, target.name, NO_ANSWER, words))
    except TaskError as error:
        return Stages(target, Verdict(False, target.name, "Triton", str(error)))


@kept
def _stages(key: str, _request: Request, _target: Target) -> Stages:
    return _ask("compile", SECONDS, stages_job, _request, _target)


def _ask(worker: str, seconds: float, job: Callable[..., Any], *arguments: Any) -> Any:
    return _shell.workers()[worker].call(job, *arguments, seconds=seconds, checkpoint=checkpoint, kill=True)


@kept
def fits(key: str, _request: Request, _target: Target) -> tuple[Fit, ...]:
    """What would fit; nothing where that cannot be found out."""
    try:
        return _ask("compile", SECONDS, fits_job, _request, _target)
    except (TaskError, WorkerError):
        return ()


@kept
def remarks(key: str, _request: Request, _target: Target) -> tuple[str, ...]:
    """The warnings; none where the compiler gave no answer, which the page says elsewhere."""
    try:
        return _ask("compile", SECONDS, remarks_job, _request, _target)
    except (TaskError, WorkerError):
        return ()


@kept
def interpreted(key: str, _request: Request) -> tuple[bool, str]:
    """Whether Triton's interpreter runs the launch, and what it says where it does not."""
    try:
        said = _ask("trace", 20.0, interpreted_job, _request)
    except (TaskError, WorkerError) as error:
        said = str(error)
    return said is None, said or ""


@kept
def variants(key: str, _request: Request, _target: Target) -> tuple[Variant, ...] | str:
    """Which other launches need another kernel; a sentence where the compiler gave no answer."""
    try:
        return _ask("compile", MANY_SECONDS, variants_job, _request, _target)
    except (TaskError, WorkerError) as error:
        return str(error)


@kept
def times(key: str, _request: Request, _target: Target) -> tuple[tuple[Stages, ...], tuple[Stages, ...]] | str:
    """Compiled afresh a few times (a long one once), then taken from the cache a few times; a sentence where that fails."""
    try:
        cold = [_ask("compile", SECONDS, stages_job, _request, _target, True)]
        while len(cold) < COLD_TURNS and sum(cold[0].seconds.values()) < LONG:
            cold.append(_ask("compile", SECONDS, stages_job, _request, _target, True))
        cached = [_ask("compile", SECONDS, stages_job, _request, _target) for _ in range(CACHED_TURNS)]
    except (TaskError, WorkerError) as error:
        return str(error)
    return tuple(cold), tuple(cached)
