"""Records as JSON files, written so that none is lost, read so that no bad one hurts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

MOST_BYTES = 16 * 2**20
MOST_NAME = 120


class Dated(Protocol):
    """A record that knows when it was made."""

    made: str


Record = TypeVar("Record", bound=Dated)


class UnreadableError(ValueError):
    """A file or a text that is not a record; its text is one line that says what is wrong with it."""


def new_file(folder: Path, title: str, text: str) -> Path:
    """Writes the text into a new file of the folder, which is made where it is missing; never over another file.

    Raises OSError where the folder cannot be written; then no part of the file is left.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stem = re.sub(r"[^A-Za-z0-9.]+", "-", title)[:MOST_NAME].strip("-")
    for number in range(10_000):
        path = folder / f"{stem}{f'-{number}' if number else ''}.json"
        try:
            return _written(path, text)
        except FileExistsError:
            continue
    raise FileExistsError(f"{folder} has ten thousand files of that name")


def _written(path: Path, text: str) -> Path:
    with path.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
        except OSError:
            path.unlink()
            raise
    return path


def load(path: Path, what: str, parse: Callable[[str, str], Record]) -> Record:
    """The record in a file, by `parse` of its text and its name; raises UnreadableError for anything that is not one."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UnreadableError(f"{path.name}: larger than {MOST_BYTES // 2**20} MB, which no {what} is.")
        return parse(path.read_text(encoding="utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path.name}: cannot be read ({type(error).__name__}).") from None


def fields(text: str, name: str, kind: str, schema: int, what: str) -> dict[str, Any]:
    """The fields of a record's text, of that kind and of a schema up to that one; raises UnreadableError for anything else."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableError(f"{name}: not a JSON file, or cut short.") from None
    if not isinstance(data, dict) or data.get("kind") != kind:
        raise UnreadableError(f"{name}: JSON, but not a {what} of this program.")
    if not isinstance(data.get("schema"), int) or data["schema"] > schema:
        raise UnreadableError(f"{name}: of schema {str(data.get('schema'))[:20]}, and this version reads up to {schema}.")
    return data


def listed(folder: Path, load: Callable[[Path], Record]) -> tuple[list[tuple[Path, Record]], list[str]]:
    """Every record of a folder, newest first, and a line for every file that is not one; none where there is no folder."""
    found, wrong = [], []
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [f"{folder}: cannot be read ({error.strerror})."]
    for path in paths:
        try:
            found.append((path, load(path)))
        except UnreadableError as error:
            wrong.append(str(error))
    return sorted(found, key=lambda one: one[1].made, reverse=True), wrong
