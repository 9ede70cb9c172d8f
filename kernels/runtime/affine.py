"""All accesses of all programs of a launch, exactly: each program traced where they are few, else shown affine in their ids.

A grid is cut into boxes of programs that do alike: the same accesses in the same order, with the same masks, whose offsets grow
by a fixed step along each axis. Kernels also make several coordinates of one id, by `//` and `%`: such an axis is read as a
number of several digits. Cuts and steps come from a few traces; the far corner of every box and eight programs drawn at random
must then do just as they say. That is strong evidence and no proof; what fails it is not counted at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ..launch import Launch
from .digits import NotAffineError, Place, Places, by_axes, by_digits
from .records import NO_CHANGE, Access, Program, WhatIf, unravel
from .sites import NotTracedError, Programs, Site, by_program

ALL_PROGRAMS = 64
OTHERS = 8
# Cuts along one axis: loops shared out among the programs have one, a ragged end one more.
MOST_CUTS = 4
SECONDS = 8.0

Steps = tuple[int, ...]


@dataclass(frozen=True)
class Box:
    """Programs that do alike, `counts` along each axis: what the first of them does, and the step of each access per axis."""

    first: Place
    counts: tuple[int, ...]
    sites: tuple[Site, ...]
    steps: tuple[Steps, ...]

    def __contains__(self, place: Place) -> bool:
        pairs = zip(place, self.first, self.counts, strict=True)
        return all(0 <= along - first < count for along, first, count in pairs)

    def starts(self, place: Place) -> list[int]:
        """The lowest offset of each access of one of these programs."""
        away = [along - first for along, first in zip(place, self.first, strict=True)]
        return [
            site.first + sum(step * distance for step, distance in zip(steps, away, strict=True))
            for site, steps in zip(self.sites, self.steps, strict=True)
        ]


@dataclass(frozen=True)
class Whole:
    """All that a launch of `programs` does, after `traced` of them were: no boxes where that does not tell of the others."""

    programs: int
    traced: int
    boxes: tuple[Box, ...]

    @property
    def exact(self) -> bool:
        """Whether every program is accounted for."""
        return bool(self.boxes) or not self.programs

    @property
    def words(self) -> str:
        """How much was looked at."""
        return f"traced: {self.traced:,} of {self.programs:,}"


def whole(
    launch: Launch,
    *,
    seed: int = 0,
    what_if: WhatIf = NO_CHANGE,
    seconds: float = SECONDS,
    all_up_to: int = ALL_PROGRAMS,
) -> Whole:
    """Looks at the launch for about so many seconds at most; of up to `all_up_to` programs at every one.

    Raises InterpreterError where the kernel cannot be traced.
    """
    programs = Programs(launch, seed, what_if, seconds)
    boxes: tuple[Box, ...] = ()
    for way in (_each,) if launch.programs <= all_up_to else (_by_axes, _by_digits):
        try:
            boxes = way(programs)
            break
        except NotAffineError:
            continue
        except NotTracedError:
            break
    return Whole(launch.programs, len(programs.known), boxes)


def of_programs(accesses: Sequence[Access], programs: Iterable[Program]) -> tuple[Box, ...]:
    """Programs whose every access was traced, each alone in a box."""
    return tuple(_alone(program, sites) for program, sites in by_program(accesses, programs).items())


def _alone(program: Program, sites: tuple[Site, ...]) -> Box:
    return Box(program, (1, 1, 1), sites, ((0, 0, 0),) * len(sites))


def _each(programs: Programs) -> tuple[Box, ...]:
    programs.trace(unravel(number, programs.launch.grid) for number in range(programs.launch.programs))
    return tuple(_alone(program, sites) for program, sites in programs.known.items())


def _by_axes(programs: Programs) -> tuple[Box, ...]:
    return _checked(by_axes(programs))


def _by_digits(programs: Programs) -> tuple[Box, ...]:
    return _checked(by_digits(programs))


def _checked(places: Places) -> tuple[Box, ...]:
    """Boxes that programs of each, and others drawn at random, do as told by. Raises NotAffineError."""
    parts = [_parts(_along(places, axis), length) for axis, length in enumerate(places.lengths)]
    boxes = tuple(_box(places, part) for part in product(*parts))
    generator = np.random.default_rng(places.programs.launch.programs)
    far = [tuple(first + count - 1 for first, count in zip(box.first, box.counts, strict=True)) for box in boxes]
    drawn = [tuple(int(generator.integers(length)) for length in places.lengths) for _ in range(OTHERS)]
    places.trace([*far, *drawn])
    for place in (*far, *drawn):
        box = next(box for box in boxes if place in box)
        told = [access.form for access in box.sites], box.starts(place)
        if told != ([access.form for access in places[place]], [access.first for access in places[place]]):
            raise NotAffineError
    return boxes


def _along(places: Places, axis: int) -> Callable[[int], tuple[bytes, ...]]:
    """The form of the programs along one axis, at 0 of the others."""
    return lambda along: places.form(tuple(along if other == axis else 0 for other in range(len(places.lengths))))


def _parts(form: Callable[[int], tuple[bytes, ...]], length: int) -> list[tuple[int, int]]:
    """(first, how many) of stretches of an axis: between two places that are alike all are, until checked.

    Most grids have one ragged end, so the place before the last is tried first, and then the middle.
    """
    starts = [0]
    while form(starts[-1]) != form(length - 1):
        if len(starts) > MOST_CUTS:
            raise NotAffineError
        alike, other = starts[-1], length - 1
        place = other - 1
        while other - alike > 1:
            alike, other = (place, other) if form(place) == form(starts[-1]) else (alike, place)
            place = (alike + other) // 2
        starts.append(other)
    return [(first, end - first) for first, end in zip(starts, [*starts[1:], length], strict=True)]


def _box(places: Places, parts: Sequence[tuple[int, int]]) -> Box:
    """The first program of a box, and how far each access moves from it to its neighbour along each axis."""
    first, counts = tuple(start for start, _ in parts), tuple(count for _, count in parts)
    sites = places[first]
    moved = [_moved(places, first, axis) if count > 1 else [0] * len(sites) for axis, count in enumerate(counts)]
    return Box(first, counts, sites, tuple(zip(*moved, strict=True)))


def _moved(places: Places, first: Place, axis: int) -> list[int]:
    neighbour = tuple(along + (other == axis) for other, along in enumerate(first))
    if places.form(neighbour) != places.form(first):
        raise NotAffineError
    return [there.first - here.first for here, there in zip(places[first], places[neighbour], strict=True)]
