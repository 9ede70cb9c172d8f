"""Errors as sentences for people: one function says what went wrong, and whether the kernel or its environment is at fault."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from pathlib import Path

MOST_TEXT = 400
FULL_BYTES = 2**20  # a kernel's files take 20 to 100 kB; below this a folder counts as full

# Errors whose text is a sentence already: Triton's checks, Python's own refusals. Others are named before their text.
_PLAIN = ("ValueError", "MemoryError", "NotImplementedError", "AssertionError", "TaskError")
_ENDED_FROM_OUTSIDE = {signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)}
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
# What Triton and the programs it starts say of their environment, in RuntimeErrors and logs that carry no errno.
_OF_THE_ENVIRONMENT = ("Could not create or locate cache dir", "Cannot find ", "Failed to find C compiler", "0 active drivers")


class TaskError(RuntimeError):
    """A task that failed; its text is for a person. Errors of Triton and torch do not travel between processes."""


class EnvironmentFailure(TaskError):  # noqa: N818 (named for what failed)
    """A task that the machine kept from ending: says nothing of the kernel, and is never kept as if it did."""


@dataclass(frozen=True)
class Sentence:
    """An error for a person: one line without a full stop.

    environment -- whether the machine is at fault (disk, folder, memory, a killed program) and not the kernel
    whole       -- the texts of the error and of its causes, a line each or more
    """

    text: str
    environment: bool
    whole: str


def sentence(error: BaseException) -> Sentence:
    """What an error says, by its first cause; what the environment did to it comes before what Triton made of that."""
    chain = _causes(error)
    whole = "\n".join(str(cause) for cause in chain)
    by_machine = next((words for cause in (*reversed(chain), *_handled(chain)) if (words := _environment(cause))), None)
    return Sentence((by_machine or _message(chain[-1]))[:MOST_TEXT], by_machine is not None, whole)


@contextlib.contextmanager
def in_sentences() -> Iterator[None]:
    """Turns every error into a TaskError, or an EnvironmentFailure, whose text is one sentence."""
    try:
        yield
    except Exception as error:
        told = sentence(error)
        raise (EnvironmentFailure if told.environment else TaskError)(told.text) from None


def joined(*sentences: str) -> str:
    """Sentences one after the other, each with one full stop; empty ones are left out."""
    trimmed = [text for given in sentences if (text := given.strip(". \n"))]
    return " ".join(text if text[-1] in "!?…" else f"{text}." for text in trimmed)


def cache_folder() -> Path:
    """Where Triton keeps what it compiled; triton/knobs.py, `cache_knobs`."""
    home = os.environ.get("TRITON_HOME") or os.path.expanduser("~/")
    return Path(os.environ.get("TRITON_CACHE_DIR") or Path(home, ".triton", "cache"))


def signal_name(number: int) -> str:
    """SIGKILL of 9; "signal 99" where the system has no name for it."""
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def _causes(error: BaseException) -> list[BaseException]:
    """The error, its cause, and so on, none twice; of a TaskError alone, which is a sentence already and came from afar."""
    chain = [error]
    while not isinstance(chain[-1], TaskError) and (cause := chain[-1].__cause__) is not None and cause not in chain:
        chain.append(cause)
    return chain


def _handled(chain: list[BaseException]) -> list[BaseException]:
    """Programs that failed while the error was made: Triton raises its PTXASError while handling what ptxas ended with."""
    return [error.__context__ for error in chain if isinstance(error.__context__, subprocess.SubprocessError)]


def _message(error: BaseException) -> str:
    """The line that says something, without the source that Triton prints around it."""
    name = type(error).__name__
    if name == "OutOfResources":
        return f"Out of {error.name}: {error.required:,} needed, and the GPU gives a program {error.limit:,}"
    own = getattr(error, "error_message", None)
    lines = [line.strip() for line in str(own or error).split("\n") if line.strip()]
    if not lines:
        return name
    if name == "CompilationError" or (own and name != "PTXASError"):
        return lines[-1]
    telling = [line for line in lines if "error" in line.lower() or "fatal" in line.lower()]
    line = (telling or lines)[0]
    return line if name in _PLAIN or own else f"{name}: {line}"


def _environment(error: BaseException) -> str | None:
    """What the machine did, and what to do; None where it is not known to be at fault."""
    if isinstance(error, EnvironmentFailure):
        return str(error)
    if isinstance(error, OSError):
        return _system(error)
    if isinstance(error, MemoryError):
        return str(error) or "This machine's memory is full"
    if type(error).__name__ == "OutOfMemoryError":
        return "The GPU's memory is full"
    if isinstance(error, (subprocess.SubprocessError, BrokenExecutor)):
        return _program(error)
    if isinstance(error, ImportError):
        return str(error).split("\n")[0] or type(error).__name__
    return _by_text(error)


def _program(error: BaseException) -> str | None:
    """A program that was ended from outside or hung; of one that failed by itself its output says more."""
    if isinstance(error, subprocess.CalledProcessError):
        ended = -error.returncode if error.returncode < 0 else 0
        if ended not in _ENDED_FROM_OUTSIDE:
            return None
        return f"{_named(error.cmd)} was ended by {signal_name(ended)}, by a person or since memory ran out; try again"
    if isinstance(error, subprocess.TimeoutExpired):
        return f"{_named(error.cmd)} gave no answer in {error.timeout:.0f} s; try again"
    return f"A process ended while it worked: {error}".split("\n")[0]


def _named(command: object) -> str:
    """The program of a command line, without its folder."""
    first = command[0] if isinstance(command, (list, tuple)) and command else str(command).split()[0]
    return Path(str(first)).name


def _by_text(error: BaseException) -> str | None:
    """Failures that carry no errno: Triton's own of its surroundings, and what a program wrote of a full disk."""
    text = str(error)
    if os.strerror(errno.ENOSPC) in text:
        return _no_space(None)
    if _OF_THE_ENVIRONMENT[0] in text:
        return "Triton has no folder for its cache: set TRITON_CACHE_DIR to a folder that can be written"
    if isinstance(error, RuntimeError) and text.startswith(_OF_THE_ENVIRONMENT):
        return f"Triton's installation is not whole: {text.splitlines()[0]}"
    return None


def _system(error: OSError) -> str:
    """An error of the operating system with its folder; of Triton's cache with what to do."""
    reason = os.strerror(error.errno) if error.errno else str(error) or type(error).__name__
    if error.errno in _FULL:
        return _no_space(error.filename)
    if error.filename is None:
        return f"{type(error).__name__}: {reason}"
    place, cache = Path(os.fsdecode(error.filename)), cache_folder()
    if cache in (place, *place.parents) or place in cache.parents:
        other = "set TRITON_CACHE_DIR to a folder that can be written"
        return f"Triton's cache folder {cache} cannot be used ({reason.lower()}: {place}): mend it, or {other}"
    return f"{reason}: {place}"


def _no_space(filename: str | bytes | None) -> str:
    """Which folder has no space left: that of the file, else Triton's cache or the one for temporary files."""
    given = [Path(os.fsdecode(filename)).parent] if filename else []
    cache, temporary = cache_folder(), Path(tempfile.gettempdir())
    full = next((folder for folder in (*given, cache, temporary) if _free(folder) < FULL_BYTES), given[0] if given else cache)
    if full == temporary:
        return f"No space is left in {full}: free some there, or set TMPDIR to another folder"
    return f"No space is left in Triton's cache folder {cache}: free some there, or set TRITON_CACHE_DIR to another folder"


def _free(folder: Path) -> float:
    """Bytes that this user may still write there; without end where the folder does not tell."""
    with contextlib.suppress(OSError):
        return shutil.disk_usage(folder).free
    return float("inf")
