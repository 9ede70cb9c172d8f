"""One worker: a process that runs one task at a time, in the order they came, and is replaced when it dies or hangs."""

from __future__ import annotations

import collections
import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from loky.process_executor import ShutdownExecutorError

from ..errors import EnvironmentFailure
from .context import Answer, ContextLostError, answered
from .processes import EndingError, Process

IDLE_SECONDS = {"trace": 3600, "compile": 600, "interpret": 600, "device": 120}
POLL_SECONDS = 0.05
LOOK_SECONDS = 1.0  # between two looks at whether the process was stopped: twice in a row, and it is replaced
STARTS = 3
# Tracing and compiling leave nothing behind, so a process that dies over them is tried once more. What runs on a device, and
# what may have filled the memory, is not started a second time by itself.
ATTEMPTS = {"trace": 2, "compile": 2, "interpret": 1, "device": 1}
TIMES = {1: "", 2: " twice"}


class WorkerError(EnvironmentFailure):
    """A task that gave no result since its process died; the text is one sentence for a person."""


class NoAnswerError(WorkerError):
    """A task that took longer than it may."""


class _StoppedError(Exception):
    """The process was stopped by a signal and will not go on by itself."""


class Worker:
    """One process that is started when first needed, replaced when it dies or hangs, and ends when idle."""

    def __init__(self, name: str, title: str | None = None) -> None:
        self.name, self._title = name, title or name
        self._kind = name.split()[0]
        self._lock = threading.Lock()
        self._process: Process | None = None
        self._line: collections.deque[object] = collections.deque()
        self._moved = threading.Condition()

    def call(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        seconds: float,
        checkpoint: Callable[[], object] = lambda: None,
        kill: bool = False,
    ) -> Any:
        """The result of a task, after those that came before it.

        `checkpoint` is called while waiting and may raise to give the task up; with `kill` the process ends with it. Raises
        NoAnswerError where the task runs longer than `seconds`, WorkerError where its process dies over it, and what the task
        raises.
        """
        place = object()
        with self._moved:
            self._line.append(place)
        future: Future | None = None
        try:
            self._wait_in_line(place, checkpoint)
            for _ in range(ATTEMPTS[self._kind]):
                process, future = self._submit(function, arguments)
                try:
                    return self._value(process, self._wait(process, future, seconds, checkpoint))
                except ContextLostError:
                    self._replace(process)
                    raise
                except (BrokenProcessPool, ShutdownExecutorError):
                    self._replace(process)
                    ended = process.ended_by()
                except _StoppedError:
                    self._replace(process)
                    ended = "SIGSTOP"
                except FutureTimeoutError:
                    self._replace(process)
                    raise NoAnswerError(
                        f"The {self._title} worker gave no answer in {seconds:.0f} s; it was restarted."
                    ) from None
            raise WorkerError(self._died(ended))
        except BaseException:
            if kill and future is not None and not future.done():
                self.restart()
            raise
        finally:
            self._leave(place, future)

    @contextlib.contextmanager
    def turn(self, checkpoint: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Keeps this worker's place after those that came before, its process ended: the GPU is somebody else's meanwhile."""
        place = object()
        with self._moved:
            self._line.append(place)
        try:
            self._wait_in_line(place, checkpoint)
            self.restart()
            yield
        finally:
            self._leave(place, None)

    @property
    def started(self) -> bool:
        """Whether its process was started, so that a task need not wait for that."""
        return self._process is not None

    def start(self, function: Callable[[], object]) -> None:
        """Starts its process and has it do something that later tasks need; nobody waits for that."""
        with contextlib.suppress(BrokenProcessPool, ShutdownExecutorError, EndingError):
            self._current().submit(function)

    def waiting(self) -> int:
        """How many tasks are in line, the one that runs included."""
        return len(self._line)

    def restart(self, *, wait: bool = False) -> None:
        """Ends the process, whatever it does, and may wait until it has ended; the next task starts another."""
        self._replace(self._process, wait=wait)

    def _submit(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Process, Future]:
        """Hands the task to a process that lives; one that died idle has not begun it, so it is replaced without a word."""
        for _ in range(STARTS):
            process = self._current()
            try:
                asked = (answered, function) if self._kind == "device" else (function,)
                return process, process.submit(*asked, *arguments)
            except (BrokenProcessPool, ShutdownExecutorError):
                self._replace(process)
        raise WorkerError(
            f"The {self._title} worker cannot be started: its process ends at once ({process.ended_by() or '?'})."
        )

    def _value(self, process: Process, result: Any) -> Any:
        """What the task gave; a process that lost its GPU over it is replaced."""
        if not isinstance(result, Answer):
            return result
        if result.lost:
            self._replace(process)
        return result.value

    def _current(self) -> Process:
        with self._lock:
            if self._process is not None and not self._process.alive:
                self._process.end()
                self._process = None
            if self._process is None:
                self._process = Process(self.name, IDLE_SECONDS[self._kind])
            return self._process

    def _replace(self, broken: Process | None, *, wait: bool = False) -> None:
        with self._lock:
            if broken is None or broken is not self._process:
                return
            self._process = None
        broken.end(wait=wait)

    def _died(self, ended: str) -> str:
        """One sentence: by what the process ended, and whether the task was tried again."""
        attempts = ATTEMPTS[self._kind]
        how = f" by {ended}" if ended else ""
        memory = ", which the system does where memory runs out" if ended == "SIGKILL" else ""
        again = "" if attempts > 1 else " and what it did is not started again by itself"
        return f"The {self._title} worker was ended{how}{TIMES[attempts]} over this{memory}; it was restarted{again}."

    def _wait_in_line(self, place: object, checkpoint: Callable[[], object]) -> None:
        while True:
            with self._moved:
                if self._moved.wait_for(lambda: self._line[0] is place, POLL_SECONDS):
                    return
            checkpoint()

    @staticmethod
    def _wait(process: Process, future: Future, seconds: float, checkpoint: Callable[[], object]) -> Any:
        began = time.monotonic()
        looked, stopped = began, False
        while True:
            try:
                return future.result(timeout=POLL_SECONDS)
            except FutureTimeoutError:
                if future.done() or time.monotonic() > began + seconds:
                    raise
            checkpoint()
            if time.monotonic() > looked + LOOK_SECONDS:
                before, stopped, looked = stopped, process.stopped, time.monotonic()
                if before and stopped:
                    raise _StoppedError

    def _leave(self, place: object, future: Future | None) -> None:
        """Lets the next task in, once this one's process is free again."""

        def leave(_: object = None) -> None:
            with self._moved:
                self._line.remove(place)
                self._moved.notify_all()

        leave() if future is None or future.done() else future.add_done_callback(leave)
