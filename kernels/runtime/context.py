"""What a task leaves behind in the process that has a GPU: work still running, memory held, or a CUDA context that is lost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import TaskError, joined, sentence

REPLACED = "The process that had the GPU was replaced, so the next launch starts afresh"


class ContextLostError(TaskError):
    """A task after which its process can use the GPU no more, as after an illegal access."""


@dataclass(frozen=True)
class Answer:
    """What a task gave, and whether the process can use the GPU no more, whatever it gave."""

    value: Any
    lost: bool


def answered(function: Callable[..., Any], *arguments: Any) -> Answer:
    """Runs a task and looks at what it leaves behind; raises what it raises, or ContextLostError."""
    try:
        value = function(*arguments)
    except Exception as error:
        if lost():
            raise ContextLostError(joined(sentence(error).text, REPLACED)) from None
        raise
    return Answer(value, lost())


def settle() -> None:
    """Waits for what still runs on the GPU, and gives back the memory that torch keeps for later.

    Raises what the GPU reports only now, so that an error is of the task that made it and not of the next.
    """
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
        torch.cuda.empty_cache()


def lost() -> bool:
    """Whether this process's CUDA context is lost, as after an illegal access."""
    try:
        settle()
    except Exception:
        return True
    return False
