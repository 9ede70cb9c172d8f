"""python -m kernels list: the operators and their sizes."""

from __future__ import annotations

import sys

from .. import broken, operators
from .options import Parser, flag


def main(arguments: list[str]) -> int:
    """Prints a paragraph for every operator."""
    Parser(prog="python -m kernels list", description="The operators and their sizes.").parse_args(arguments)
    for operator in operators().values():
        print(f"{operator.name}: {operator.idea or operator.title}")
        if operator.formula:
            print(f"  {operator.formula}")
        for size in (*operator.sizes, *operator.blocks):
            print(f"  {flag(size.name):14} {size.meaning}")
        for parameter in operator.parameters:
            print(f"  {flag(parameter.name):14} {parameter.meaning}")
        print()
    for file, reason in broken().items():
        print(f"left out: {file}: {reason}", file=sys.stderr)
    return 0
