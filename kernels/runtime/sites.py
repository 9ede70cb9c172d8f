"""What programs of a launch touch, without the values: traced when first asked for, equal shapes of accesses kept once."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..launch import Launch
from .records import Access, Limits, Program, WhatIf

# Of one call of the tracer, about 16 bytes each: it takes as many programs as fit, for a call alone takes 3 ms.
LANES = 2**22
MOST_LANES = 2**24


class NotTracedError(Exception):
    """The time was over before a program was traced to its end, or it has too many lanes to be kept."""


@dataclass(frozen=True)
class Site:
    """One access of a program: the lowest offset of its live lanes, and each lane's distance from it, -1 where it is not live.

    `form` is equal for accesses that differ in `first` alone.
    """

    kind: str
    argument: str
    line: int
    first: int
    lanes: np.ndarray
    form: bytes

    @property
    def offsets(self) -> np.ndarray:
        """The elements that live lanes touch."""
        return self.lanes[self.lanes >= 0] + self.first


def site(access: Access) -> Site:
    """What an access touches, apart from where it starts."""
    live = access.live
    first = int(access.offsets[live].min()) if live.any() else 0
    lanes = np.where(live, access.offsets - first, -1)
    turns = tuple((turn.line, turn.index) for turn in access.turns)
    told = repr((access.kind, access.argument, access.line, turns, access.atomic, lanes.shape)).encode()
    form = hashlib.blake2b(told + lanes.astype(np.int64).tobytes(), digest_size=16).digest()
    return Site(access.kind, access.argument, access.line, first, lanes, form)


def by_program(accesses: Sequence[Access], programs: Iterable[Program]) -> dict[Program, tuple[Site, ...]]:
    """The accesses of each of these programs, in order."""
    found: dict[Program, list[Site]] = {program: [] for program in programs}
    for access in accesses:
        found[access.program].append(site(access))
    return {program: tuple(sites) for program, sites in found.items()}


class Programs:
    """The programs of a launch; `known` are those that were traced."""

    def __init__(self, launch: Launch, seed: int, what_if: WhatIf, seconds: float) -> None:
        self.launch, self.options = launch, {"seed": seed, "what_if": what_if}
        self.deadline = time.perf_counter() + seconds
        self.known: dict[Program, tuple[Site, ...]] = {}
        self._lanes: dict[bytes, np.ndarray] = {}
        self._at_once = 1

    def __getitem__(self, program: Program) -> tuple[Site, ...]:
        self.trace([program])
        return self.known[program]

    def trace(self, programs: Iterable[Program]) -> None:
        """Traces those of the programs that have not been. Raises NotTracedError where one is not traced to its end."""
        asked = [program for program in dict.fromkeys(programs) if program not in self.known]
        while asked:
            part, asked = asked[: self._at_once], asked[self._at_once :]
            for program, sites in self._traced(part).items():
                self.known[program] = tuple(self._kept(sites))
                self._at_once = max(LANES // max(sum(site.lanes.size for site in sites), 1), 1)

    def _traced(self, programs: list[Program]) -> dict[Program, tuple[Site, ...]]:
        from .trace import trace

        left = self.deadline - time.perf_counter()
        limits = Limits(turns=2**62, lanes=MOST_LANES, seconds=left)
        found = trace(self.launch, programs, limits=limits, **self.options) if left > 0 else None
        if found is None or not found.complete or found.dropped:
            raise NotTracedError
        return by_program(found.accesses, programs)

    def _kept(self, sites: tuple[Site, ...]) -> Iterator[Site]:
        for access in sites:
            yield replace(access, lanes=self._lanes.setdefault(access.form, access.lanes))
