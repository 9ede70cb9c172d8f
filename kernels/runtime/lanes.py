"""Several workers that do the same, so that one person's long task holds nobody up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .worker import POLL_SECONDS, Worker

# Longer than an ordinary compile takes, in a process that has just started too; a spare one has started when it is needed.
LONG_SECONDS = 3.0
SPARE_SECONDS = 1.0


class _MovedError(BaseException):
    """Takes a task off its worker: it is long, and as many long ones run as may."""


@dataclass(eq=False)
class _Task:
    """`must_wait` once it was taken off; `long` while it counts as a long one."""

    must_wait: bool = False
    long: bool = False
    spared: bool = False
    began: float = field(default_factory=time.monotonic)


def warm() -> None:
    """In a worker: imports what its first task would wait for."""
    from ..language import triton  # noqa: F401


class Lanes:
    """Workers that do the same. A task takes the first that is free; long ones never take the last.

    A task is long after three seconds. Where all workers but one have a long task already, it is taken off, its process
    ended, and begins anew once a long one has ended: so one worker is free for ordinary tasks every three seconds at least.
    """

    def __init__(self, name: str, count: int) -> None:
        self.name = name
        self._workers = [Worker(f"{name} {number}" if number else name, name) for number in range(count)]
        self._taken: set[Worker] = set()
        self._line: list[_Task] = []
        self._long = 0
        self._moved = threading.Condition()

    def call(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        seconds: float,
        checkpoint: Callable[[], object] = lambda: None,
        kill: bool = False,
    ) -> Any:
        """As `Worker.call`; for tasks that leave nothing behind, since a long one may be begun twice."""
        task = _Task()
        while True:
            worker = self._take(task, checkpoint)
            watch = partial(self._watch, task, checkpoint)
            try:
                return worker.call(function, *arguments, seconds=seconds, checkpoint=watch, kill=kill)
            except _MovedError:
                worker.restart()
            finally:
                self._give(task, worker)

    def waiting(self) -> int:
        """How many tasks wait or run."""
        return len(self._line) + len(self._taken)

    def restart(self, *, wait: bool = False) -> None:
        """Ends every process, whatever it does, and may wait until they have ended."""
        for worker in self._workers:
            worker.restart(wait=wait)

    def _take(self, task: _Task, checkpoint: Callable[[], object]) -> Worker:
        """The worker for a task, once one is free and nobody of its sort came before."""
        with self._moved:
            self._line.append(task)
        try:
            while True:
                with self._moved:
                    if self._moved.wait_for(lambda: self._turn(task), POLL_SECONDS):
                        return self._begin(task)
                checkpoint()
        finally:
            with self._moved:
                self._line.remove(task)
                self._moved.notify_all()

    def _turn(self, task: _Task) -> bool:
        first = next(other for other in self._line if other.must_wait == task.must_wait)
        return first is task and bool(self._free()) and not (task.must_wait and self._long >= len(self._workers) - 1)

    def _begin(self, task: _Task) -> Worker:
        worker = self._free()[0]
        self._taken.add(worker)
        task.began = time.monotonic()
        if task.must_wait:
            self._count(task)
        return worker

    def _free(self) -> list[Worker]:
        """The workers that do nothing, those that have started first."""
        free = [worker for worker in self._workers if worker not in self._taken and not worker.waiting()]
        return sorted(free, key=lambda worker: not worker.started)

    def _count(self, task: _Task) -> None:
        self._long, task.long = self._long + 1, True

    def _watch(self, task: _Task, checkpoint: Callable[[], object]) -> None:
        """Called while a task runs: starts a spare worker in time, and counts or takes off a long task."""
        checkpoint()
        ran = time.monotonic() - task.began
        if ran > SPARE_SECONDS and not task.spared:
            task.spared = True
            self._start_spare()
        if ran > LONG_SECONDS and not task.long:
            with self._moved:
                if self._long >= len(self._workers) - 1:
                    task.must_wait = True
                    raise _MovedError
                self._count(task)

    def _start_spare(self) -> None:
        with self._moved:
            free = self._free()
            if free and not free[0].started:
                free[0].start(warm)

    def _give(self, task: _Task, worker: Worker) -> None:
        with self._moved:
            self._taken.discard(worker)
            self._long -= task.long
            task.long = False
            self._moved.notify_all()
