"""The values of a measurement, with the bounds that hold in a file of them. Seconds, bytes, hertz, watts, degrees Celsius."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from ..operator import Numbers, Problem, Tiling
from ..runtime.request import Request
from ..storage.bounds import Amount, Name, Number, Text, Whole, most

SCHEMA = 1
KIND = "triton-explorer run"
# A sweep has at most 20 points, a point four implementations, a call of PyTorch's 30 kernels.
MOST_POINTS, MOST_WAYS, MOST_KERNELS, MOST_FEW = 200, 16, 500, 64
Sizes = Annotated[Mapping[Name, Whole], most(MOST_FEW)]
Parameters = Annotated[Mapping[Name, Number], most(MOST_FEW)]
Notes = Annotated[tuple[Text, ...], most(MOST_FEW)]
DIRECTIONS = {
    "forward": "the result",
    "backward": "the gradients, by autograd, the forward pass done before",
    "both": "the result and then its gradients",
    "module": "a residual layer with a matmul and the norm inside: result and all gradients",
}


@dataclass(frozen=True)
class Spread:
    """The median of `n` samples, and between what 60 % of them lie: the 20th and the 80th percentile."""

    median: Number
    low: Number
    high: Number
    n: Whole


@dataclass(frozen=True)
class KernelTime:
    """One kernel of a call as the profiler saw it: its start after the call's first kernel, and how long it ran."""

    name: Text
    start: Number
    duration: Number


@dataclass(frozen=True)
class KernelBytes:
    """One kernel's DRAM traffic in bytes, as the hardware counted it."""

    name: Text
    read: Amount
    written: Amount


@dataclass(frozen=True)
class Timed:
    """One implementation: its times, or the sentence that says why it has none.

    `events`: device time between two events around a call, L2 cleared before. `graph`: the call and the clearing captured in
    one CUDA graph, the clearing's own time taken off. `host`: what the CPU takes to return from a call. `peak_bytes`: what the
    call allocates at most, results included. `share`: how much of the tolerance against float64 its worst element takes.
    `dram`: each kernel's bytes by the GPU's counters, where they were asked for.
    """

    way: Name
    title: Name
    problem: Text | None = None
    events: Spread | None = None
    graph: Spread | None = None
    host: Spread | None = None
    compile_seconds: Amount | None = None
    peak_bytes: Whole | None = None
    kernels: Annotated[tuple[KernelTime, ...], most(MOST_KERNELS)] = ()
    dram: Annotated[tuple[KernelBytes, ...], most(MOST_KERNELS)] = ()
    share: Amount | None = None
    difference: Amount | None = None

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

    sm_clock: Amount | None = None
    memory_clock: Amount | None = None
    temperature: Number | None = None
    power: Amount | None = None
    throttled: Notes = ()
    others: Whole | None = None


@dataclass(frozen=True)
class Point:
    """One measurement: what was asked, every implementation's figures, the copy beside them, the GPU before and after.

    `parameters` are the real ones that were not as by default.
    """

    operator: Name
    sizes: Sizes
    blocks: Sizes
    num_warps: Whole
    num_stages: Whole
    dtype: Name
    direction: Name = "forward"
    seed: Whole = 0
    parameters: Parameters = field(default_factory=dict)
    timed: Annotated[tuple[Timed, ...], most(MOST_WAYS)] = ()
    copy: Spread | None = None
    copy_bytes: Whole | None = None
    before: State = State()
    after: State = State()
    problem: Text | None = None
    notes: Notes = ()

    @functools.cached_property
    def request(self) -> Request:
        """What was asked, as the other pages ask it."""
        tiling = Tiling(Numbers(self.blocks), self.num_warps, self.num_stages)
        problem = Problem(Numbers(self.sizes), self.dtype, Numbers(self.parameters))
        return Request(self.operator, problem, tiling, self.seed)

    def way(self, name: str) -> Timed | None:
        """The figures of one implementation; None where it was not asked for."""
        return next((one for one in self.timed if one.way == name), None)


@dataclass(frozen=True)
class Roofs:
    """The limits of a GPU, bytes and operations a second: from its clocks and widths, and measured; None where unknown.

    `operations` and `operations_measured` go by dtype; `launch` is the time of an empty kernel in a graph, `host_launch` what
    the CPU takes to launch one.
    """

    bandwidth: Amount | None = None
    copy: Amount | None = None
    operations: Annotated[Mapping[Name, Amount], most(MOST_FEW)] = field(default_factory=dict)
    operations_measured: Annotated[Mapping[Name, Amount], most(MOST_FEW)] = field(default_factory=dict)
    launch: Amount | None = None
    host_launch: Amount | None = None
    formula: Text = ""


@dataclass(frozen=True)
class Device:
    """The GPU that measured, as its driver describes it."""

    name: Name
    uuid: Name | None = None
    target: Name = ""
    multiprocessors: Whole | None = None
    memory_bytes: Whole | None = None
    l2_bytes: Whole | None = None


@dataclass(frozen=True)
class Run:
    """Points measured together: on which GPU, with which versions, by which method; `axis` is what a sweep changes."""

    made: Name
    device: Device
    versions: Annotated[Mapping[Name, Name], most(MOST_FEW)]
    method: Text
    points: Annotated[tuple[Point, ...], most(MOST_POINTS)]
    roofs: Roofs = Roofs()
    axis: Name | None = None
    title: Name = ""
    schema: Whole = SCHEMA
    kind: Literal["triton-explorer run"] = KIND
