"""The tensors of a compiled kernel that touch memory, or that lie in a layout of their own: read from its TTGIR."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from ..launch import Launch
from ..runtime.source import source_of
from .layouts import Layout, Unknown, parsed

ALIAS = re.compile(r"^(#(?!loc)\w+) = (#\w+\.\w+<.*>|#\w+\.\w+)$", re.MULTILINE)
PLACE = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
TENSOR = r"tensor<((?:\d+x)+){}, (#.+?)>(?= loc\(| ->| to |,|$)"
POINTERS = re.compile(TENSOR.format(r"!tt\.ptr<(\w+)>"))
VALUES = re.compile(TENSOR.format(r"(\w+)"))
ACCESS = re.compile(r"^\s*(?:%[\w#:]+ = )?(\w+\.(?:load|store|async_copy_global_to_local|buffer_load|buffer_store)) (%[\w#]+)")
RESULT = re.compile(r"^    (%\w+) = (?!scf|arith\.constant|arith\.cmp)")  # directly in the function's body, not in a loop
KINDS = {
    "tt.load": "load",
    "tt.store": "store",
    "ttg.async_copy_global_to_local": "copy",
    "amdg.buffer_load": "load",
    "amdg.buffer_store": "store",
    "amdgpu.buffer_load": "load",
    "amdgpu.buffer_store": "store",
}
MATRIX = re.compile(r"mma|mfma")  # layouts that a matrix instruction gives its result: nvidia_mma, amd_mfma, amd_wmma


@dataclass(frozen=True)
class Held:
    """A tensor of the kernel, and where it is: `value` on line `place` of the TTGIR, `line` of the kernel's file.

    kind     -- "load" to registers, "copy" from global to shared memory, "store", or "sum" for what `tl.dot` adds up
    argument -- the argument of the kernel that is read or written; the variable that is assigned, of a sum
    layout   -- `name` in the TTGIR, `text` with aliases written out, and as it is understood
    """

    kind: str
    argument: str
    line: int
    dtype: str
    shape: tuple[int, ...]
    name: str
    text: str
    layout: Layout
    value: str
    place: int


def held(ttgir: str, launch: Launch) -> tuple[Held, ...]:
    """The tensors in the order of the TTGIR, each (kind, line, shape, layout) once.

    A load that the compiler pipelined stands there several times: the first stage and the loop's body are one.
    """
    aliases, places, lines = dict(ALIAS.findall(ttgir)), dict(PLACE.findall(ttgir)), ttgir.split("\n")
    arguments = _arguments(launch)
    found: dict[tuple[object, ...], Held] = {}
    for number, text in enumerate(lines):
        one = _access(text, number, aliases, places, arguments)
        if one:
            found.setdefault((one.kind, one.line, one.shape, one.text), one)
    for one in _sums(lines, aliases, places):
        found.setdefault((one.kind, one.text), one)
    return tuple(found.values())


def _access(
    text: str, number: int, aliases: dict[str, str], places: dict[str, str], arguments: dict[tuple[int, str], str]
) -> Held | None:
    found = ACCESS.match(text)
    tensor = found and (POINTERS.search(text) or VALUES.search(text))
    if not found or not tensor or found[1] not in KINDS:
        return None
    kind, line = KINDS[found[1]], _line(text, places)
    name = arguments.get((line, "store" if kind == "store" else "load"), "?")
    return _held(kind, name, line, tensor, aliases, found[2], number)


def _held(kind: str, argument: str, line: int, tensor: re.Match[str], aliases: dict[str, str], value: str, number: int) -> Held:
    shape = tuple(int(length) for length in tensor[1].rstrip("x").split("x"))
    text = _written_out(tensor[3], aliases)
    return Held(kind, argument, line, tensor[2], shape, tensor[3], text, parsed(text), value, number)


def _sums(lines: list[str], aliases: dict[str, str], places: dict[str, str]) -> list[Held]:
    """The tensors outside of loops in layouts that only a matrix instruction has."""
    found = []
    for number, text in enumerate(lines):
        result, tensors = RESULT.match(text), list(VALUES.finditer(text))
        if result and tensors and tensors[-1][2][0] in "fb":
            one = _held("sum", result[1][1:], _line(text, places), tensors[-1], aliases, result[1], number)
            if isinstance(one.layout, Unknown) and MATRIX.search(one.layout.name):
                found.append(one)
    return found


def _written_out(text: str, aliases: dict[str, str]) -> str:
    """A layout with every alias replaced by what it stands for."""
    before = ""
    while before != text:
        before, text = text, re.sub(r"#\w+(?![\w.])", lambda name: aliases.get(name[0], name[0]), text)
    return text


def _line(text: str, places: dict[str, str]) -> int:
    """The line of the kernel's file that an operation comes from, the caller's where a function was called; 0 if not told."""
    found = re.search(r" loc\((#loc\d*)\)\s*$", text)
    name = found[1] if found else ""
    while name in places:
        direct = re.search(r'"[^"]*\.py":(\d+):\d+', places[name])
        if direct:
            return int(direct[1])
        name = next(reversed(re.findall(r"#loc\d*", places[name])), "")
    return 0


def _arguments(launch: Launch) -> dict[tuple[int, str], str]:
    """Which argument of the kernel a `tl.load` or `tl.store` on a line of its file reads or writes."""
    source = source_of(launch.kernel)
    found = {}
    for node in ast.walk(ast.parse("\n".join(source.lines))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("tl.load", "tl.store"):
            names = [one.id for one in ast.walk(node.args[0]) if isinstance(one, ast.Name) and one.id in launch.tensors]
            if names:
                found[node.lineno + source.first - 1, ast.unparse(node.func)[3:]] = names[0]
    return found
