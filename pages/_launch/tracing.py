"""Where the launch page's pictures come from: the trace worker, a shipped recording, or arithmetic; always said which."""

from __future__ import annotations

import streamlit as st

from kernels.errors import EnvironmentFailure, TaskError, joined
from kernels.language import MISSING
from kernels.runtime.arithmetic import arithmetic
from kernels.runtime.compile import NO_ANSWER, Verdict
from kernels.runtime.device import DEFAULT_TARGET, Gpu, find_target
from kernels.runtime.jobs import origin_job, picture_job, selftest_job, verdict_job, wrap_job
from kernels.runtime.picture import Picture
from kernels.runtime.provenance import Origin
from kernels.runtime.recorded import recorded_picture
from kernels.runtime.records import Limits
from kernels.runtime.request import Request
from kernels.runtime.settings import Settings
from kernels.runtime.workers import NoAnswerError
from kernels.runtime.wrap import Wrap
from pages import _shell, _unanswered
from pages._kept import kept

FIRST_SECONDS = 0.3
ALL_SECONDS = 60.0
VERDICT_SECONDS = 20.0
LIGHTER = "Fewer elements a thread compile faster: more warps or smaller blocks."


def checkpoint() -> None:
    """Lets a newer run of this session take over: reading the session's state is where Streamlit stops a stale run."""
    st.session_state.get("launch.settings")


@st.cache_resource(show_spinner=False)
def _selftest() -> str | None:
    """What the self-test says; where it could not run, that is raised and so not kept: the next run tries again."""
    return _shell.workers()["trace"].call(selftest_job, seconds=30)


def untraceable() -> str | None:
    """Why kernels cannot be traced here, in a sentence; None where they can."""
    if MISSING:
        return joined(MISSING, "Offsets and masks are arithmetic, values are shipped with the examples")
    try:
        wrong = _selftest()
    except EnvironmentFailure as error:
        return joined(str(error), "Offsets and masks are arithmetic")
    except TaskError as error:
        wrong = str(error)
    return joined(f"The installed Triton is not understood: {wrong}", "Offsets and masks are arithmetic") if wrong else None


def picture(settings: Settings, *, whole: bool = False) -> tuple[Picture, str | None]:
    """The picture, and a sentence where it is not what was asked for. With `whole` long loops run to their end."""
    whole = whole or was_whole(settings)
    reason = untraceable()
    request = settings.request
    if reason:
        shipped = recorded_picture(request, settings.program) if MISSING else None
        return shipped or arithmetic(request, settings.program, settings.lane), reason
    limits = Limits(seconds=ALL_SECONDS if whole else FIRST_SECONDS)
    try:
        found = _traced(repr(request), request, settings.program, settings.step, settings.lane, limits.seconds)
    except TaskError as error:
        return arithmetic(request, settings.program, settings.lane), joined(str(error), "Offsets and masks are arithmetic here")
    return found, None


def was_whole(settings: Settings) -> bool:
    """Whether the loops of the program that is shown have been run to their end, or left for good."""
    return st.session_state.get("whole") == (settings.request, settings.program)


def finish(settings: Settings) -> None:
    """Runs a long loop to its end, after the page is drawn, and draws it again; a click meanwhile comes first."""
    _, reason = picture(settings, whole=True)
    st.session_state["whole"] = (settings.request, settings.program)
    if reason is None:
        st.rerun()


@kept
def _traced(key: str, _request: Request, program: int, step: int | None, lane: int, seconds: float) -> Picture:
    limits, whole = Limits(seconds=seconds), seconds > FIRST_SECONDS
    worker = _shell.workers()["trace whole" if whole else "trace"]  # a long loop keeps nobody else waiting
    asked = (picture_job, _request, program, step, lane, limits, False)
    return worker.call(*asked, seconds=seconds + 20, checkpoint=checkpoint, kill=whole)


def origin(request: Request, argument: str, element: int) -> Origin | None:
    """The loads that fed an element; None where they cannot be traced."""
    if untraceable():
        return None
    try:
        return _origin(f"{request!r} {argument} {element}", request, argument, element)
    except TaskError:
        return None


@kept
def _origin(key: str, _request: Request, argument: str, element: int) -> Origin:
    """Raises what the worker raises, so that no failure is kept; so do the others below."""
    return _shell.workers()["trace"].call(origin_job, _request, argument, element, seconds=20, checkpoint=checkpoint)


def wrap(request: Request) -> Wrap | None:
    """Where 32-bit offsets would wrap; None where they would not, or where that cannot be traced."""
    if untraceable():
        return None
    try:
        return _wrap(repr(request), request)
    except TaskError:
        return None


@kept
def _wrap(key: str, _request: Request) -> Wrap | None:
    return _shell.workers()["trace"].call(wrap_job, _request, seconds=20, checkpoint=checkpoint)


def verdict(request: Request, gpu: Gpu | None) -> Verdict:
    """Whether the launch would be accepted by that GPU, or by the default target where there is none.

    A compiler that hangs or cannot work here refuses nothing: the verdict is NO_ANSWER's, and the next run asks again.
    """
    target = gpu.target if gpu else find_target(DEFAULT_TARGET)
    if MISSING:
        return Verdict(False, target.name, "Triton", MISSING)
    plain = request.without_change()
    try:
        key = f"{plain!r} {target}"
        return _unanswered.once(key, lambda: _verdict(key, plain, gpu))
    except NoAnswerError:
        words = joined(f"It has not finished after {VERDICT_SECONDS:.0f} s", LIGHTER)
        return Verdict(False, target.name, NO_ANSWER, words)
    except EnvironmentFailure as error:
        return Verdict(False, target.name, NO_ANSWER, str(error))
    except TaskError as error:
        return Verdict(False, target.name, "Triton", str(error))


@kept
def _verdict(key: str, _request: Request, _gpu: Gpu | None) -> Verdict:
    target = _gpu.target if _gpu else find_target(DEFAULT_TARGET)
    asked = (verdict_job, _request, target)
    return _shell.workers()["compile"].call(*asked, seconds=VERDICT_SECONDS, checkpoint=checkpoint, kill=True)
