"""A launch as a file of at most 30 lines that needs torch and Triton alone: kernel, inputs, launch, check."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator

from ..launch import Filling, Launch, Tensor, TypeName, short
from ..launch.dtypes import TABLE
from ..operator import Operator
from ..values import UNIT
from .request import Request

MOST_LINES = 30
WIDTH = 110

_VALUES = """
def seeded(stream, *shape, mean=0.0, scale=1.0):  # the explorer's seeded inputs
    i = torch.arange(torch.Size(shape).numel(), device=D)
    h = (i + (i >> 32) * 977 + stream * 16777619 + {seed} * 40503) & 0xFFFFFFFF
    for _ in range(2): h = ((h >> 16) ^ h) * 0x45D9F3B & 0xFFFFFFFF
    h = (h >> 16) ^ h
    return (((h & 0xFFFF) + (h >> 16) - 65535).float() * ({unit} * scale) + mean).to(torch.{dtype}).view(shape)
"""


def script(request: Request) -> str:
    """The script of a request without its what-if; runs on a GPU, or with TRITON_INTERPRET=1 on the CPU."""
    plain = request.without_change()
    operator, launch = plain.description, plain.launch()
    before = [
        "import torch, triton, triton.language as tl",
        'D = "cuda" if torch.cuda.is_available() else "cpu"  # cpu: set TRITON_INTERPRET=1',
    ]
    after = [
        *_VALUES.format(seed=plain.seed, unit=UNIT, dtype=plain.problem.dtype).strip().split("\n"),
        *_tensors(launch, plain.problem.dtype),
        _call(launch),
        *_check(operator, launch),
    ]
    kernel = _kernel(launch, MOST_LINES - len(before) - len(after))
    return "\n".join((*before, *kernel, *after)) + "\n"


def _kernel(launch: Launch, most: int) -> list[str]:
    """The kernel as it is written, where that fits; else one statement a line, or as many as go on one."""
    text = textwrap.dedent(inspect.getsource(launch.kernel.fn))
    lines = [line for line in text.rstrip().split("\n") if line.strip()]
    if len(lines) <= most:
        return lines
    lines = ast.unparse(ast.parse(text)).split("\n")
    while len(lines) > most:
        shorter = _joined(lines)
        if len(shorter) == len(lines):
            break
        lines = shorter
    return lines


def _joined(lines: list[str]) -> list[str]:
    """The lines with the shortest two neighbours of one block, both simple statements, on one line."""
    pairs = [
        at
        for at in range(len(lines) - 1)
        if _simple(lines[at]) and _simple(lines[at + 1]) and _indent(lines[at]) == _indent(lines[at + 1])
    ]
    short = [at for at in pairs if len(lines[at]) + len(lines[at + 1].strip()) < WIDTH] or pairs
    if not short:
        return lines
    at = min(short, key=lambda at: len(lines[at]) + len(lines[at + 1]))
    return [*lines[:at], f"{lines[at]}; {lines[at + 1].strip()}", *lines[at + 2 :]]


def _simple(line: str) -> bool:
    return not line.rstrip().endswith(":") and not line.lstrip().startswith(("@", "def "))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _tensors(launch: Launch, dtype: str) -> Iterator[str]:
    inputs = {name: tensor for name, tensor in launch.tensors.items() if tensor.filling}
    yield "; ".join(f"{short(name)} = {_filled(tensor, dtype)}" for name, tensor in inputs.items())
    outputs = {name: tensor for name, tensor in launch.tensors.items() if not tensor.filling}
    yield "; ".join(
        f"{short(name)} = torch.empty({tensor.shape}, dtype=torch.{tensor.dtype}, device=D)" for name, tensor in outputs.items()
    )


def _filled(tensor: Tensor, dtype: str) -> str:
    """The seeded values of an input: converted where its dtype is not that of the others, and in its own strides."""
    filling = tensor.filling
    assert isinstance(filling, Filling)
    mean = f", mean={filling.mean}" if filling.mean else ""
    scale = f", scale={filling.scale}" if filling.scale != 1 else ""
    values = f"seeded({', '.join(map(str, (filling.stream, *tensor.shape)))}{mean}{scale})"
    if tensor.dtype != dtype:
        whole = "" if TABLE[tensor.dtype].is_floating else ".round()"
        values = f"{values}{whole}.to(torch.{tensor.dtype})"
    if tensor.is_contiguous and tensor.extent == tensor.numel:
        return values
    storage = f"torch.zeros({tensor.extent}, dtype=torch.{tensor.dtype}, device=D)"
    return f"{storage}.as_strided({tensor.shape}, {tensor.steps}, {tensor.offset}).copy_({values})"


def _call(launch: Launch) -> str:
    grid = ", ".join(map(str, launch.grid))
    arguments = [short(name) if isinstance(value, Tensor) else repr(value) for name, value in launch.arguments.items()]
    constants = [f"{name}={_constant(value)}" for name, value in launch.constants.items()]
    options = f"num_warps={launch.num_warps}, num_stages={launch.num_stages}"
    return f"{launch.kernel.fn.__name__}[({grid})]({', '.join((*arguments, *constants))}, {options})"


def _constant(value: object) -> str:
    return f"tl.{value}" if isinstance(value, TypeName) else repr(value)


def _check(operator: Operator, launch: Launch) -> Iterator[str]:
    """Compares with PyTorch and with float64, output by output; prints the outputs where there is no version in PyTorch."""
    if not operator.expression:
        yield from (f"print({short(name)})" for name, tensor in launch.tensors.items() if tensor.is_output)
        return
    inputs = ", ".join(short(name) for name, tensor in launch.tensors.items() if tensor.filling)
    ours = ", ".join(operator.results.get(name, name) for name in operator.outputs)
    values = {name: repr(launch.arguments[name]) for name in (one.name for one in operator.parameters)}
    yield f"def pytorch({inputs}): return {operator.expression.format(**values)}"
    yield "for name, kind in (('PyTorch', None), ('float64', torch.float64)):"
    yield f"    theirs = pytorch(*(t.to(kind or t.dtype) for t in ({inputs},)))"
    yield f"    for ours, their in zip(({ours},), theirs if isinstance(theirs, tuple) else (theirs,)):"
    yield "        print('max |difference| from', name, (ours.double() - their.double()).abs().max().item())"
