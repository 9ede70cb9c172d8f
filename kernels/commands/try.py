"""python -m kernels try FILE: what an operator's file gives, what is wrong with it, and what is missing."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .. import registry
from ..contract import MISSING, WRONG, Finding, findings, summary
from ..operator import Operator
from .options import Parser

SIGNS = {"right": "right  ", "wrong": "WRONG  ", "missing": "missing"}


def main(arguments: list[str]) -> int:
    """Prints a line for every part of every operator in the file; exit code 1 where one is wrong, 2 for a file that is none."""
    parser = Parser(prog="python -m kernels try", description=__doc__)
    parser.add_argument("file", help="a Python file with an Operator, or the name of an operator")
    given = parser.parse_args(arguments)
    operators = _operators(parser, given.file)
    found = [finding for operator in operators for finding in _told(operator)]
    counts = summary(found)
    print(f"{counts['right']} right, {counts['wrong']} wrong, {counts['missing']} missing.")
    return 1 if counts[WRONG] else 0


def _told(operator: Operator) -> list[Finding]:
    """The findings of an operator, printed as they come."""
    print(f"{operator.name}: {operator.title}")
    found = []
    for finding in findings(operator):
        found.append(finding)
        line = f"  {SIGNS[finding.status]}  {finding.part}"
        print(f"{line}: {finding.words}" if finding.words else line, flush=True)
    missing = [finding for finding in found if finding.status == MISSING]
    if missing:
        print("  What is missing is optional: pages and commands say so where they would show it.")
    return found


def _operators(parser: Parser, text: str) -> list[Operator]:
    """The operators of a file, known to this process as those of this package are."""
    if text in registry.operators():
        return [registry.find(text)]
    path = Path(text).expanduser()
    if not path.is_file():
        parser.error(f"{text[:200]!r} is neither a file nor an operator; `python -m kernels list` names those.")
    os.environ[registry.FOLDER] = str(path.resolve().parent)
    registry.registry.cache_clear()
    for file, reason in registry.broken().items():
        if Path(file).name == path.name:
            parser.error(f"{path.name} cannot be loaded: {reason}.")
    module = sys.modules[registry.module_name(path.resolve())]
    return [value for value in vars(module).values() if isinstance(value, Operator)]
