"""The processes that run kernels. The process that asks never interprets, compiles or touches a GPU itself.

| worker    | environment                      | does                                                    |
| trace     | interpreter, no GPU, no torch    | interprets chosen programs on virtual memory; a second one,
|           |                                  | "trace whole", runs long loops to their end              |
| interpret | interpreter, no GPU              | launches on CPU tensors, with every check of Triton's    |
| compile   | compiler                         | compiles for any target                                  |
| device i  | compiler, GPU i alone            | launches on that GPU                                     |

The interpreter patches `triton.language` for its whole process, an illegal access poisons a CUDA context for good, and a
compiler can crash: apart, each can be replaced. A worker runs one task at a time, in the order they came.
"""

from __future__ import annotations

import collections
import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from loky.process_executor import ProcessPoolExecutor, ShutdownExecutorError

QUIET = "ignore:resource_tracker"
IDLE_SECONDS = {"trace": 3600, "compile": 600, "interpret": 600, "device": 120}
POLL_SECONDS = 0.05
ATTEMPTS = 3

_COMPILES = {"TRITON_INTERPRET": "0", "TRITON_DEFAULT_FP_FUSION": "1"}
_INTERPRETS = {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}


class WorkerError(RuntimeError):
    """A task that gave no result; its text is one sentence for a person."""


def environment(name: str) -> dict[str, str]:
    """What the process of that worker is started with, beside what this process has."""
    if name.split()[0] in ("trace", "interpret"):
        return _INTERPRETS
    kind, _, gpu = name.partition(" ")
    if kind != "device":
        return _COMPILES
    return {**_COMPILES, "CUDA_VISIBLE_DEVICES": gpu, **({"HIP_VISIBLE_DEVICES": gpu} if gpu.isdigit() else {})}


class Worker:
    """One process that is started when first needed, replaced when it dies or hangs, and ends when idle."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._executor: Any = None
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
        WorkerError where the task runs longer than `seconds` or its process dies again and again, and what the task raises.
        """
        place = object()
        with self._moved:
            self._line.append(place)
        future: Future | None = None
        try:
            self._wait_in_line(place, checkpoint)
            for _ in range(ATTEMPTS):
                executor = self._current()
                try:
                    future = executor.submit(function, *arguments)
                    return self._wait(future, seconds, checkpoint)
                except (BrokenProcessPool, ShutdownExecutorError):
                    self._replace(executor)
                except FutureTimeoutError:
                    self._replace(executor)
                    raise WorkerError(f"The {self.name} worker gave no answer in {seconds:.0f} s; it was restarted.") from None
            raise WorkerError(f"The {self.name} worker died {ATTEMPTS} times over this; it was restarted.")
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

    def waiting(self) -> int:
        """How many tasks are in line, the one that runs included."""
        return len(self._line)

    def restart(self, *, wait: bool = False) -> None:
        """Ends the process, whatever it does, and may wait until it has ended; the next task starts another."""
        self._replace(self._executor, wait=wait)

    def _current(self) -> ProcessPoolExecutor:
        with self._lock:
            if self._executor is None:
                _quiet_tracker()
                idle = IDLE_SECONDS[self.name.split()[0]]
                self._executor = ProcessPoolExecutor(1, timeout=idle, env=environment(self.name), initializer=_keep)
            return self._executor

    def _replace(self, broken: ProcessPoolExecutor | None, *, wait: bool = False) -> None:
        with self._lock:
            if broken is None or broken is not self._executor:
                return
            self._executor = None
        broken.shutdown(wait=wait, kill_workers=True)

    def _wait_in_line(self, place: object, checkpoint: Callable[[], object]) -> None:
        while True:
            with self._moved:
                if self._moved.wait_for(lambda: self._line[0] is place, POLL_SECONDS):
                    return
            checkpoint()

    @staticmethod
    def _wait(future: Future, seconds: float, checkpoint: Callable[[], object]) -> Any:
        deadline = time.monotonic() + seconds
        while True:
            try:
                return future.result(timeout=POLL_SECONDS)
            except FutureTimeoutError:
                if future.done() or time.monotonic() > deadline:
                    raise
            checkpoint()

    def _leave(self, place: object, future: Future | None) -> None:
        """Lets the next task in, once this one's process is free again."""

        def leave(_: object = None) -> None:
            with self._moved:
                self._line.remove(place)
                self._moved.notify_all()

        leave() if future is None or future.done() else future.add_done_callback(leave)


class Workers:
    """All workers of this process, by name; made when first asked for."""

    def __init__(self) -> None:
        self._workers: dict[str, Worker] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> Worker:
        with self._lock:
            return self._workers.setdefault(name, Worker(name))

    def close(self) -> None:
        """Ends every process, and waits until they have ended."""
        for worker in self._workers.values():
            worker.restart(wait=True)


def _quiet_tracker() -> None:
    """Keeps loky's tracker from warning, on standard error, of what a killed worker leaves behind: it removes that itself.

    The tracker is a process of its own that takes its filters from the environment when the first worker starts.
    """
    filters = [one for one in os.environ.get("PYTHONWARNINGS", "").split(",") if one]
    if QUIET not in filters:
        os.environ["PYTHONWARNINGS"] = ",".join([*filters, QUIET])


def _keep() -> None:
    """Keeps a worker that grows: torch and a CUDA context take gigabytes, which loky takes for a leak and ends the process."""
    import loky.process_executor

    loky.process_executor._USE_PSUTIL = False


def process_id() -> int:
    """The process that runs this task."""
    return os.getpid()
