"""The records of a folder: each file is read once, and again only where it changed."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

from . import files
from .codec import UnreadableError

MOST_FILES = 10_000
# Summaries take about 1 kB each. Whole runs were kept at first: 3,000 of them took 155 MB, and Python's collector of cycles,
# which walks all that is kept, made the first reading five times as long.
MOST_KEPT = 2 * MOST_FILES


class Dated(Protocol):
    """A record that knows when it was made."""

    made: str


Record = TypeVar("Record", bound=Dated)
Summary = TypeVar("Summary", bound=Dated)
Parse = Callable[[bytes, str], Record]
State = tuple[int, ...]


def own(variable: str, name: str) -> Path:
    """Where this person's records of a kind are kept: the folder in the environment variable, else one of the data folder."""
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return files.place(os.environ.get(variable) or os.path.join(base, "triton-explorer", name))


def within(path: Path, folder: Path) -> bool:
    """Whether a path lies in a folder, or is it, all symbolic links followed."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


def load(path: Path, parse: Parse[Record]) -> Record:
    """The record in a file, by `parse` of its content and its name; raises UnreadableError for anything that is not one."""
    return parse(files.content(path), path.name)


def listed(folder: Path, parse: Parse[Record]) -> tuple[list[tuple[Path, Record]], list[str]]:
    """Every record of a folder, newest first, and a line for every file that is not one; none where there is no folder."""
    return _read(folder, lambda path, _: load(path, parse))


def summaries(folder: Path, parse: Parse[Summary]) -> tuple[list[tuple[Path, Summary]], list[str]]:
    """What `parse` keeps of every record, as `listed`; each file is read once, and again only where it changed."""
    return _read(folder, lambda path, state: _kept(parse, path, state))


def _read(folder: Path, read: Callable[[Path, State], Record | str]) -> tuple[list[tuple[Path, Record]], list[str]]:
    records, problems = [], []
    try:
        found = _json_files(folder)
    except FileNotFoundError:
        return [], []
    except (OSError, ValueError) as error:
        return [], [f"{files.shown(folder)[:300]}: cannot be read ({files.reason(error)})."]
    for path, state in found[:MOST_FILES]:
        try:
            record = read(path, state)
        except UnreadableError as error:
            record = str(error)
        if isinstance(record, str):
            problems.append(record)
        else:
            records.append((path, record))
    if len(found) > MOST_FILES:
        problems.append(f"{files.shown(folder)[:300]}: of its {len(found):,} files the first {MOST_FILES:,} are read.")
    return sorted(records, key=lambda pair: pair[1].made, reverse=True), problems


def missing(folder: Path) -> bool:
    """Whether there is no such folder, which saving into it would make."""
    try:
        os.stat(folder)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False


def _json_files(folder: Path) -> list[tuple[Path, State]]:
    """The folder's files by name, each with what changes when it is written."""
    with os.scandir(folder) as entries:
        found = sorted((entry.name, entry) for entry in entries if entry.name.endswith(".json"))
    return [(folder / name, _state(entry)) for name, entry in found]


def _state(entry: os.DirEntry[str]) -> State:
    try:
        told = entry.stat()
    except OSError:
        return ()
    return told.st_mtime_ns, told.st_ctime_ns, told.st_size, told.st_ino


@functools.lru_cache(maxsize=MOST_KEPT)
def _kept(parse: Parse[Summary], path: Path, state: State) -> Summary | str:
    """What is kept of a file, or the line that says why it is no record, for as long as the file is the same.

    Raises UnreadableError, which is not kept, where the file could not be read: that may be a passing trouble.
    """
    content = files.content(path)
    try:
        return parse(content, path.name)
    except UnreadableError as error:
        return str(error)
