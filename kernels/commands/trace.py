"""python -m kernels trace: what chosen programs of a kernel load and store, traced from the kernel itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import TaskError, in_sentences, joined
from ..language import MISSING
from ..launch import Launch
from ..operator import MAX_PROGRAMS, id_refusal
from ..runtime.limits import traceable
from ..runtime.records import EVERYTHING, Access, Program, linear, unravel
from ..runtime.settings import digits
from ..runtime.what_ifs import story
from .compile import target_from
from .options import Parser, add_target, arguments_of, parser_for, request_from

if TYPE_CHECKING:
    from ..runtime.request import Request

COMPILE_SECONDS = 60
DRAWN_LANES = 16


def main(arguments: list[str]) -> int:
    """Traces the programs, asks the compiler meanwhile, and prints a drawing or one JSON object.

    Exit code 1, after one sentence, where the kernel cannot be traced.
    """
    parser, operator = parser_for("trace", arguments, __doc__ or "")
    add_target(parser)
    parser.add_argument("--program", action="append", metavar="P", help="1, or 1,0,0; may be repeated; without it the first")
    given = parser.parse_args(arguments)
    if MISSING:
        print(MISSING, file=sys.stderr)
        return 1
    request = request_from(parser, operator, given)
    launch = request.launch()
    programs = [_program(parser, text, launch) for text in given.program or ["0"]] if launch.programs else []
    if launch.programs:
        compiling = _ask_compiler(request, given.target)
        try:
            with in_sentences():
                accesses = _traced(launch, programs, request.seed)
        except TaskError as error:
            compiling.kill()
            print(f"python -m kernels trace: {joined(str(error))}", file=sys.stderr)
            return 1
        found = _answer(compiling)
    else:
        accesses, target = (), target_from(parser, given.target)
        found = {"launchable": False, "reason": "0 programs: nothing to launch.", "target": target.name}
    if given.json:
        print(json.dumps(_document(request, launch, found, accesses)))
    else:
        print(_drawing(request, launch, found, accesses))
    return 0


def _program(parser: Parser, text: str, launch: Launch) -> Program:
    """A program from `1` or `1,0,0`; ends with one line where the grid has no such program."""
    numbers = [digits(part.strip()) for part in text.split(",")]
    if None in numbers or len(numbers) not in (1, 3):
        parser.error(f"--program takes a number like 1, or three like 1,0,0; {text[:24]!r} came.")
    if max(numbers) > MAX_PROGRAMS and (reason := id_refusal(launch.grid)):
        parser.error(f"{reason} The last that can be traced is {MAX_PROGRAMS:,}.")
    if len(numbers) == 1 and numbers[0] < launch.programs:
        return unravel(numbers[0], launch.grid)
    if len(numbers) == 3 and all(number < count for number, count in zip(numbers, launch.grid, strict=True)):
        return numbers[0], numbers[1], numbers[2]
    return parser.error(f"the grid is {launch.grid}: programs 0 to {launch.programs - 1:,}; there is no program {text[:24]}.")


def _traced(launch: Launch, programs: list[Program], seed: int) -> tuple[Access, ...]:
    from ..runtime.trace import trace

    if not programs or not traceable(launch):
        return ()
    return trace(launch, programs, seed=seed, limits=EVERYTHING).accesses


def _ask_compiler(request: Request, target: str | None) -> subprocess.Popen[str]:
    """Starts the verdict in a process that compiles: this one interprets."""
    command = [sys.executable, "-m", "kernels", "compile", *arguments_of(request), "--json"]
    return subprocess.Popen(
        [*command, *(["--target", target] if target else [])],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "TRITON_INTERPRET": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _answer(compiling: subprocess.Popen[str]) -> dict[str, Any]:
    """The verdict; ends with the compiler's process where that did not accept its arguments."""
    try:
        output, errors = compiling.communicate(timeout=COMPILE_SECONDS)
    except subprocess.TimeoutExpired:
        compiling.kill()
        return {"launchable": False, "reason": f"Triton has not finished compiling after {COMPILE_SECONDS} s.", "target": ""}
    if compiling.returncode == 2:
        print(errors.strip().replace("kernels compile", "kernels trace"), file=sys.stderr)
        sys.exit(2)
    if compiling.returncode:
        return {"launchable": False, "reason": f"The compiler's process ended with code {compiling.returncode}.", "target": ""}
    return json.loads(output)


def _document(request: Request, launch: Launch, found: dict[str, Any], accesses: tuple[Access, ...]) -> dict[str, Any]:
    return {
        "operator": request.operator,
        "sizes": {**request.problem.sizes, **request.tiling.blocks},
        "parameters": request.description.values(request.problem),
        "seed": request.seed,
        "grid": list(launch.grid),
        "programs": launch.programs,
        "launchable": found["launchable"],
        "reason": found["reason"],
        "target": found["target"],
        "accesses": [_access(access) for access in accesses],
    }


def _access(access: Access) -> dict[str, Any]:
    """Arrays are flat, in row-major order beside their shape."""
    return {
        "kind": access.kind,
        "argument": access.argument,
        "program": list(access.program),
        "line": access.line,
        "dtype": access.dtype,
        "shape": list(access.offsets.shape),
        "offsets": access.offsets.ravel().tolist(),
        "mask": access.mask.ravel().tolist(),
        "out_of_bounds": access.out_of_bounds.ravel().tolist(),
        "values": [
            _number(value) if known else None
            for value, known in zip(access.values.ravel(), access.defined.ravel().tolist(), strict=True)
        ],
    }


def _number(value: np.generic) -> float | int | str:
    """The shortest decimal that reads back as the same value; JSON has no NaN and no infinities."""
    if np.isnan(value):
        return "nan"
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(str(value)) if isinstance(value, np.floating) else int(value)


def _drawing(request: Request, launch: Launch, found: dict[str, Any], accesses: tuple[Access, ...]) -> str:
    refused = "" if found["launchable"] else f"\nNot launchable on {found['target']}: {found['reason']}"
    parts = [f"{request.description.title}. {story(request).replace('**', '')}\ngrid {launch.grid}{refused}"]
    for access in accesses:
        number = linear(access.program, launch.grid)
        parts.append(
            f"program {number:,}  line {access.line}  {access.kind} {access.argument}  "
            f"{int(access.live.sum()):,} of {access.live.size:,} lanes live\n{_lanes(access)}"
        )
    return "\n\n".join(parts)


def _lanes(access: Access) -> str:
    """Lane, offset, mask and value of the first and last lanes, a column each."""
    size = access.offsets.size
    lanes = range(size) if size <= DRAWN_LANES else [*range(DRAWN_LANES // 2), *range(size - DRAWN_LANES // 2, size)]
    columns = [_column(access, lane) for lane in lanes]
    if size > DRAWN_LANES:
        columns.insert(DRAWN_LANES // 2, ["...", "...", "", ""])
    widths = [max(map(len, column)) for column in columns]
    titles = ("lane", "offset", "mask", "value")
    rows = zip(*columns, strict=True)
    return "\n".join(
        f"  {title:7}" + "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
        for title, row in zip(titles, rows, strict=True)
    )


def _column(access: Access, lane: int) -> list[str]:
    mark = "OUT" if access.out_of_bounds.flat[lane] else "#" if access.mask.flat[lane] else "."
    value = f"{access.values.flat[lane]:.4g}" if access.defined.flat[lane] else "?"
    return [str(lane), str(access.offsets.flat[lane]), mark, value]
