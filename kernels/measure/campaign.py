"""Measurements one after the other while a page stays alive: points appear as they are done, and stopping keeps them."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import TaskError, joined, sentence
from ..runtime.device import Gpu
from ..runtime.workers import Worker
from .jobs import counters_job, measure_job, roofs_job, versions_job
from .point import Task
from .records import Point, Roofs, Run
from .runs import now, run_of
from .verdicts import compute_dtype

POINT_SECONDS = 300.0


class _StoppedError(Exception):
    """Gives up waiting because a person stopped the campaign."""


class Campaign:
    """Measures the tasks on a GPU, in a thread of its own, through that GPU's worker.

    `state` is "running", "done", "stopped" or "failed"; `points` are those done so far, `problem` says why it failed. With
    `counters` hardware counters are read after each point.
    """

    def __init__(
        self, worker: Worker, gpu: Gpu, tasks: Sequence[Task], axis: str | None = None, *, counters: bool = False
    ) -> None:
        self.gpu, self.tasks, self.axis, self.counters = gpu, tuple(tasks), axis, counters
        self.state, self.problem, self.uncounted = "running", "", ""
        self.points: tuple[Point, ...] = ()
        self.roofs, self.versions = Roofs(), dict[str, str]()
        self.started, self.made = time.monotonic(), now()
        self._stop = threading.Event()
        self._folder = tempfile.TemporaryDirectory(prefix="triton-explorer-")
        self._progress = Path(self._folder.name) / "progress"
        threading.Thread(target=self._run, args=(worker,), daemon=True).start()

    def stop(self) -> None:
        """Ends it after what is there; the measurement at hand is lost."""
        self._stop.set()

    @property
    def seconds(self) -> float:
        """How long ago it was started."""
        return time.monotonic() - self.started

    def share(self) -> float:
        """How much of it is done, from 0 to 1."""
        with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
            done, steps = map(int, self._progress.read_text().split())
            return min((len(self.points) + done / steps) / len(self.tasks), 1.0)
        return len(self.points) / len(self.tasks)

    def run(self) -> Run:
        """What was measured, as a run that can be saved."""
        return run_of(self.points, self.gpu, self.roofs, self.versions, self.axis, self.made)

    def _run(self, worker: Worker) -> None:
        try:
            self.versions = self._call(worker, versions_job)
            self.roofs = self._call(worker, roofs_job, self.gpu, (compute_dtype(self.tasks[0].point()),))
            for task in self.tasks:
                self.points = (*self.points, self._point(worker, task))
                self._progress.write_text("0 1")
            self.state = "done"
        except _StoppedError:
            self.state = "stopped"
        except Exception as error:  # the thread is nobody's to watch: what ends it must reach the page
            self.problem, self.state = joined(sentence(error).text), "failed"
        finally:
            self._folder.cleanup()

    def _point(self, worker: Worker, task: Task) -> Point:
        """One point; where its process dies or hangs, the point says so and the others go on."""
        try:
            point = self._call(worker, measure_job, task, self.gpu, str(self._progress))
        except TaskError as error:
            return task.point(problem=joined(str(error)))
        if self.counters and not point.problem:
            try:
                return self._call(worker, counters_job, point, self.gpu)
            except TaskError as error:
                self.uncounted = joined(str(error))
        return point

    def _call(self, worker: Worker, job: Any, *arguments: Any) -> Any:
        return worker.call(job, *arguments, seconds=POINT_SECONDS, checkpoint=self._checkpoint, kill=True)

    def _checkpoint(self) -> None:
        if self._stop.is_set():
            raise _StoppedError
