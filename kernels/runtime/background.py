"""A task that goes on while a page stays alive: its state, its progress, its end."""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import joined, sentence
from .workers import Lanes, Worker


class _CancelledError(Exception):
    """Gives up waiting for a task that a person cancelled."""


class Background:
    """Runs `function(*arguments, progress file)` in a worker, in a thread of its own.

    `state` is "waiting", "done", "failed" or "cancelled"; `result` or `failure`, a sentence, is there afterwards.
    """

    def __init__(self, worker: Worker | Lanes, function: Callable[..., Any], *arguments: Any, seconds: float) -> None:
        self.state, self.result, self.failure = "waiting", None, ""
        self.started = time.monotonic()
        self._cancelled = threading.Event()
        self._folder = tempfile.TemporaryDirectory(prefix="triton-explorer-")
        self._progress = Path(self._folder.name) / "progress"
        task = (worker, function, (*arguments, str(self._progress)), seconds)
        threading.Thread(target=self._run, args=task, daemon=True).start()

    def _run(self, worker: Worker | Lanes, function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float) -> None:
        try:
            self.result = worker.call(function, *arguments, seconds=seconds, checkpoint=self._checkpoint, kill=True)
            self.state = "done"
        except _CancelledError:
            self.state = "cancelled"
        except Exception as error:
            self.failure, self.state = joined(sentence(error).text), "failed"
        finally:
            self._folder.cleanup()

    def _checkpoint(self) -> None:
        if self._cancelled.is_set():
            raise _CancelledError

    def cancel(self) -> None:
        """Ends the task, and its worker's process where it runs already."""
        self._cancelled.set()

    @property
    def seconds(self) -> float:
        """How long ago it was asked for."""
        return time.monotonic() - self.started

    def progress(self) -> tuple[int, int] | None:
        """(done, of how many), or None where nothing was reported yet."""
        with contextlib.suppress(OSError, ValueError):
            done, programs = self._progress.read_text().split()
            return int(done), int(programs)
        return None
