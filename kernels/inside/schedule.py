"""Which multiprocessor ran which program, and when: an instrumented copy of the kernel reads `%smid` and `%globaltimer`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..runtime.device import Target
from ..runtime.request import Request
from .instrument import WORDS, plain, with_schedule

MOST_PROGRAMS = 2**20
WARM_LAUNCHES = 3


@dataclass(frozen=True)
class Cost:
    """What instrumenting costs: seconds of a launch and registers a thread, without it and with it."""

    plain: float
    instrumented: float
    plain_registers: int
    instrumented_registers: int


@dataclass(frozen=True)
class Schedule:
    """One launch, program by program in launch order.

    starts, ends -- nanoseconds since the first program started, by the GPU's global timer
    units        -- the multiprocessor that ran the program
    when         -- "" for a launch just made, else the date of a recorded one
    """

    device: str
    multiprocessors: int
    starts: np.ndarray
    ends: np.ndarray
    units: np.ndarray
    cost: Cost
    versions: dict[str, str]
    when: str = ""

    @property
    def programs(self) -> int:
        return self.starts.size

    @property
    def span(self) -> int:
        """Nanoseconds from the first start to the last end."""
        return int(self.ends.max())

    @property
    def tick(self) -> int:
        """The smallest step that the timer made, in nanoseconds."""
        steps = np.diff(np.unique(np.concatenate((self.starts, self.ends))))
        return int(steps.min()) if steps.size else 0

    def per_unit(self) -> np.ndarray:
        """How many programs each multiprocessor ran."""
        return np.bincount(self.units, minlength=self.multiprocessors)

    def tail(self) -> int:
        """Nanoseconds from when the first multiprocessor had nothing left to do until the end; idle ones are not counted."""
        last = np.zeros(self.multiprocessors, np.int64)
        np.maximum.at(last, self.units, self.ends)
        return self.span - int(last[self.per_unit() > 0].min())

    def together(self) -> int:
        """The most programs that ran on one multiprocessor at one time."""
        units, times = np.tile(self.units, 2), np.concatenate((self.starts, self.ends))
        change = np.repeat((1, -1), self.programs)
        order = np.lexsort((change, times, units))  # where one ends as another starts, the end comes first
        return int(change[order].cumsum().max())

    def running(self, moments: np.ndarray) -> np.ndarray:
        """(multiprocessor, moment) to how many programs run there then; a program runs from its start until before its end."""
        found = np.zeros((self.multiprocessors, moments.size + 1), np.int64)
        np.add.at(found, (self.units, np.searchsorted(moments, self.starts)), 1)
        np.add.at(found, (self.units, np.searchsorted(moments, self.ends)), -1)
        return found.cumsum(axis=1)[:, :-1]

    def wave(self, moments: np.ndarray) -> np.ndarray:
        """(multiprocessor, moment) to the wave there: programs started so far over those that run at one time, from 0."""
        started = np.zeros((self.multiprocessors, moments.size + 1), np.int64)
        np.add.at(started, (self.units, np.searchsorted(moments, self.starts)), 1)
        return (started.cumsum(axis=1)[:, :-1] - 1) // self.together()

    def busy(self) -> float:
        """The share of multiprocessors that have a program to run, on average over the launch."""
        moments = np.linspace(0, self.span, 512, endpoint=False)
        return float((self.running(moments) > 0).mean())


def run_schedule(request: Request, target: Target) -> Schedule:
    """Launches the instrumented kernel and measures what that costs; in the worker of the GPU, whose target is given.

    Raises ValueError where the chip cannot tell or the programs are too many, MemoryError where the tensors do not fit.
    """
    import torch
    import triton

    from ..measure.timing import Clearing, by_events
    from .device_launch import filled, ready

    launch = request.without_change().launch()
    refuse(launch.programs, target)
    _, ttgir, _ = plain(launch, target)
    arguments = filled(launch, request.seed)
    probe = torch.zeros(WORDS * launch.programs, dtype=torch.int64, device="cuda")
    before, call_before = ready(ttgir, launch, target, arguments)
    kernel, call = ready(with_schedule(ttgir), launch, target, arguments, probe)
    plain_time, with_time = by_events([lambda: call_before(launch.grid), lambda: call(launch.grid)], Clearing())
    for _ in range(WARM_LAUNCHES):
        call(launch.grid)
    torch.cuda.synchronize()
    starts, ends, units = probe.cpu().numpy().reshape(-1, WORDS).T
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    return Schedule(
        properties.name,
        max(properties.multi_processor_count, int(units.max()) + 1),
        starts - starts.min(),
        ends - starts.min(),
        units,
        Cost(plain_time.median, with_time.median, before.n_regs, kernel.n_regs),
        {"torch": str(torch.__version__), "triton": triton.__version__},
    )


def refuse(programs: int, target: Target) -> None:
    """Raises ValueError, with the reason, where no schedule can be had."""
    if target.backend != "cuda":
        raise ValueError(f"{target.name} does not tell a kernel which unit runs it: no schedule can be recorded there.")
    if not programs:
        raise ValueError("0 programs: there is nothing to schedule.")
    if programs > MOST_PROGRAMS:
        raise ValueError(f"{programs:,} programs are more than the {MOST_PROGRAMS:,} that are recorded; fewer elements fit.")
