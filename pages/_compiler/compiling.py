"""What the compile worker gave for this page: kept as long as the server lives, failures as sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from kernels.errors import EnvironmentFailure, TaskError, joined
from kernels.inside.fits import Fit
from kernels.inside.jobs import fits_job, interpreted_job, remarks_job, stages_job, variants_job
from kernels.inside.stages import Stages
from kernels.inside.variants import Variant
from kernels.language import MISSING
from kernels.runtime.compile import NO_ANSWER, Verdict
from kernels.runtime.device import Target
from kernels.runtime.request import Request
from kernels.runtime.workers import NoAnswerError
from pages import _shell, _unanswered
from pages._kept import kept

SECONDS = 60.0
MANY_SECONDS = 180.0
LIGHTER = "Fewer elements a thread compile faster: more warps or smaller blocks."
COLD_TURNS, CACHED_TURNS = 3, 7
LONG = 3.0  # a kernel that compiles so long is compiled once


def checkpoint() -> None:
    """Lets a newer run of this session take over: reading the session's state is where Streamlit stops a stale run."""
    st.session_state.get("compiler.settings")


def stages(request: Request, target: Target) -> Stages:
    """Every stage, with a line of progress while the compiler works; a compiler that gives no result says so in words."""
    if MISSING:
        return Stages(target, Verdict(False, target.name, "Triton", MISSING))
    name, key = request.launch().kernel.__name__, f"{request!r} {target!r}"
    try:
        with st.spinner(f"Compiling {name} for {target.name} …", show_time=True):
            return _unanswered.once(f"stages {key}", lambda: _stages(key, request, target))
    except NoAnswerError as error:
        return Stages(target, Verdict(False, target.name, NO_ANSWER, joined(str(error), LIGHTER)))
    except EnvironmentFailure as error:
        return Stages(target, Verdict(False, target.name, NO_ANSWER, joined(str(error))))
    except TaskError as error:
        return Stages(target, Verdict(False, target.name, "Triton", str(error)))


@kept
def _stages(key: str, _request: Request, _target: Target) -> Stages:
    """Raises what the worker raises, so that no failure is kept; so do the others below."""
    return _ask("compile", SECONDS, stages_job, _request, _target)


def _ask(worker: str, seconds: float, job: Callable[..., Any], *arguments: Any) -> Any:
    return _shell.workers()[worker].call(job, *arguments, seconds=seconds, checkpoint=checkpoint, kill=True)


def fits(request: Request, target: Target) -> tuple[Fit, ...]:
    """What would fit; nothing where that cannot be found out."""
    try:
        return _fits(f"{request!r} {target!r}", request, target)
    except TaskError:
        return ()


@kept
def _fits(key: str, _request: Request, _target: Target) -> tuple[Fit, ...]:
    return _ask("compile", SECONDS, fits_job, _request, _target)


def remarks(request: Request, target: Target) -> tuple[str, ...]:
    """The warnings; none where the compiler gave no answer, which the page says elsewhere."""
    try:
        return _remarks(f"{request!r} {target!r}", request, target)
    except TaskError:
        return ()


@kept
def _remarks(key: str, _request: Request, _target: Target) -> tuple[str, ...]:
    return _ask("compile", SECONDS, remarks_job, _request, _target)


def interpreted(request: Request) -> str | None:
    """What Triton's interpreter says against the launch, None where it runs; raises TaskError where that is not known."""
    return _interpreted(repr(request), request)


@kept
def _interpreted(key: str, _request: Request) -> str | None:
    return _ask("trace whole", 20.0, interpreted_job, _request)


def variants(request: Request, target: Target) -> tuple[Variant, ...] | str:
    """Which other launches need another kernel; a sentence where the compiler gave no answer."""
    try:
        return _variants(f"{request!r} {target!r}", request, target)
    except TaskError as error:
        return joined(str(error))


@kept
def _variants(key: str, _request: Request, _target: Target) -> tuple[Variant, ...]:
    return _ask("compile", MANY_SECONDS, variants_job, _request, _target)


def times(request: Request, target: Target) -> tuple[tuple[Stages, ...], tuple[Stages, ...]] | str:
    """Compiled afresh a few times (a long one once), then taken from the cache a few times; a sentence where that fails."""
    try:
        return _compile_times(f"{request!r} {target!r}", request, target)
    except TaskError as error:
        return joined(str(error))


@kept
def _compile_times(key: str, _request: Request, _target: Target) -> tuple[tuple[Stages, ...], tuple[Stages, ...]]:
    cold = [_ask("compile", SECONDS, stages_job, _request, _target, True)]
    while len(cold) < COLD_TURNS and sum(cold[0].seconds.values()) < LONG:
        cold.append(_ask("compile", SECONDS, stages_job, _request, _target, True))
    cached = [_ask("compile", SECONDS, stages_job, _request, _target) for _ in range(CACHED_TURNS)]
    return tuple(cold), tuple(cached)
