"""True accesses of a kernel: chosen programs of it, run in Triton's interpreter on virtual memory.

Offsets, masks and values are what the kernel itself computed, at the moment of each access. Nothing is derived beside it. The
hooks shadow four methods of the interpreter's builder for one trace and are removed afterwards; they take `*rest` because the
tail of the arguments changes between releases of Triton.
"""

from __future__ import annotations

import contextlib
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import TensorHandle, interpreter_builder

from ..arguments import resolved
from ..operator import MAX_PROGRAMS, Launch, id_refusal
from . import interpreter as ours
from .memory import SLOT_BITS, VirtualTensor, is_undefined, undefined
from .probe import probed, watch
from .records import NO_CHANGE, Access, Limits, Program, Step, Trace, Turn, Variable, WhatIf

LIMITS = Limits()


class _OutOfTimeError(Exception):
    """Ends a trace at its time limit."""


def trace(
    launch: Launch,
    programs: Sequence[Program],
    *,
    seed: int = 0,
    what_if: WhatIf = NO_CHANGE,
    limits: Limits = LIMITS,
    watched: Program | None = None,
    poison: Mapping[str, Iterable[int]] | None = None,
    dropped: Callable[[str, str, np.ndarray], None] | None = None,
    strict: bool = False,
) -> Trace:
    """Runs these programs of the launch, in this order, on fresh virtual memory.

    `watched` is the program whose variables are recorded after every statement; `poison` makes elements of inputs NaN, which
    shows what depends on them; `dropped` gets (kind, argument, offsets in bounds) of accesses that are not kept. With `strict`
    blocks must be powers of two, as Triton has it.

    Raises InterpreterError where the kernel itself fails, and ValueError for a program whose id no int32 holds.
    """
    if any(max(program) > MAX_PROGRAMS for program in programs):
        raise ValueError(id_refusal(launch.grid))
    started = time.perf_counter()
    ours.repair()
    memory = _memory(launch, seed, what_if, poison or {})
    recorder = _Recorder(launch, tuple(programs), memory, what_if, limits, watched, dropped)
    complete = recorder.run(strict) if programs else True
    return Trace(
        tuple(programs),
        tuple(recorder.accesses),
        tuple(recorder.steps),
        complete,
        recorder.dropped,
        time.perf_counter() - started,
        memory,
    )


def _memory(launch: Launch, seed: int, what_if: WhatIf, poison: Mapping[str, Iterable[int]]) -> dict[str, VirtualTensor]:
    memory, strided = {}, False
    for slot, (name, tensor) in enumerate(launch.tensors.items()):
        takes_stride = what_if.stride > 1 and tensor.filling is not None and not strided
        strided |= takes_stride
        memory[name] = VirtualTensor(name, slot, tensor, seed, what_if.stride if takes_stride else 1)
        if name in poison:
            index = np.asarray(list(poison[name]), np.int64)
            memory[name].write(index, np.full(index.shape, np.nan, np.float32))
    return memory


class _Recorder:
    """Runs a launch with hooks in place and keeps what they see."""

    def __init__(
        self,
        launch: Launch,
        programs: tuple[Program, ...],
        memory: dict[str, VirtualTensor],
        what_if: WhatIf,
        limits: Limits,
        watched: Program | None,
        on_drop: Callable[[str, str, np.ndarray], None] | None,
    ) -> None:
        self.on_drop = on_drop
        self.launch, self.programs, self.memory = launch, programs, memory
        self.what_if, self.limits, self.watched = what_if, limits, watched
        self.by_slot = {(tensor.base >> SLOT_BITS): tensor for tensor in memory.values()}
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
        watch(kernel, self.step, self.turns)
        arguments = {**self.launch.arguments, **self.memory, **resolved(self.launch.constants)}
        executor = interpreter.GridExecutor(function, kernel.arg_names, (len(self.programs), 1, 1))
        blocks = contextlib.nullcontext() if strict else ours.relaxed()
        with blocks, ours.unsanitized(), ours.undefined_kept(), ours.others_seen(self._note_other), self._hooks():
            try:
                with np.errstate(all="ignore"):
                    executor(**arguments)
            except interpreter.InterpreterError as error:
                if isinstance(error.__cause__, _OutOfTimeError):
                    return False
                raise
        return True

    @contextlib.contextmanager
    def _hooks(self) -> Iterator[None]:
        hooks = {
            "create_masked_load": self.load,
            "create_masked_store": self.store,
            "create_get_program_id": self.program_id,
            "create_get_num_programs": self.num_programs,
            "create_atomic_rmw": self.refuse_atomic,
            "create_atomic_cas": self.refuse_atomic,
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

    def refuse_atomic(self, *rest: Any, **options: Any) -> None:
        raise NotImplementedError("Atomic operations are not traced.")

    def load(
        self, pointers: TensorHandle, mask: TensorHandle, other: TensorHandle | None, *rest: Any, **options: Any
    ) -> TensorHandle:
        tensor, offsets, given, live, inside = self._resolve(pointers, mask)
        values = undefined(offsets.shape, tensor.numpy_dtype)
        defined = live & inside
        if self.what_if.other is not None and not self.what_if.no_mask:
            values[...], defined = np.where(live, values, self.what_if.other), defined | ~live
        elif other is not None or self.other is not None:
            filler = other.data if other is not None else self.other.handle.data
            values[...], defined = np.where(live, values, filler), defined | ~live
        reachable = live & inside
        values[reachable] = tensor.read(offsets[reachable])
        self._keep("load", tensor, offsets, given, live, inside, values, defined & ~is_undefined(values))
        return TensorHandle(values, pointers.get_element_ty())

    def store(self, pointers: TensorHandle, value: TensorHandle, mask: TensorHandle, *rest: Any, **options: Any) -> None:
        tensor, offsets, given, live, inside = self._resolve(pointers, mask)
        values = np.array(np.broadcast_to(value.data, offsets.shape))
        reachable = live & inside
        values[reachable] = tensor.write(offsets[reachable], values[reachable])
        self._keep("store", tensor, offsets, given, live, inside, values, live & ~is_undefined(values))

    def _resolve(
        self, pointers: TensorHandle, mask: TensorHandle
    ) -> tuple[VirtualTensor, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The argument that most lanes point into, with offsets, given mask, mask in force, and which lanes lie inside."""
        addresses = pointers.data.astype(np.int64)
        slots = addresses + (1 << (SLOT_BITS - 1)) >> SLOT_BITS  # half a slot below still belongs to an argument
        first = int(slots.flat[0])
        if slots.size > 1 and not (slots == first).all():
            numbers, counts = np.unique(slots, return_counts=True)
            first = int(numbers[counts.argmax()])
        if first not in self.by_slot:
            raise NotImplementedError("An access goes to an address that belongs to no argument.")
        tensor = self.by_slot[first]
        offsets = (addresses - tensor.base) // tensor.element_size()
        given = np.array(np.broadcast_to(mask.data, addresses.shape), bool)
        live = np.ones_like(given) if self.what_if.no_mask else given
        return tensor, offsets, given, live, (offsets >= 0) & (offsets < tensor.numel)

    def _keep(
        self,
        kind: str,
        tensor: VirtualTensor,
        offsets: np.ndarray,
        given: np.ndarray,
        live: np.ndarray,
        inside: np.ndarray,
        values: np.ndarray,
        defined: np.ndarray,
    ) -> None:
        if not self._kept() or self.lanes + offsets.size > self.limits.lanes:
            self.dropped += 1
            if self.on_drop:
                self.on_drop(kind, tensor.name, offsets[live & inside])
            return
        self.lanes += offsets.size
        self.accesses.append(
            Access(
                kind,
                tensor.name,
                self.program,
                self._line(),
                tuple(self.loops),
                tensor.tensor.dtype,
                offsets,
                given,
                live,
                live & ~inside,
                values.copy(),
                defined,
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

    def turns(self, line: int, items: Iterable[int]) -> Iterator[int]:
        """Runs a loop of the kernel, keeping count; stops the trace at its time limit."""
        items = items if hasattr(items, "__len__") else list(items)
        depth = len(self.loops)
        for index, item in enumerate(items):
            if self.limits.skipping and not self.limits.keeps(index, len(items)):
                continue
            if index and time.perf_counter() > self.deadline:
                raise _OutOfTimeError
            self.loops[depth:] = [Turn(self.definition_line + line - 1, index, len(items))]
            yield item
        del self.loops[depth:]

    def step(self, line: int, variables: dict[str, Any]) -> None:
        """Notes what a statement of the watched program assigned."""
        program = self.program
        if program != self.previous:
            self.previous, self.seen, self.reported = program, {}, len(self.accesses)
            given = {*self.launch.arguments, *self.launch.constants}
            self.seen.update({name: value for name, value in variables.items() if name in given})
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
            return Variable(np.array(value), type(value).__name__)
        if not isinstance(value, tl.tensor):
            return None
        data = value.handle.data
        if not value.type.is_block():
            data = data.reshape(())
        if not value.dtype.is_ptr():
            return Variable(data, str(value.dtype))
        slot = int(data.flat[0]) + (1 << (SLOT_BITS - 1)) >> SLOT_BITS
        tensor = self.by_slot.get(slot)
        if tensor is None:
            return None
        return Variable((data.astype(np.int64) - tensor.base) // tensor.element_size(), "offset", tensor.name)


_NOTHING = object()


def _without_self(hook: Callable[..., Any]) -> Callable[..., Any]:
    """A function to be bound as a method of the builder: the hooks belong to the recorder."""
    return lambda _builder, *arguments, **options: hook(*arguments, **options)
