"""python -m kernels explain: what a message of torch, Triton or a driver means, and what to do about it."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from ..check.failures import FAILURES, MOST, Failure, explain
from .parser import Parser


def main(arguments: list[str]) -> int:
    """Prints cause and fix; exit code 1 where the message is not known."""
    parser = Parser(prog="python -m kernels explain", description=__doc__)
    parser.add_argument("message", nargs="*", help="the message; without it, standard input is read")
    parser.add_argument("--file", help="a log to read")
    parser.add_argument("--list", action="store_true", help="all failures that are known")
    parser.add_argument("--json", action="store_true", help="a JSON list on standard output")
    given = parser.parse_args(arguments)
    found = FAILURES if given.list else explain(_text(parser, given.message, given.file))
    if given.json:
        print(json.dumps([asdict(failure) for failure in found]))
    elif found:
        print("\n\n".join(map(said, sorted(found, key=lambda one: one.number) if given.list else found)))
    else:
        print(
            "None of the known failures has this message. "
            "`python -m kernels check` tries every stage, and names the one that fails."
        )
    return 0 if found else 1


def said(failure: Failure) -> str:
    """A failure in four lines."""
    where = ", ".join(failure.where)
    return f"{failure.title}\n  why: {failure.cause}\n  do:  {failure.fix}\n  see: {where}"


def _text(parser: Parser, message: list[str], file: str | None) -> str:
    if message:
        return " ".join(message)
    if file:
        try:
            return Path(file).expanduser().read_text(encoding="utf-8", errors="replace")[-MOST:]
        except OSError as error:
            parser.error(f"{file} cannot be read: {error.strerror or error}.")
    if sys.stdin.isatty():
        print("Paste the message, then press Ctrl-D:", file=sys.stderr)
    return sys.stdin.read()[-MOST:]
