"""One worker process: how it starts, what it is started with, and that it never outlives whoever asks it.

A worker leads a process group of its own, so that the compiler's programs (ptxas, gcc) end with it. It ends itself when its
parent is gone, however that ended; a thread looks four times a second. (PR_SET_PDEATHSIG would follow the thread that started
the worker, which for a page is the thread of one run.)
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from loky.process_executor import ProcessPoolExecutor

from ..errors import EnvironmentFailure, signal_name

QUIET = "ignore:resource_tracker"
WATCH_SECONDS = 0.25

_COMPILES = {"TRITON_INTERPRET": "0", "TRITON_DEFAULT_FP_FUSION": "1"}
_INTERPRETS = {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}


def environment(name: str) -> dict[str, str]:
    """What the process of that worker is started with, beside what this process has."""
    kind, _, gpu = name.partition(" ")
    if kind in ("trace", "interpret"):
        return _INTERPRETS
    if kind != "device":
        return _COMPILES
    return {**_COMPILES, "CUDA_VISIBLE_DEVICES": gpu, **({"HIP_VISIBLE_DEVICES": gpu} if gpu.isdigit() else {})}


class EndingError(EnvironmentFailure):
    """No task is started any more."""


class Process(ProcessPoolExecutor):
    """An executor of one process, which ends after `idle` seconds without a task."""

    def __init__(self, name: str, idle: float) -> None:
        _quiet_tracker()
        self._last: dict[int, Any] = {}
        super().__init__(1, timeout=idle, env=environment(name), initializer=_begin, initargs=(os.getpid(),))

    def submit(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Future:
        """See `concurrent.futures.Executor.submit`; raises EndingError where this process is ending."""
        if _ending.is_set():  # a task whose worker was just ended would be tried again, and waited for
            raise EndingError("The explorer is ending")
        future = super().submit(function, *arguments, **named)
        _end_with_this_process(self)
        return future

    def _adjust_process_count(self) -> None:
        super()._adjust_process_count()
        self._last = dict(self._processes)

    @property
    def stopped(self) -> bool:
        """Whether its process was stopped by a signal; False where the system does not tell, as on all but Linux."""
        return any(_state(number) == "T" for number in list(self._last))

    @property
    def alive(self) -> bool:
        """Whether its process runs, or was not started yet."""
        return all(process.exitcode is None and not _gone(number) for number, process in list(self._last.items()))

    def ended_by(self) -> str:
        """How its process ended: "SIGKILL", "exit code 1"; empty where that is not known."""
        codes = [process.exitcode for process in list(self._last.values()) if process.exitcode]
        return next((signal_name(-code) if code < 0 else f"exit code {code}" for code in codes), "")

    def end(self, *, wait: bool = False) -> None:
        """Ends the process and every program that it started, whatever they do; may wait until it has ended."""
        self._end_groups()
        self.shutdown(wait=wait, kill_workers=True)

    def _end_groups(self) -> None:
        for number in list(self._last):
            with contextlib.suppress(OSError, AttributeError):  # not started yet, gone already; no groups on Windows
                os.killpg(number, signal.SIGKILL)


_running: weakref.WeakSet[Process] = weakref.WeakSet()
_ending = threading.Event()


def _end_with_this_process(process: Process) -> None:
    """Ends what still works when this process ends: loky waits for it there, and a launch may take an hour."""
    if process in _running:
        return
    _running.add(process)
    # The hooks run last in, first out: this one must come after loky's own, one of which every executor's first task registers.
    with contextlib.suppress(RuntimeError):  # this process is ending already
        threading._register_atexit(_end_all)


def _end_all() -> None:
    _ending.set()
    for process in list(_running):
        process.end()


def _gone(number: int) -> bool:
    """Whether a process has ended, as the system knows before anyone has asked it for the exit code."""
    return _state(number) in ("Z", "X")


def _state(number: int) -> str:
    """The state of a process as one letter, proc(5); empty where it is not known."""
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def _begin(parent: int) -> None:
    """First of all in the worker: its own group, its end with its parent's, and that it may grow.

    torch and a CUDA context take gigabytes, which loky takes for a leak and ends the process.
    """
    import loky.process_executor

    loky.process_executor._USE_PSUTIL = False
    with contextlib.suppress(OSError, AttributeError):
        os.setpgid(0, 0)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    atexit.register(_leave)


def _leave() -> None:
    """Ends an idle worker without the C++ exit handlers: those of a process that used torch.profiler crash."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _end_with(parent: int) -> None:
    """Waits for the parent's end, then ends this process and its group."""
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    with contextlib.suppress(OSError, AttributeError):
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _quiet_tracker() -> None:
    """Keeps loky's tracker from warning, on standard error, of what a killed worker leaves behind: it removes that itself.

    The tracker is a process of its own that takes its filters from the environment when the first worker starts.
    """
    filters = [one for one in os.environ.get("PYTHONWARNINGS", "").split(",") if one]
    if QUIET not in filters:
        os.environ["PYTHONWARNINGS"] = ",".join([*filters, QUIET])
