"""True accesses of a kernel: chosen programs of it, run in Triton's interpreter on virtual memory.

Offsets, masks and values are what the kernel itself computed, at the moment of each access. Nothing is derived beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from ..launch import Launch, unwrapped
from ..operator import MAX_PROGRAMS, id_refusal
from . import interpreter as ours
from .memory import virtual
from .recorder import Recorder
from .records import NO_CHANGE, Limits, Program, Trace, WhatIf

LIMITS = Limits()


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

    Raises InterpreterError where the kernel itself fails or asks what the interpreter cannot do, as inline assembly, and
    ValueError for a program whose id no int32 holds.
    """
    if any(max(program) > MAX_PROGRAMS for program in programs):
        raise ValueError(id_refusal(launch.grid))
    started = time.perf_counter()
    ours.repair()
    launch, _ = unwrapped(launch)
    memory = virtual(launch, seed, what_if, poison or {})
    recorder = Recorder(launch, tuple(programs), memory, what_if, limits, watched, dropped)
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
