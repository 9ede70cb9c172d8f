"""Programs by coordinates: the ids along the axes of the grid, or what a kernel makes of one id by `//` and `%`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .records import Program
from .sites import Programs, Site

Place = tuple[int, ...]


class NotAffineError(Exception):
    """The programs do not do alike."""


@dataclass(frozen=True)
class Digit:
    """One coordinate of an id along an axis: `id // weight % length`."""

    axis: int
    weight: int
    length: int


class Places:
    """Programs by coordinates, one for each digit of their ids."""

    def __init__(self, programs: Programs, digits: Sequence[Digit]) -> None:
        self.programs, self.digits = programs, digits
        self.lengths = tuple(digit.length for digit in digits)

    def program(self, place: Place) -> Program:
        """The program at these coordinates."""
        ids = [0, 0, 0]
        for along, digit in zip(place, self.digits, strict=True):
            ids[digit.axis] += along * digit.weight
        return ids[0], ids[1], ids[2]

    def __getitem__(self, place: Place) -> tuple[Site, ...]:
        return self.programs[self.program(place)]

    def form(self, place: Place) -> tuple[bytes, ...]:
        """Equal for programs that do alike."""
        return tuple(access.form for access in self[place])

    def trace(self, places: Iterable[Place]) -> None:
        """Traces the programs at these coordinates, those that have not been."""
        self.programs.trace([self.program(place) for place in places])


def by_axes(programs: Programs) -> Places:
    """The ids along the axes themselves."""
    return Places(programs, [Digit(axis, 1, length) for axis, length in enumerate(programs.launch.grid)])


def by_digits(programs: Programs) -> Places:
    """The digits of the ids along every axis. Raises NotAffineError where they do not make up the axis."""
    found = [digit for axis, length in enumerate(programs.launch.grid) for digit in _digits(programs, axis, length)]
    return Places(programs, found)


def _digits(programs: Programs, axis: int, length: int) -> list[Digit]:
    """The digits of an axis, from the lowest; a digit ends where the offsets leave the line that its first two are on."""
    digits, weight = [], 1
    while weight < length:
        if length % weight:
            raise NotAffineError
        digits.append(Digit(axis, weight, _run(programs, axis, weight, length // weight)))
        weight *= digits[-1].length
    return digits


def _run(programs: Programs, axis: int, weight: int, length: int) -> int:
    """How many programs, so far from each other, start on one line."""

    def starts(place: int) -> list[int]:
        return [access.first for access in programs[tuple(place * weight if other == axis else 0 for other in range(3))]]

    def on_line(place: int) -> bool:
        return starts(place) == [here + place * (there - here) for here, there in zip(starts(0), starts(1), strict=False)]

    inside, outside = 1, 2
    while outside < length and on_line(outside):
        inside, outside = outside, 2 * outside
    outside = min(outside, length)
    while outside - inside > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if on_line(middle) else (inside, middle)
    return outside
