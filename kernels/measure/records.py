"""The values of a measurement, and how they become a JSON file and come back. Seconds, bytes, hertz, watts, degrees Celsius."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..operator import Numbers, Problem, Tiling
from ..runtime.request import Request
from .plain import built as built
from .plain import plain as plain

SCHEMA = 1
KIND = "triton-explorer run"
DIRECTIONS = {
    "forward": "the result",
    "backward": "the gradients, by autograd, the forward pass done before",
    "both": "the result and then its gradients",
    "module": "a residual layer with a matmul and the norm inside: result and all gradients",
}


@dataclass(frozen=True)
class Spread:
    """The median of `n` samples, and between what 60 % of them lie: the 20th and the 80th percentile."""

    median: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class KernelTime:
    """One kernel of a call as the profiler saw it: its start after the call's first kernel, and how long it ran."""

    name: str
    start: float
    duration: float


@dataclass(frozen=True)
class KernelBytes:
    """One kernel's DRAM traffic in bytes, as the hardware counted it."""

    name: str
    read: float
    written: float


@dataclass(frozen=True)
class Timed:
    """One implementation: its times, or the sentence that says why it has none.

    `events`: device time between two events around a call, L2 cleared before. `graph`: the call and the clearing captured in
    one CUDA graph, the clearing's own time taken off. `host`: what the CPU takes to return from a call. `peak_bytes`: what the
    call allocates at most, results included. `share`: how much of the tolerance against float64 its worst element takes.
    `dram`: each kernel's bytes by the GPU's counters, where they were asked for.
    """

    way: str
    title: str
    problem: str | None = None
    events: Spread | None = None
    graph: Spread | None = None
    host: Spread | None = None
    compile_seconds: float | None = None
    peak_bytes: int | None = None
    kernels: tuple[KernelTime, ...] = ()
    dram: tuple[KernelBytes, ...] = ()
    share: float | None = None
    difference: float | None = None

    @property
    def kernel(self) -> Spread | None:
        """The kernel time: by events, or by a graph where the time between events is short and so mostly not the kernel's."""
        return self.graph if self.method == "graph" else self.events

    @property
    def launched(self) -> tuple[KernelTime, ...]:
        """The kernels among what the profiler saw: without the driver's clearing of a few bytes that a reduction asks for."""
        return tuple(one for one in self.kernels if not one.name.startswith("Memset"))

    @property
    def method(self) -> str:
        """How `kernel` was taken, "events" or "graph"."""
        return "graph" if self.graph and self.events and self.events.median < SHORT else "events"


# Under 100 us launch gaps and event resolution are a visible part of the time between two events: a tiny add is 1.0 us in a
# graph and 3.9 us between events (H200, torch 2.11).
SHORT = 100e-6


@dataclass(frozen=True)
class State:
    """The GPU at one moment, as NVML tells; None where it does not. `others`: other processes that hold memory on it."""

    sm_clock: float | None = None
    memory_clock: float | None = None
    temperature: float | None = None
    power: float | None = None
    throttled: tuple[str, ...] = ()
    others: int | None = None


@dataclass(frozen=True)
class Point:
    """One measurement: what was asked, every implementation's figures, the copy beside them, the GPU before and after."""

    operator: str
    sizes: Mapping[str, int]
    blocks: Mapping[str, int]
    num_warps: int
    num_stages: int
    dtype: str
    direction: str = "forward"
    seed: int = 0
    timed: tuple[Timed, ...] = ()
    copy: Spread | None = None
    copy_bytes: int | None = None
    before: State = State()
    after: State = State()
    problem: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def request(self) -> Request:
        """What was asked, as the other pages ask it."""
        tiling = Tiling(Numbers(self.blocks), self.num_warps, self.num_stages)
        return Request(self.operator, Problem(Numbers(self.sizes), self.dtype), tiling, self.seed)

    def way(self, name: str) -> Timed | None:
        """The figures of one implementation; None where it was not asked for."""
        return next((one for one in self.timed if one.way == name), None)


@dataclass(frozen=True)
class Roofs:
    """The limits of a GPU, bytes and operations a second: from its clocks and widths, and measured; None where unknown.

    `operations` and `operations_measured` go by dtype; `launch` is the time of an empty kernel in a graph, `host_launch` what
    the CPU takes to launch one.
    """

    bandwidth: float | None = None
    copy: float | None = None
    operations: Mapping[str, float] = field(default_factory=dict)
    operations_measured: Mapping[str, float] = field(default_factory=dict)
    launch: float | None = None
    host_launch: float | None = None
    formula: str = ""


@dataclass(frozen=True)
class Device:
    """The GPU that measured, as its driver describes it."""

    name: str
    uuid: str | None = None
    target: str = ""
    multiprocessors: int | None = None
    memory_bytes: int | None = None
    l2_bytes: int | None = None


@dataclass(frozen=True)
class Run:
    """Points measured together: on which GPU, with which versions, by which method; `axis` is what a sweep changes."""

    made: str
    device: Device
    versions: Mapping[str, str]
    method: str
    points: tuple[Point, ...]
    roofs: Roofs = Roofs()
    axis: str | None = None
    title: str = ""
    schema: int = SCHEMA
    kind: str = KIND
