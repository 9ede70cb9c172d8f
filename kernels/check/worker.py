"""A process that checks: `python -m kernels.check.worker` reads tasks and writes results, a line of JSON each."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import sentence
from ..runtime.context import lost, settle
from ..runtime.device import Gpu, attached
from ..storage import codec

MOST_TEXT = 8000


@dataclass(frozen=True)
class Context:
    """What a check is told: the GPU that its process sees (None without one), whether time is short, whether it is a slice."""

    gpu: Gpu | None = None
    quick: bool = False
    mig: bool = False


def main() -> None:
    """Works until its input ends, or its parent does."""
    _end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all of a terminal's processes: the parent decides
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not come between the results
    for line in sys.stdin:
        for record in answers(json.loads(line)):
            out.write(codec.compact(record).decode() + "\n")
            out.flush()


def answers(task: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """{"result": ...} for everything a check yields, then {"done": ...}; an error is {"failed": message, "text": all of it}.

    The function is "module:name" of this package, or of any other where the module has its full name.
    """
    module, _, name = task["function"].partition(":")
    gpus = attached()
    context = Context(gpus[0] if gpus else None, task["quick"], task["mig"])
    try:
        check = getattr(importlib.import_module(module if "." in module else f"kernels.check.{module}"), name)
        for result in check(context):
            yield {"result": result}
        settle()
        yield {"done": True}
    except Exception as error:
        text = "".join(traceback.format_exception(error))[-MOST_TEXT:]
        yield {"failed": sentence(error).text, "text": text, "poisoned": lost()}


def _end_with_parent() -> None:
    """On Linux the kernel ends this process when its parent ends; elsewhere the end of its input does."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL


if __name__ == "__main__":
    main()
