"""What the hardware page asks the workers: the compiled kernel, and what instrumented launches told."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from kernels.errors import EnvironmentFailure, TaskError, joined
from kernels.inside.analysis import Analysis
from kernels.inside.asked import Asked as AskedFor
from kernels.inside.facts import CHIPS, Chip, of_gpu
from kernels.inside.hardware_jobs import access_job, analysis_job, asked_job, schedule_job, threads_job
from kernels.inside.held import Held
from kernels.inside.recordings import Launched, nearest, recorded
from kernels.inside.schedule import Schedule
from kernels.inside.threads import Threads
from kernels.language import MISSING
from kernels.runtime.background import Background
from kernels.runtime.compile import NO_ANSWER, Verdict
from kernels.runtime.device import Gpu, Target, find_target
from kernels.runtime.records import Access
from kernels.runtime.request import Request
from pages import _shell, _unanswered
from pages._gpus import gpus
from pages._kept import kept

from .state import Shown, state

COMPILE_SECONDS, TRACE_SECONDS, LAUNCH_SECONDS = 30, 30, 300


def checkpoint() -> None:
    """Lets a newer run of this session take over: reading the session's state is where Streamlit stops a stale run."""
    st.session_state.get(f"{state.page}.settings")


def gpu_of(shown: Shown) -> Gpu | None:
    """The attached GPU that is shown; None where another one is."""
    return next((gpu for gpu in gpus() if gpu.name == shown.gpu), None)


def chip_of(shown: Shown) -> Chip:
    """The facts of the GPU that is shown."""
    gpu = gpu_of(shown)
    return of_gpu(gpu) if gpu else CHIPS[shown.gpu]


def target_of(shown: Shown) -> Target:
    """What the kernel is compiled for."""
    gpu = gpu_of(shown)
    return gpu.target if gpu else find_target(CHIPS[shown.gpu].target)


def analysis(request: Request, target: Target) -> Analysis:
    """The compiled kernel; only a verdict where there is none."""
    plain = request.without_change()
    if MISSING:
        return Analysis(target, Verdict(False, target.name, "Triton", MISSING))
    try:
        with st.spinner(f"Compiling {plain.launch().kernel.__name__} for {target.name} …", show_time=True):
            key = f"{plain!r} {target}"
            return _unanswered.once(f"analysis {key}", lambda: _analysis(key, plain, target))
    except EnvironmentFailure as error:
        return Analysis(target, Verdict(False, target.name, NO_ANSWER, joined(str(error))))
    except TaskError as error:
        return Analysis(target, Verdict(False, target.name, "Triton", str(error)))


@kept
def _analysis(key: str, _request: Request, _target: Target) -> Analysis:
    """Raises what the worker raises: a compiler that hung once is asked again."""
    worker = _shell.workers()["compile"]
    return worker.call(analysis_job, _request, _target, seconds=COMPILE_SECONDS, checkpoint=checkpoint, kill=True)


@kept
def access(key: str, _request: Request, program: int, _tensor: Held) -> Access | None:
    """The first access of a program that a tensor stands for, as the kernel makes it. Raises TaskError."""
    worker = _shell.workers()["trace"]
    return worker.call(access_job, _request, program, _tensor, seconds=TRACE_SECONDS, checkpoint=checkpoint)


@kept
def asked_for(key: str, _request: Request, _tensors: tuple[tuple[Held, int], ...]) -> AskedFor:
    """What the whole launch asks for, by the model. Raises TaskError."""
    worker = _shell.workers()["trace whole"]
    return worker.call(asked_job, _request, _tensors, seconds=TRACE_SECONDS, checkpoint=checkpoint, kill=True)


@dataclass(frozen=True)
class Seen:
    """A schedule to draw: of these very settings, or of the recorded launch nearest to them, `instead`."""

    schedule: Schedule
    instead: str = ""


@dataclass(frozen=True)
class Asked:
    """The instrumented launches that a person asked for, of a request on a GPU."""

    request: Request
    gpu: str
    threads: Background
    schedule: Background

    @property
    def waiting(self) -> bool:
        return "waiting" in (self.threads.state, self.schedule.state)

    @property
    def failures(self) -> tuple[str, ...]:
        """Why there is no result, a sentence each, the same one once."""
        return tuple(dict.fromkeys(one.failure for one in (self.threads, self.schedule) if one.failure))


def ask(shown: Shown, gpu: Gpu) -> None:
    """Starts the instrumented launches."""
    worker, request = _shell.workers()[gpu.worker], shown.request.without_change()
    found = [Background(worker, job, request, gpu.target, seconds=LAUNCH_SECONDS) for job in (threads_job, schedule_job)]
    st.session_state["hardware.asked"] = Asked(request, gpu.name, *found)


def asked(shown: Shown) -> Asked | None:
    """What was asked for these settings; None where nothing was, or of others."""
    found: Asked | None = st.session_state.get("hardware.asked")
    if found is None or (found.request, found.gpu) != (shown.request.without_change(), shown.gpu):
        return None
    return found


def threads(shown: Shown) -> Threads | None:
    """The threads that a real launch of these settings told; None where none was made."""
    found = asked(shown)
    return found.threads.result if found and found.threads.state == "done" else None


def seen(shown: Shown) -> Seen | None:
    """The schedule to draw; None where there is neither a launch nor a recorded one."""
    found = asked(shown)
    if found and found.schedule.state == "done":
        return Seen(found.schedule.result)
    exact = recorded(shown.request.without_change())
    if exact:
        return Seen(exact)
    other = nearest(shown.request)
    return Seen(other[1], _named(other[0])) if other else None


def _named(key: Launched) -> str:
    sizes = ", ".join(f"{name} = {value:,}" for name, value in key.sizes.items())
    return f"{sizes}, {key.dtype}"
