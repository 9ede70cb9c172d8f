"""python -m kernels explain: what a message of torch, Triton or a driver means, and what to do about it."""

from __future__ import annotations

import codecs
import json
import os
import stat
import sys
from dataclasses import asdict
from pathlib import Path

from ..check.failures import RECIPES, Failure, explain
from .parser import Parser

LARGEST = 16 * 2**20  # bytes of a log: read and searched in about two seconds
TOO_LARGE = f"is larger than {LARGEST >> 20} MiB: give the part around the first error."


def main(arguments: list[str]) -> int:
    """Prints cause and fix of up to three failures; exit code 1 where none is known."""
    parser = Parser(prog="python -m kernels explain", description=__doc__)
    parser.add_argument("message", nargs="*", help="the message; without it, standard input is read")
    parser.add_argument("--file", help="a log to read")
    parser.add_argument("--list", action="store_true", help="all failures that are known")
    parser.add_argument("--json", action="store_true", help="a JSON list on standard output")
    given = parser.parse_args(arguments)
    found = [recipe.told() for recipe in RECIPES.values()] if given.list else explain(_text(parser, given.message, given.file))
    if given.json:
        print(json.dumps([asdict(failure) for failure in found]))
    elif found:
        print("\n\n".join(map(said, found)))
    else:
        print(
            "None of the known failures has this message. "
            "`python -m kernels check` tries every stage, and names the one that fails."
        )
    return 0 if found else 1


def said(failure: Failure) -> str:
    """A failure in four lines; in five with the line of the text that it was recognised by."""
    by = f"\n  by:  line {failure.line_number}: {failure.line}" if failure.line else ""
    return f"{failure.title}{by}\n  why: {failure.cause}\n  do:  {failure.fix}\n  see: {', '.join(failure.sources)}"


def _text(parser: Parser, message: list[str], file: str | None) -> str:
    if message:
        return " ".join(message)
    if file:
        try:
            return _log(file)
        except OSError as error:
            parser.error(f"{file} cannot be read: {error.strerror or error}.")
        except (ValueError, RuntimeError) as error:
            parser.error(f"{file} {error}")
    if sys.stdin.isatty():
        print("Paste the message, then press Ctrl-D:", file=sys.stderr)
    data = sys.stdin.buffer.read(LARGEST + 1)
    if len(data) > LARGEST:
        parser.error(f"the text {TOO_LARGE}")
    return _decoded(data)


def _log(file: str) -> str:
    """The text of a regular file. Raises ValueError or RuntimeError, with the rest of the sentence, for what is none."""
    try:
        path = Path(file).expanduser()
    except RuntimeError as error:
        raise RuntimeError("names the home folder of a user who is not known here.") from error
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))  # a pipe may have no writer
    with open(number, "rb") as opened:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise ValueError("is not a regular file: give a text file, or the text itself through a pipe.")
        data = opened.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(TOO_LARGE)
    return _decoded(data)


def _decoded(data: bytes) -> str:
    """UTF-8, or UTF-16 where the text says so, as PowerShell's redirections write."""
    marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return data.decode("utf-16" if marked else "utf-8-sig", errors="replace")
