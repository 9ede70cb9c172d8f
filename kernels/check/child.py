"""The parent's side of a process that checks: asked a check at a time; replaced where it dies, hangs or loses its context."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

from ..storage import codec
from .values import Result

ROOT = Path(__file__).parents[2]
POLL_SECONDS = 0.1


class ChildError(RuntimeError):
    """A check that gave no result: its text says why in a line, `text` is all that is known, for `explain`."""

    def __init__(self, said: str, text: str = "") -> None:
        super().__init__(said)
        self.text = f"{said}\n{text}"


class CancelledError(RuntimeError):
    """The person does not want to wait any longer."""


class Child:
    """One process, started when first asked."""

    def __init__(self, environment: Mapping[str, str], cancelled: Callable[[], bool] = lambda: False) -> None:
        self._environment = {**os.environ, **environment}
        self._cancelled = cancelled
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._errors: list[str] = []

    def ask(self, function: str, seconds: float, *, quick: bool = False, mig: bool = False) -> Iterator[Result]:
        """The results of a check as they come.

        Raises ChildError where the check fails, the process dies, or nothing ends it within `seconds`; CancelledError.
        """
        process = self._current()
        self._errors.clear()
        try:
            process.stdin.write(json.dumps({"function": function, "quick": quick, "mig": mig}) + "\n")
            process.stdin.flush()
        except OSError:
            raise self._died() from None
        deadline = time.monotonic() + seconds
        while True:
            record = self._next(deadline, seconds)
            if "result" in record:
                yield self._result(record["result"])
            elif "failed" in record:
                text = f"{record['text']}\n{self._said()}"
                if record["poisoned"]:
                    self.close()
                raise ChildError(record["failed"], text)
            else:
                return

    def _result(self, record: object) -> Result:
        try:
            return codec.converted(Result, record, "result")
        except codec.UnreadableError as error:
            raise ChildError(str(error)) from None

    def _current(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._errors, self._lines = [], queue.Queue()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kernels.check.worker"],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
            for stream, put in ((self._process.stdout, self._lines.put), (self._process.stderr, self._errors.append)):
                threading.Thread(target=_read_lines, args=(stream, put), daemon=True).start()
        return self._process

    def _next(self, deadline: float, seconds: float) -> dict:
        while True:
            try:
                line = self._lines.get(timeout=POLL_SECONDS)
            except queue.Empty:
                line = ""
            if line is None:
                raise self._died()
            if line:
                return json.loads(line)
            if self._cancelled():
                self.close()
                raise CancelledError
            if time.monotonic() > deadline:
                said = self._said()
                self.close()
                raise ChildError(f"no answer in {seconds:.0f} s: it hangs, and its process was ended", said)

    def _died(self) -> ChildError:
        code = self._process.wait()
        time.sleep(POLL_SECONDS)  # until the thread that reads standard error has read all of it
        said = self._said()
        self.close()
        how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
        last = next((line.strip() for line in reversed(said.split("\n")) if line.strip()), "")
        return ChildError(f"its process ended {how}{f': {last[:160]}' if code > 0 and last else ''}", said)

    def _said(self) -> str:
        """What the process wrote to standard error since it was asked, the end of it."""
        return "".join(line for line in self._errors if line)[-8000:]

    def close(self) -> None:
        """Ends the process, whatever it does."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            with contextlib.suppress(OSError):
                process.stdin.close()


def _read_lines(stream: IO[str], put: Callable[[str | None], object]) -> None:
    """Hands on every line of a stream, and None at its end."""
    with stream, contextlib.suppress(ValueError):
        for line in stream:
            put(line)
    put(None)
