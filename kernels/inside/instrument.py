"""An instrumented copy of a compiled kernel: its own TTGIR, with a few operations that read the hardware's registers.

Layouts, registers' contents and the order of the work are settled in the TTGIR, so what is added does not change which thread
holds what; there is no second source of the kernel. Triton compiles the text on from there.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any

from ..launch import Launch
from ..runtime.compile import build
from ..runtime.device import Target
from .held import Held, held

HEAD = re.compile(r"^  tt\.func public @\w+\((.*)\) attributes \{.*\} \{$")
PARAMETER = re.compile(r"%(\w+): ")
WORDS = 3  # a program writes when it started, when it ended, and on which multiprocessor


def with_threads(ttgir: str, tensors: Sequence[Held]) -> str:
    """The kernel that also writes, for every element of these tensors, the thread that holds it.

    Its last argument is a pointer to 32-bit numbers, tensor after tensor, row-major.
    """
    lines = ttgir.split("\n")
    starts = [sum(prod(one.shape) for one in tensors[:number]) for number in range(len(tensors))]
    for one, start, number in sorted(zip(tensors, starts, range(len(tensors)), strict=True), key=lambda each: -each[0].place):
        after = one.place + (one.kind == "sum")
        lines[after:after] = _written_threads(one, start, number)
    return _with_argument(lines, "i32")


def _written_threads(one: Held, start: int, number: int) -> list[str]:
    """Reads the thread's number on the very tensor (of addresses, of an access) and stores it at the element's place."""
    shape, name = "x".join(str(length) for length in one.shape), f"%probe_{number}"
    integers, pointers = f"tensor<{shape}xi32, {one.name}>", f"tensor<{shape}x!tt.ptr<i32>, {one.name}>"
    value, own, constraint = one.value, f"tensor<{shape}x{one.dtype}, {one.name}>", "h" if one.dtype != "f32" else "f"
    found = []
    if one.kind != "sum":
        addresses, own, constraint = (
            f"tensor<{shape}x!tt.ptr<{one.dtype}>, {one.name}>",
            f"tensor<{shape}xi64, {one.name}>",
            "l",
        )
        found = [f"{name}_address = tt.ptr_to_int {value} : {addresses} -> {own}"]
        value = f"{name}_address"
    read = f'"mov.u32 $0, %tid.x;" {{constraints = "=r,{constraint}", packed_element = 1 : i32, pure = true}}'
    return [
        *found,
        f"{name}_thread = tt.elementwise_inline_asm {read} {value} : {own} -> {integers}",
        *_places(one, name, integers),
        f"{name}_start = arith.constant {start} : i32",
        f"{name}_first = tt.addptr %probe, {name}_start : !tt.ptr<i32>, i32",
        f"{name}_same = tt.splat {name}_first : !tt.ptr<i32> -> {pointers}",
        f"{name}_to = tt.addptr {name}_same, {name}_place : {pointers}, {integers}",
        f"tt.store {name}_to, {name}_thread : {pointers}",
    ]


def _places(one: Held, name: str, integers: str) -> list[str]:
    """The row-major number of every element, in the tensor's own layout."""
    if len(one.shape) == 1:
        return [f"{name}_place = {_range(one.shape[0])} : {integers}"]
    rows, columns = one.shape
    across, down = (f"tensor<{size}xi32, {_slice(axis, one.name)}>" for axis, size in ((0, columns), (1, rows)))
    row, column = f"tensor<1x{columns}xi32, {one.name}>", f"tensor<{rows}x1xi32, {one.name}>"
    return [
        f"{name}_r = {_range(rows)} : {down}",
        f"{name}_r1 = tt.expand_dims {name}_r {{axis = 1 : i32}} : {down} -> {column}",
        f"{name}_width = arith.constant dense<{columns}> : {column}",
        f"{name}_r2 = arith.muli {name}_r1, {name}_width : {column}",
        f"{name}_r3 = tt.broadcast {name}_r2 : {column} -> {integers}",
        f"{name}_c = {_range(columns)} : {across}",
        f"{name}_c1 = tt.expand_dims {name}_c {{axis = 0 : i32}} : {across} -> {row}",
        f"{name}_c2 = tt.broadcast {name}_c1 : {row} -> {integers}",
        f"{name}_place = arith.addi {name}_r3, {name}_c2 : {integers}",
    ]


def _range(end: int) -> str:
    return f"tt.make_range {{end = {end} : i32, start = 0 : i32}}"


def _slice(dimension: int, parent: str) -> str:
    return f"#ttg.slice<{{dim = {dimension}, parent = {parent}}}>"


_ASM = "tt.elementwise_inline_asm"
_EFFECT = "packed_element = 1 : i32, pure = false"
_START = f'%probe_start = {_ASM} "mov.u64 $0, %globaltimer;" {{constraints = "=l", {_EFFECT}}} -> i64'
# All warps of the program have to be there before the clock is read: the last one ends the program.
_END = f"""\
%probe_end = {_ASM} "bar.sync 0; mov.u64 $0, %globaltimer;" {{constraints = "=l", {_EFFECT}}} -> i64
%probe_unit = {_ASM} "mov.u32 $0, %smid;" {{constraints = "=r", {_EFFECT}}} -> i32
%probe_unit64 = arith.extui %probe_unit : i32 to i64
%probe_x = tt.get_program_id x : i32
%probe_y = tt.get_program_id y : i32
%probe_z = tt.get_program_id z : i32
%probe_nx = tt.get_num_programs x : i32
%probe_ny = tt.get_num_programs y : i32
%probe_zy = arith.muli %probe_z, %probe_ny : i32
%probe_yy = arith.addi %probe_zy, %probe_y : i32
%probe_yx = arith.muli %probe_yy, %probe_nx : i32
%probe_number = arith.addi %probe_yx, %probe_x : i32
%probe_words = arith.constant {WORDS} : i32
%probe_one = arith.constant 1 : i32
%probe_at = arith.muli %probe_number, %probe_words : i32
%probe_a = tt.addptr %probe, %probe_at : !tt.ptr<i64>, i32
%probe_b = tt.addptr %probe_a, %probe_one : !tt.ptr<i64>, i32
%probe_c = tt.addptr %probe_b, %probe_one : !tt.ptr<i64>, i32
tt.store %probe_a, %probe_start : !tt.ptr<i64>
tt.store %probe_b, %probe_end : !tt.ptr<i64>
tt.store %probe_c, %probe_unit64 : !tt.ptr<i64>""".split("\n")


def with_schedule(ttgir: str) -> str:
    """The kernel whose programs also write three 64-bit numbers each, by program number: start, end, multiprocessor.

    Times are in nanoseconds of the GPU's global timer; the last argument points to the numbers.
    """
    lines = []
    for line in ttgir.split("\n"):
        if line.startswith("    tt.return"):
            lines += _END
        lines.append(line)
        if HEAD.match(line):
            lines.append(_START)
    return _with_argument(lines, "i64")


def _with_argument(lines: list[str], kind: str) -> str:
    """The function with one more argument, a pointer to numbers of that type; raises ValueError where there is no function."""
    number = next((number for number, line in enumerate(lines) if HEAD.match(line)), None)
    if number is None:
        raise ValueError("The TTGIR of this Triton has no function that is understood, so it cannot be instrumented.")
    head, _, tail = lines[number].rpartition(") attributes")
    more = f"%probe: !tt.ptr<{kind}> {{tt.divisibility = 16 : i32}}"
    return "\n".join([*lines[:number], f"{head}, {more}) attributes{tail}", *lines[number + 1 :]])


def parameters(ttgir: str) -> tuple[str, ...]:
    """The names of the function's arguments in order: those of the kernel that are not compiled in."""
    head = next(found[1] for line in ttgir.split("\n") if (found := HEAD.match(line)))
    return tuple(PARAMETER.findall(head))


def compiled(text: str, launch: Launch, target: Target) -> Any:
    """Compiles a TTGIR text on to machine code, as Triton does for the launch's own."""
    import triton
    from triton.backends.compiler import GPUTarget

    options = {"num_warps": launch.num_warps, "num_stages": launch.num_stages}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.ttgir"
        path.write_text(text)
        return triton.compile(str(path), GPUTarget(target.backend, target.arch, target.warp_size), options)


def plain(launch: Launch, target: Target) -> tuple[Any, str, tuple[Held, ...]]:
    """The kernel as it is: Triton's CompiledKernel, its TTGIR and the tensors in it."""
    kernel = build(launch, target)
    ttgir = str(kernel.asm["ttgir"])
    return kernel, ttgir, held(ttgir, launch)
