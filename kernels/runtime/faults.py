"""What goes wrong in a launch, in sentences with exact lanes and distances, from the accesses of its trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import prod

import numpy as np

from ..launch import ITEMSIZE, Launch, short
from ..operator import Axis
from .records import Access, linear
from .what_ifs import in_one_row

MOST = 24


def faults(accesses: Sequence[Access], launch: Launch, owner: Callable[[str, int], int | None], chosen: int) -> tuple[str, ...]:
    """A sentence for every program and argument that is reached out of bounds or through a mask that excluded it.

    Stores come before loads, those of the chosen program before those of others.
    """
    wrong = [access for access in accesses if access.out_of_bounds.any() or (access.live & ~access.mask).any()]

    def place(access: Access) -> tuple[bool, int, str]:
        return access.kind != "store", linear(access.program, launch.grid), access.argument

    outside, strayed = [], []
    for (_, number, _), group in groupby(sorted(wrong, key=place), key=place):
        members = list(group)
        outside += _outside(number, members, launch)
        strayed += _strayed(number, members, owner)
    own = f"Program {chosen:,} "
    said = sorted((*outside, *strayed), key=lambda said: (" writes " not in said, not said.startswith(own)))
    return (*said[:MOST], f"And {len(said) - MOST} more of the kind.") if len(said) > MOST else tuple(said)


def _outside(number: int, accesses: list[Access], launch: Launch) -> Iterator[str]:
    kind, argument = accesses[0].kind, accesses[0].argument
    tensor = launch.tensors[argument]
    offsets = np.unique(np.concatenate([access.offsets[access.out_of_bounds] for access in accesses]))
    size, name = ITEMSIZE[tensor.dtype], short(argument)
    past, before = offsets[offsets >= 0], offsets[offsets < 0]
    verb = "writes" if kind == "store" else "reads"
    if past.size:
        where = f"bytes {int(past[0]) * size:,} to {(int(past[-1]) + 1) * size - 1:,}"
        into = f"into {where}" if kind == "store" else f"from {where}"
        yield f"Program {number:,} {verb} {_elements(past.size)} past the end of {name}, {into}."
    if before.size:
        first = f"{int(before[0]):,}".replace("-", "−")
        yield f"Program {number:,} {verb} {_elements(before.size)} before the start of {name}, from element {first} on."


def _strayed(number: int, accesses: list[Access], owner: Callable[[str, int], int | None]) -> Iterator[str]:
    kind, argument = accesses[0].kind, accesses[0].argument
    flags = [access.live & ~access.mask & ~access.out_of_bounds for access in accesses]
    offsets = np.unique(np.concatenate([access.offsets[flag] for access, flag in zip(accesses, flags, strict=True)]))
    if not offsets.size:
        return
    name, verb = short(argument), "writes" if kind == "store" else "reads"
    owners = sorted({owner(argument, int(offset)) for offset in offsets[:64]} - {None, number})
    whose = f" that belong to program {owners[0]:,}" if owners else ", its own too"
    first, last = int(offsets[0]), int(offsets[-1])
    place = f"element {first:,}" if first == last else f"elements {first:,} to {last:,}"
    yield f"Program {number:,} {verb} {_elements(offsets.size)} of {name}{whose}, inside the tensor: {place}."


def never_written(needed: Launch, given: Launch, axes: Sequence[Axis]) -> tuple[str, ...]:
    """What a grid that was rounded down leaves out, by the closed form of the axes."""
    missing = needed.programs - given.programs
    if missing <= 0:
        return ()
    said = f"{missing:,} program{' is' if missing == 1 else 's are'} missing"
    if in_one_row(needed, axes):
        return (f"{said}: the elements of their tiles are never written.",)
    every = prod(axis.total for axis in axes)
    covered = prod(min(axis.total, given.grid[place] * axis.lanes) for place, axis in enumerate(axes))
    last = f", from {covered:,} on," if len(axes) == 1 else ""
    return (f"{said}: {_elements(every - covered)}{last} {'is' if every - covered == 1 else 'are'} never written.",)


def changed(before: Sequence[Access], after: Sequence[Access], what_if: str) -> str:
    """How the values that the same programs store differ between the trace without and that with the what-if."""

    def place(access: Access) -> tuple[object, ...]:
        return access.program, access.argument, access.line, access.turns

    plain = {place(access): access for access in before if access.kind == "store"}
    pairs = [(plain[place(access)], access) for access in after if access.kind == "store" and place(access) in plain]
    differing, unknown, lost, largest = 0, 0, 0, 0.0
    for old, new in pairs:
        both = old.mask & new.live & ~new.out_of_bounds & (old.offsets == new.offsets)
        lost += int((old.mask & ~both).sum())
        apart = np.abs(old.values.astype(np.float64) - new.values.astype(np.float64))[both]
        differing, unknown = differing + int((apart > 0).sum()), unknown + int(np.isnan(apart).sum())
        largest = max(largest, float(np.nanmax(apart, initial=0.0)))
    found = [f"{differing:,} change by up to {largest:.3g}"] if differing else []
    found += [f"{unknown:,} become undefined"] if unknown else []
    found += [f"{lost:,} do not reach their place"] if lost else []
    if found:
        return f"Of the values that the programs shown store, {', '.join(found)}."
    if what_if == "other":
        return "No stored value changes: what masked lanes hold is never stored here."
    return "The values that the live lanes store do not change."


def _elements(count: int) -> str:
    return f"{count:,} element{'' if count == 1 else 's'}"
