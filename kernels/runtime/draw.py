"""Draws a picture: chooses the programs to look at, traces them, and keeps what a page can show. Runs in the trace worker."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from ..launch import Launch, Tensor
from ..operator import id_refusal
from .affine import of_programs, whole
from .faults import changed, faults, never_written
from .limits import traceable
from .memory import is_undefined
from .moved import counted, moved
from .picture import WHOLE, WINDOW, Memory, Picture, Place, Touched, cells, grouped, owners_of_parts, values_at
from .records import Access, Limits, Trace, Turn, linear, unravel
from .request import Request
from .what_ifs import effective, moved_bytes, owner_in

ALL_PROGRAMS = 64
ALL_LANES = 512
ROWS = 8
AROUND = 8
# Accesses of the other programs that are traced to their end, about 0.2 ms each; of more, only the first turn of a loop.
WHOLE_LAUNCH = 400
SOME_PROGRAMS = 40
# Programs so short that a dozen more of them are traced for the bytes of the whole launch: 40 ms, once for a request.
FEW_ACCESSES, FEW_LANES, FAR_SECONDS = 16, 2**14, 1.0
LIMITS = Limits()


def lanes_of(request: Request) -> int:
    """How many lanes a program has along its axes, by the closed form; 0 where the operator declares none."""
    axes = request.description.axes
    return prod(axis.lanes for axis in axes(request.problem, request.tiling)) if axes else 0


def programs_to_trace(launch: Launch, lanes: int, chosen: int) -> list[int]:
    """All programs of a small launch; else the first, the last, the chosen one and those around it that a window shows."""
    count = launch.programs
    if count <= ALL_PROGRAMS and count * lanes <= ALL_LANES:
        return list(range(count))
    around = min(AROUND, -(-WINDOW // max(lanes, 1)))
    near = range(max(chosen - around, 0), min(chosen + around + 1, count))
    return sorted({0, *near, count - 1})


def programs_to_show(traced: list[int], chosen: int) -> list[int]:
    """At most eight of the traced programs: the first, the last, and those nearest to the chosen one."""
    if len(traced) <= ROWS:
        return traced
    nearest = sorted(traced[1:-1], key=lambda number: (abs(number - chosen), number))[: ROWS - 2]
    return sorted({traced[0], *nearest, chosen, traced[-1]})


@functools.lru_cache(maxsize=4)
def traces(request: Request, chosen: int, limits: Limits, alone: bool) -> tuple[Trace, Trace, Touched]:
    """The chosen program's trace, with its variables; that of the other programs to look at; what the chosen one touches."""
    from .trace import trace

    launch = request.launch()
    program = unravel(chosen, launch.grid)
    options = {"seed": request.seed, "what_if": request.changes()}
    reached = Touched(launch.tensors)
    own = trace(launch, [program], watched=program, limits=limits, dropped=reached.add, **options)
    for access in own.accesses:
        reached.add_access(access)
    numbers = [] if alone or not own.complete else programs_to_trace(launch, lanes_of(request), chosen)
    others = [unravel(number, launch.grid) for number in numbers if number != chosen]
    work = (len(own.accesses) + own.dropped) * len(others)
    if work <= (WHOLE_LAUNCH if len(others) + 1 == launch.programs else SOME_PROGRAMS):
        return own, trace(launch, others, limits=replace(limits, seconds=float("inf")), **options), reached
    first_turn = replace(limits, turns=2, seconds=0.0)
    return own, joined([trace(launch, [other], limits=first_turn, **options) for other in others]), reached


def joined(parts: Sequence[Trace]) -> Trace:
    """Traces of one launch's programs, each on memory of its own, as one."""
    first = parts[0]
    return Trace(
        programs=tuple(program for part in parts for program in part.programs),
        accesses=tuple(access for part in parts for access in part.accesses),
        steps=(),
        complete=all(part.complete for part in parts),
        dropped=sum(part.dropped for part in parts),
        seconds=sum(part.seconds for part in parts),
        memory=first.memory,
    )


def draw(
    request: Request, chosen: int, step: int | None = None, lane: int = 0, limits: Limits = LIMITS, alone: bool = False
) -> Picture:
    """The picture of a launch with one program chosen, at a step of it (the last where None); `lane` places the window.

    Traces the chosen program first; with `alone` only that. A grid whose programs cannot all know their numbers is not traced.
    """
    launch = request.launch()
    if not traceable(launch):
        return nothing_to_draw(request, "traced")
    if id_refusal(launch.grid):
        from .arithmetic import arithmetic

        return arithmetic(request, chosen, lane)
    chosen = min(chosen, launch.programs - 1)
    own, rest, reached = traces(request, chosen, limits, alone)
    at = len(own.steps) - 1 if step is None else max(min(step, len(own.steps) - 1), 0)
    everything = sorted((*own.accesses, *rest.accesses), key=lambda access: linear(access.program, launch.grid))
    numbers = sorted({chosen, *(linear(program, launch.grid) for program in rest.programs)})
    shown = tuple(unravel(number, launch.grid) for number in programs_to_show(numbers, chosen))
    kept = [access for access in everything if access.program in shown]
    before = sum(linear(access.program, launch.grid) < chosen for access in kept)
    here = own.steps[at].turns if own.steps else ()
    return Picture(
        grid=launch.grid,
        chosen=unravel(chosen, launch.grid),
        shown=shown,
        accesses=tuple(grouped(access, _detailed(access, chosen, launch, here)) for access in kept),
        steps=tuple(Place(taken.line, taken.turns) for taken in own.steps),
        step=at,
        values=values_at(own.steps, at),
        active=tuple(before + number for number in own.steps[at].accesses) if own.steps else (),
        memory=tuple(_memory(request, name, (own, rest), everything, reached, lane) for name in launch.tensors),
        faults=_faults(request, launch, everything, limits, chosen),
        counted=_counted(request, (own, rest), everything),
        complete=own.complete,
        origin="traced",
        program_seconds=own.seconds,
    )


def _detailed(access: Access, chosen: int, launch: Launch, here: tuple[Turn, ...]) -> bool:
    """Whether an access is drawn lane by lane: in the first turn of its loops, or in the turn of the step that is shown."""
    first = all(turn.index == 0 for turn in access.turns)
    return first or (linear(access.program, launch.grid) == chosen and access.turns == here)


def _faults(request: Request, launch: Launch, accesses: Sequence[Access], limits: Limits, chosen: int) -> tuple[str, ...]:
    """Out of bounds and strayed lanes; with a what-if also what it leaves unwritten and which stored values it changes."""
    from .trace import trace

    def owner(argument: str, element: int) -> int | None:
        known = owner_in(request, argument)
        number = int(known(element)) if known else -1
        return number if number >= 0 else None

    found = faults(accesses, launch, owner, chosen)
    if not effective(request):
        return found
    plain = request.without_change().launch()
    if request.what_if == "floor_grid":
        return (*found, *left_out(request))
    programs = list(dict.fromkeys(access.program for access in accesses))
    unchanged = trace(plain, programs, seed=request.seed, limits=limits)
    return (changed(unchanged.accesses, accesses, request.what_if), *found)


def left_out(request: Request) -> tuple[str, ...]:
    """What a grid that was rounded down leaves unwritten; nothing where it was not."""
    plain = request.without_change()
    axes = request.description.axes(request.problem, request.tiling) if request.description.axes else ()
    return never_written(plain.launch(), request.launch(), axes)


def _counted(request: Request, parts: tuple[Trace, Trace], accesses: Sequence[Access]) -> tuple[int, int] | None:
    """Bytes read and written: where all programs were traced; else where no formula has them and the programs are short."""
    launch, own = request.launch(), parts[0]
    if not all(part.complete and not part.dropped for part in parts):
        return None
    programs = [program for part in parts for program in part.programs]
    if len(programs) == launch.programs:
        return moved(launch, of_programs(accesses, programs))
    lanes = sum(access.offsets.size for access in own.accesses)
    short = len(own.accesses) <= FEW_ACCESSES and lanes <= FEW_LANES
    formula = moved_bytes(request) if request.description.traffic else None
    return _counted_far(request) if short and formula is None else None


@functools.lru_cache(maxsize=16)
def _counted_far(request: Request) -> tuple[int, int] | None:
    """The bytes of a launch of short programs; None where what they do does not follow from their ids."""
    launch = request.launch()
    return counted(launch, whole(launch, seed=request.seed, what_if=request.changes(), seconds=FAR_SECONDS))


def _memory(
    request: Request, name: str, parts: tuple[Trace, Trace], accesses: Sequence[Access], reached: Touched, lane: int
) -> Memory:
    """The window around the chosen program's first element of the argument, or the whole of a small argument."""
    launch = request.launch()
    tensor = launch.tensors[name]
    chosen, others = parts
    own = [access for access in chosen.accesses if access.argument == name]
    start, count = window(tensor, own, lane)
    index = chosen.memory[name].tensor.places(np.arange(start, start + count, dtype=np.int64))
    values = _numbers(chosen, name, index)
    theirs = _numbers(others, name, index) if name in others.memory else values
    values = np.where(is_undefined(values), theirs, values)
    touching = [access for access in accesses if access.argument == name]
    held = cells(values, start, chosen.memory[name].tensor, touching, launch.grid)
    owners = owners_of_parts(tensor, owner_in(request, name))
    return Memory(name, tensor.shape, tensor.dtype, held, *reached.shares(name), owners)


def _numbers(trace: Trace, name: str, index: np.ndarray) -> np.ndarray:
    """The values that a trace left at these elements of an argument's storage."""
    memory = trace.memory[name]
    return np.asarray(memory.shown(memory.read(index)), np.float32)


def window(tensor: Tensor, own: Sequence[Access], lane: int) -> tuple[int, int]:
    """First element and number of elements."""
    if tensor.numel <= WHOLE:
        return 0, tensor.numel
    middle = 0
    if own:
        offsets = own[0].offsets.reshape(-1)
        middle = int(tensor.positions(offsets[min(lane, offsets.size - 1)])[0])
    return max(0, min(middle - WINDOW // 8, tensor.numel - WINDOW)), WINDOW


def nothing_to_draw(request: Request, origin: str) -> Picture:
    """What is left where there is no program, or none that can be traced."""
    grid, nothing = request.launch().grid, (0, 0, 0)
    return Picture(grid, nothing, (), (), (), 0, {}, (), (), left_out(request), None, True, origin, 0.0)
