"""How many programs fit on one multiprocessor at once, what stops more, and how many waves a grid makes."""

from __future__ import annotations

from dataclasses import dataclass

from ..operator import cdiv
from .facts import Multiprocessor

LIMITS = {
    "warps": "warps: each has a slot of its own",
    "registers": "registers: each thread keeps its own while the program runs",
    "shared": "shared memory: each program has its own part",
    "blocks": "programs: a multiprocessor keeps count of no more",
}


@dataclass(frozen=True)
class Occupancy:
    """What fits on a multiprocessor: programs by each limit, and how many there are in the end.

    `limits` maps a name of LIMITS to programs, None where that is not limited; `warps` are those of one program.
    """

    warps: int
    limits: dict[str, int | None]
    slots: int

    @property
    def programs(self) -> int:
        return min(limit for limit in self.limits.values() if limit is not None)

    @property
    def limiting(self) -> tuple[str, ...]:
        """The limits that stop one more program."""
        return tuple(name for name, limit in self.limits.items() if limit == self.programs)

    @property
    def share(self) -> float:
        """Occupancy: warps in place over warps that a multiprocessor has room for."""
        return self.programs * self.warps / self.slots


def occupancy(unit: Multiprocessor, warps: int, registers: int, shared_bytes: int) -> Occupancy:
    """What fits of programs with so many warps, registers a thread and bytes of shared memory.

    As NVIDIA's occupancy calculator has it: a warp's registers are rounded up to the unit, the warps that the registers
    allow rounded down to what is handed out at a time, and the system's part is added to a program's shared memory.
    """
    of_warp = cdiv(registers * 32, unit.register_unit) * unit.register_unit
    by_registers = None
    if registers:
        by_registers = unit.registers // of_warp // unit.warp_unit * unit.warp_unit // warps
    taken = cdiv(shared_bytes + unit.shared_reserved, unit.shared_unit) * unit.shared_unit
    limits = {
        "warps": unit.warps // warps,
        "registers": by_registers,
        "shared": unit.shared_bytes // taken if taken else None,
        "blocks": unit.blocks,
    }
    return Occupancy(warps, limits, unit.warps)


@dataclass(frozen=True)
class Waves:
    """A grid on a chip: how many programs run at once, how many waves that makes, how full the last one is."""

    programs: int
    at_once: int

    @property
    def full(self) -> int:
        return self.programs // self.at_once if self.at_once else 0

    @property
    def last(self) -> int:
        """The programs of a last wave that is not full; 0 where all are full."""
        return self.programs % self.at_once if self.at_once else 0

    @property
    def count(self) -> int:
        return self.full + bool(self.last)

    @property
    def efficiency(self) -> float | None:
        """Programs over the places that the waves have, were all programs equally long; None where nothing runs."""
        places = self.count * self.at_once
        return self.programs / places if places else None
