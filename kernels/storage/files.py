"""Regular files, read up to a bound and written whole or not at all; every failure is one sentence."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

from .codec import UnreadableError

MOST_BYTES = 16 * 2**20
MOST_NAME = 120
MOST_ALIKE = 10_000
# Opening a FIFO or a device must not wait for its other end.
FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
STEPS = {
    errno.ENOSPC: "make room on that disk, or choose another folder",
    errno.EDQUOT: "make room within your quota, or choose another folder",
    errno.EROFS: "that disk can only be read: choose another folder",
    errno.EACCES: "get the right to write there, or choose another folder",
    errno.EPERM: "get the right to write there, or choose another folder",
    errno.ENAMETOOLONG: "choose a folder with a shorter name",
    errno.ENOTDIR: "choose a folder, not a file",
    errno.EEXIST: "choose a folder, not a file",
}


class UnwritableError(OSError):
    """A file that cannot be written; its text is one sentence that names the folder and says what to do."""


def place(text: str) -> Path:
    """The path that a person typed; `~` is the home folder, and the ~ of a user whom nobody knows stays as it is."""
    return Path(os.path.expanduser(text.strip()))


def shown(path: Path) -> str:
    """A path in print: what is not text in it becomes question marks."""
    return str(path).encode("utf-8", "replace").decode("utf-8").replace("\0", "?")


def reason(error: OSError | ValueError) -> str:
    """Why a path cannot be used, in a few words."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return "not the name of a file"


def content(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file. Raises UnreadableError for anything else, and for more than `most` bytes."""
    name = shown(Path(path.name))
    try:
        if name != path.name.replace("\0", "?"):
            raise UnreadableError(f"{name}: its name is not text in UTF-8; rename it.")
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise UnreadableError(f"{name}: not a file but a folder, a device or a pipe.")
        with open(os.open(path, FLAGS), "rb") as file:
            found = _up_to(file, most)
    except UnreadableError:
        raise
    except (OSError, ValueError) as error:
        raise UnreadableError(f"{name[:80]}: cannot be read ({reason(error)}).") from None
    if found is None or len(found) > most:
        raise UnreadableError(f"{name}: larger than {most // 2**20} MB, which nothing is that is read here.")
    return found


def _up_to(file: BinaryIO, most: int) -> bytes | None:
    """At most `most` + 1 bytes of an open file; None of anything but a regular file."""
    told = os.fstat(file.fileno())
    if not stat.S_ISREG(told.st_mode):
        return None
    found = file.read(min(told.st_size, most) + 1)  # not a buffer of `most` bytes for every small file
    return found + file.read(most + 1 - len(found)) if len(found) > told.st_size else found


def new_file(folder: Path, title: str, content: bytes) -> Path:
    """Writes a new file into the folder, which is made where it is missing; never over another file.

    Raises UnwritableError; then no part of the file is left.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return _new_file(folder, re.sub(r"[^A-Za-z0-9.]+", "-", title)[:MOST_NAME].strip("-"), content)
    except (OSError, ValueError) as error:
        step = STEPS.get(getattr(error, "errno", None), "choose another folder")
        raise UnwritableError(f"Nothing can be written into {shown(folder)[:300]} ({reason(error)}): {step}.") from None


def _new_file(folder: Path, stem: str, content: bytes) -> Path:
    for number in range(MOST_ALIKE):
        path = folder / f"{stem}{f'-{number}' if number else ''}.json"
        try:
            file = path.open("xb")
        except FileExistsError:
            continue
        _fill(file, path, content)
        return path
    raise OSError(errno.ENOSPC, f"it has {MOST_ALIKE:,} files of that name")


def _fill(file: BinaryIO, path: Path, content: bytes) -> None:
    """Writes a file to its end, down to the disk; a file that cannot be is removed."""
    try:
        with file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise
