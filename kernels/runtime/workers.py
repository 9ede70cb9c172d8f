"""The processes that run kernels. The process that asks never interprets, compiles or touches a GPU itself.

| worker    | environment                      | does                                                    |
| trace     | interpreter, no GPU, no torch    | interprets chosen programs on virtual memory             |
| trace whole | as trace; two processes        | runs long loops to their end, counts whole launches      |
| interpret | interpreter, no GPU              | launches on CPU tensors, with every check of Triton's    |
| compile   | compiler; three processes        | compiles for any target                                  |
| device i  | compiler, GPU i alone            | launches on that GPU                                     |

The interpreter patches `triton.language` for its whole process, an illegal access poisons a CUDA context for good, and a
compiler can crash: apart, each can be replaced.
"""

from __future__ import annotations

import os
import threading

from .lanes import Lanes as Lanes
from .processes import environment as environment
from .worker import NoAnswerError as NoAnswerError
from .worker import Worker as Worker
from .worker import WorkerError as WorkerError

LANES = {"compile": 3, "trace whole": 2}


class Workers:
    """All workers of this process, by name; made when first asked for."""

    def __init__(self) -> None:
        self._workers: dict[str, Worker | Lanes] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> Worker | Lanes:
        with self._lock:
            if name not in self._workers:
                self._workers[name] = Lanes(name, LANES[name]) if name in LANES else Worker(name)
            return self._workers[name]

    def close(self) -> None:
        """Ends every process."""
        for worker in self._workers.values():
            worker.restart()


def process_id() -> int:
    """The process that runs this task."""
    return os.getpid()
