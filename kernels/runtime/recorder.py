"""Runs a launch in Triton's interpreter with hooks in place, and keeps what they see.

The hooks shadow methods of the interpreter's builder for one trace and are removed afterwards; they take `*rest` because the
tail of the arguments changes between releases of Triton.
"""

from __future__ import annotations

import contextlib
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import TensorHandle, interpreter_builder

from ..arguments import resolved
from ..launch import Launch
from . import atomics
from . import interpreter as ours
from .given import LoopVariable, given
from .libdevice import computed
from .memory import VirtualTensor, is_undefined, slot_of, undefined
from .probe import probed, watched_by
from .reach import Part, Reach
from .records import UNKNOWN_TOTAL, Access, Limits, Program, Step, Turn, Variable, WhatIf


class OutOfTimeError(Exception):
    """Ends a trace at its time limit."""


class Recorder:
    """One trace of a launch; `run` fills `accesses` and `steps`."""

    def __init__(
        self,
        launch: Launch,
        programs: tuple[Program, ...],
        memory: Mapping[str, VirtualTensor],
        what_if: WhatIf,
        limits: Limits,
        watched: Program | None,
        on_drop: Callable[[str, str, np.ndarray], None] | None,
    ) -> None:
        self.on_drop = on_drop
        self.launch, self.programs, self.memory = launch, programs, memory
        self.what_if, self.limits, self.watched = what_if, limits, watched
        self.reach = Reach(memory.values(), what_if.no_mask)
        self.accesses: list[Access] = []
        self.steps: list[Step] = []
        self.dropped = self.lanes = self.reported = 0
        self.loops: list[Turn] = []
        self.seen: dict[str, Any] = {}
        self.previous: Program | None = None
        self.other: Any = None
        self.deadline = time.perf_counter() + limits.seconds
        function = launch.kernel.fn
        self.code_name, self.file = function.__name__, function.__code__.co_filename
        self.definition_line = 0
        self.lines: dict[int, int] = {}

    def run(self, strict: bool) -> bool:
        """Runs all programs; False where the time limit ended it."""
        kernel = self.launch.kernel
        function, self.lines = probed(kernel)
        self.definition_line = function.__code__.co_firstlineno
        arguments = {**given(self.launch, self.memory), **resolved(self.launch.constants)}
        executor = interpreter.GridExecutor(function, kernel.arg_names, (len(self.programs), 1, 1))
        with contextlib.ExitStack() as stack:
            for context in self._contexts(strict):
                stack.enter_context(context)
            try:
                executor(**arguments)
            except interpreter.InterpreterError as error:
                if isinstance(error.__cause__, OutOfTimeError):
                    return False
                raise
        return True

    def _contexts(self, strict: bool) -> Iterator[contextlib.AbstractContextManager[Any]]:
        """What holds while the programs run, and is undone afterwards."""
        if not strict:
            yield ours.relaxed()
        yield ours.unsanitized()
        yield ours.undefined_kept()
        yield ours.others_seen(self._note_other)
        yield computed(self.launch.kernel)
        yield watched_by(self.launch.kernel, self.step, self.turns, self.whiles)
        yield self._hooks()
        yield np.errstate(all="ignore")

    @contextlib.contextmanager
    def _hooks(self) -> Iterator[None]:
        hooks = {
            "create_masked_load": self.load,
            "create_masked_store": self.store,
            "create_get_program_id": self.program_id,
            "create_get_num_programs": self.num_programs,
            "create_atomic_rmw": self.atomic_update,
            "create_atomic_cas": self.atomic_swap,
            "create_inline_asm": self.refuse_assembly,
            "create_print": lambda *rest, **options: None,
        }
        for name, hook in hooks.items():
            setattr(interpreter_builder, name, types.MethodType(_without_self(hook), interpreter_builder))
        try:
            yield
        finally:
            for name in hooks:
                delattr(interpreter_builder, name)

    @property
    def program(self) -> Program:
        return self.programs[interpreter_builder.grid_idx[0]]

    def program_id(self, axis: int) -> TensorHandle:
        return TensorHandle(np.array([self.program[axis]], np.int32), tl.int32)

    def num_programs(self, axis: int) -> TensorHandle:
        return TensorHandle(np.array([self.launch.grid[axis]], np.int32), tl.int32)

    def _note_other(self, other: Any) -> None:
        self.other = other

    def refuse_assembly(self, *rest: Any, **options: Any) -> None:
        raise NotImplementedError(
            f"This kernel has inline assembly at line {self._line()}: it can be compiled and timed, not traced."
        )

    def load(
        self, pointers: TensorHandle, mask: TensorHandle, other: TensorHandle | None, *rest: Any, **options: Any
    ) -> TensorHandle:
        dtype = self.reach.dtype(pointers)
        values = undefined(pointers.data.shape, dtype)
        asked = np.array(np.broadcast_to(mask.data, values.shape), bool)
        live = np.ones_like(asked) if self.what_if.no_mask else asked
        filled = self._filled(values, live, other)
        for part in self.reach.parts(pointers, asked):
            reached = part.live & part.inside
            values[reached] = part.read(reached, dtype)
            defined = (reached | (~part.live & filled)) & ~is_undefined(values)
            self._keep("load", part, values, defined)
        return TensorHandle(values, pointers.get_element_ty())

    def _filled(self, values: np.ndarray, live: np.ndarray, other: TensorHandle | None) -> bool:
        """Gives lanes that are not live the value that is asked for; False where none is."""
        if self.what_if.other is not None and not self.what_if.no_mask:
            values[~live] = np.asarray(self.what_if.other).astype(values.dtype)
        elif other is not None or self.other is not None:
            filler = other.data if other is not None else self.other.handle.data
            values[...] = np.where(live, values, filler)
        else:
            return False
        return True

    def store(self, pointers: TensorHandle, value: TensorHandle, mask: TensorHandle, *rest: Any, **options: Any) -> None:
        asked = np.array(np.broadcast_to(mask.data, pointers.data.shape), bool)
        for part in self.reach.parts(pointers, asked):
            values = np.array(np.broadcast_to(value.data, part.offsets.shape))
            reached = part.live & part.inside
            values[reached] = part.write(reached, values[reached])
            self._keep("store", part, values, part.live & ~is_undefined(values))

    def atomic_update(
        self, operation: Any, pointers: TensorHandle, value: TensorHandle, mask: TensorHandle, *rest: Any, **options: Any
    ) -> TensorHandle:
        """Read, combine and write lane by lane, as a GPU's memory serialises lanes that meet in one element."""
        asked = np.array(np.broadcast_to(mask.data, pointers.data.shape), bool)
        combine = atomics.combination(operation)
        return self._atomic(pointers, asked, value, lambda before, lane: combine(before, value.data.flat[lane]))

    def atomic_swap(
        self, pointers: TensorHandle, expected: TensorHandle, value: TensorHandle, *rest: Any, **options: Any
    ) -> TensorHandle:
        self._check_time()
        compared, given = (np.broadcast_to(handle.data, pointers.data.shape).reshape(-1) for handle in (expected, value))
        asked = np.ones(pointers.data.shape, bool)
        return self._atomic(pointers, asked, value, lambda before, lane: given[lane] if before == compared[lane] else before)

    def _atomic(
        self, pointers: TensorHandle, asked: np.ndarray, value: TensorHandle, combine: Callable[[Any, int], Any]
    ) -> TensorHandle:
        dtype = value.data.dtype
        old = np.zeros(pointers.data.shape, dtype)
        for part in self.reach.parts(pointers, asked):
            new = np.zeros(old.shape, dtype)
            reached = part.live & part.inside
            for lane in np.flatnonzero(reached.reshape(-1)).tolist():
                only = np.zeros(reached.size, bool)
                only[lane] = True
                only = only.reshape(reached.shape)
                before = part.read(only, dtype)[0]
                after = np.array([combine(before, lane)]).astype(dtype)
                old.flat[lane], new.flat[lane] = before, after[0]
                part.write(only, after)
            self._keep("load", part, old, reached, atomic=True)
            self._keep("store", part, new, reached, atomic=True)
        return TensorHandle(old, value.dtype.scalar)

    def _keep(self, kind: str, part: Part, values: np.ndarray, defined: np.ndarray, atomic: bool = False) -> None:
        if not self._kept() or self.lanes + part.offsets.size > self.limits.lanes:
            self.dropped += 1
            if self.on_drop:
                self.on_drop(kind, part.tensor.name, part.offsets[part.live & part.inside])
            return
        self.lanes += part.offsets.size
        self.accesses.append(
            Access(
                kind,
                part.tensor.name,
                self.program,
                self._line(),
                tuple(self.loops),
                part.tensor.tensor.dtype,
                part.offsets,
                part.asked,
                part.live,
                part.live & ~part.inside,
                part.tensor.shown(values).copy(),
                defined,
                part.outside_view(),
                atomic,
            )
        )

    def _kept(self) -> bool:
        return all(self.limits.keeps(turn.index, turn.total) for turn in self.loops)

    def _line(self) -> int:
        """The line of the kernel's statement: the outermost frame of the kernel function, whatever helpers are inside."""
        frame, line = sys._getframe(2), 0
        while frame is not None:
            if frame.f_code.co_name == self.code_name and frame.f_code.co_filename == self.file:
                line = frame.f_lineno
            frame = frame.f_back
        return self.lines.get(line, line)

    def _check_time(self) -> None:
        if time.perf_counter() > self.deadline:
            raise OutOfTimeError

    def turns(self, line: int, items: Iterable[Any]) -> Iterator[Any]:
        """Runs a `for` of the kernel, keeping count; stops the trace at its time limit."""
        items = items if hasattr(items, "__len__") else list(items)
        depth = len(self.loops)
        for index, item in enumerate(items):
            if self.limits.skipping and not self.limits.keeps(index, len(items)):
                continue
            if index:
                self._check_time()
            self.loops[depth:] = [Turn(self.definition_line + line - 1, index, len(items))]
            yield LoopVariable(item) if type(item) is int else item
        del self.loops[depth:]

    def whiles(self, line: int, condition: Any) -> Any:
        """Counts the turns of a `while` of the kernel as its condition is asked; stops the trace at its time limit."""
        place = self.definition_line + line - 1
        inside = bool(self.loops) and self.loops[-1].line == place and self.loops[-1].total == UNKNOWN_TOTAL
        index = self.loops.pop().index + 1 if inside else 0
        if condition:
            if index:
                self._check_time()
            self.loops.append(Turn(place, index, UNKNOWN_TOTAL))
        return condition

    def step(self, line: int, variables: dict[str, Any]) -> None:
        """Notes what a statement of the watched program assigned."""
        program = self.program
        if program != self.previous:
            self.previous, self.seen, self.reported = program, {}, len(self.accesses)
            names = {*self.launch.arguments, *self.launch.constants}
            self.seen.update({name: value for name, value in variables.items() if name in names})
        if program != self.watched:
            return
        changed = {name: value for name, value in variables.items() if self.seen.get(name, _NOTHING) is not value}
        self.seen.update(changed)
        made, self.reported = tuple(range(self.reported, len(self.accesses))), len(self.accesses)
        if self._kept():
            described = {name: self._variable(value) for name, value in changed.items()}
            known = {name: value for name, value in described.items() if value is not None}
            self.steps.append(Step(self.definition_line + line - 1, tuple(self.loops), known, made))

    def _variable(self, value: Any) -> Variable | None:
        if isinstance(value, (bool, int, float)):
            return Variable(np.array(value), "int" if isinstance(value, LoopVariable) else type(value).__name__)
        if not isinstance(value, tl.tensor):
            return None
        data = value.handle.data
        if not value.type.is_block():
            data = data.reshape(())
        if not value.dtype.is_ptr():
            return Variable(data, str(value.dtype))
        tensor = self.reach.of(slot_of(int(data.flat[0])))
        if tensor is None:
            return None
        return Variable((data.astype(np.int64) - tensor.base) // tensor.element_size(), "offset", tensor.name)


_NOTHING = object()


def _without_self(hook: Callable[..., Any]) -> Callable[..., Any]:
    """A function to be bound as a method of the builder: the hooks belong to the recorder."""
    return lambda _builder, *arguments, **options: hook(*arguments, **options)
