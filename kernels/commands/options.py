"""The options that commands share, made from what an operator says of its sizes; errors are one line and exit code 2."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from .. import find
from ..launch import DTYPES
from ..operator import Numbers, Operator, Preset, Problem, Size, Tiling
from ..runtime.request import Request
from ..runtime.settings import (
    NUM_WARPS,
    SEED,
    RejectedError,
    block_size,
    changed_parameters,
    fitted,
    number_text,
    real,
    whole,
)
from .parser import Parser as Parser


def flag(name: str) -> str:
    """`n_elements` as --n-elements, `BLOCK_SIZE` as --block-size."""
    return "--" + name.lower().replace("_", "-")


def parser_for(
    command: str, arguments: Sequence[str], description: str, sizes: Mapping[str, int] | None = None
) -> tuple[Parser, Operator]:
    """A parser with the sizes and blocks of the operator that the arguments name first; `sizes` are other defaults."""
    parser = Parser(prog=f"python -m kernels {command}", description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("operator", help="see `python -m kernels list`")
    name = next((argument for argument in arguments if not argument.startswith("-")), None)
    if name is None:
        if "-h" in arguments or "--help" in arguments:
            parser.print_help()
            sys.exit(0)
        parser.error("which operator? `python -m kernels list` names them.")
    try:
        operator = find(name)
    except ValueError as error:
        parser.error(str(error))
    for size in (*operator.sizes, *operator.blocks):
        parser.add_argument(flag(size.name), dest=size.name, help=size.meaning, metavar="N")
    for one in operator.parameters:
        help_text = f"{one.meaning} {number_text(one.default)} unless given."
        parser.add_argument(flag(one.name), dest=one.name, help=help_text, metavar="X")
    parser.add_argument("--num-warps", dest="num_warps", metavar="N", help=NUM_WARPS.meaning)
    parser.add_argument("--dtype", choices=DTYPES, help="of the tensors")
    parser.add_argument("--seed", metavar="N", help=SEED.meaning)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser, operator


def add_target(parser: Parser) -> None:
    """The option that names a target, for commands that can do without a GPU."""
    parser.add_argument("--target", help="sm_90, gfx942, ...: what to ask where no GPU is attached")


def request_from(parser: Parser, operator: Operator, given: argparse.Namespace, start: Preset | None = None) -> Request:
    """The request that the options describe; what they leave out is as in `start`, or in the first example.

    Ends with exit code 2 and one line for a value that is not legal.
    """
    first, options = start or operator.start, vars(given)
    named = any(options[size.name] is not None for size in operator.sizes)
    try:
        sizes = Numbers({size.name: _number(options, replace(size, default=first.sizes[size.name])) for size in operator.sizes})
        problem = Problem(sizes, given.dtype or first.dtype, _parameters(options, operator))
        _, said = fitted(operator, problem)
        if said:
            parser.error(said[0].rpartition(";")[0] + ".")
        rule = operator.tiling(problem)
        chosen = rule.blocks if named else {**rule.blocks, **first.blocks}
        blocks = Numbers({block.name: _number(options, block_size(block, chosen[block.name])) for block in operator.blocks})
        warps = _number(options, replace(NUM_WARPS, default=rule.num_warps))
        return Request(operator.name, problem, Tiling(blocks, warps, rule.num_stages), _number(options, SEED))
    except RejectedError as error:
        parser.error(str(error))


def _number(options: Mapping[str, str | None], size: Size) -> int:
    text = options[size.name]
    return size.default if text is None else whole(text, size)


def _parameters(options: Mapping[str, str | None], operator: Operator) -> Numbers:
    given = {one.name: options[one.name] for one in operator.parameters}
    found = {one.name: one.default if given[one.name] is None else real(given[one.name], one) for one in operator.parameters}
    return changed_parameters(operator, found)


def arguments_of(request: Request) -> list[str]:
    """The request as options again, for a command in another process."""
    numbers = {**request.problem.sizes, **request.tiling.blocks, "num_warps": request.tiling.num_warps, "seed": request.seed}
    texts = {name: str(value) for name, value in numbers.items()}
    texts |= {name: number_text(value) for name, value in request.problem.parameters.items()}
    pairs = [(flag(name), text) for name, text in texts.items()]
    return [request.operator, "--dtype", request.problem.dtype, *(text for pair in pairs for text in pair)]
