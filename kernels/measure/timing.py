"""Timing on the GPU: the L2 cache cleared before every sample, implementations alternated, medians of samples.

`METHOD` is stored with every run and grows by one whenever what it describes changes.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from .records import Spread

if TYPE_CHECKING:
    import torch

METHOD = (
    "method 3: checked against float64 first; warmed up until two batches agree within 2 % or for 0.3 s; then 3 rounds "
    "(1 in a sweep) over all implementations, the order reversed every other round, of 100 ms to settle (500 more where power "
    "limits the clock) and 60 ms of samples each. Before a sample 256 MiB are zeroed, which clears the L2 cache. events: time "
    "between two events around the call. graph: clearing and call captured together, the clearing's own time taken off. host: "
    "until the call returns, the GPU idle. Outputs are allocated by PyTorch's caching allocator within the call. Inputs are "
    "seeded noise."
)
CLEARED_BYTES = 2**28
WARM_SECONDS = 0.3
ROUNDS = 3
SETTLING_SECONDS, BLOCK_SECONDS = 0.1, 0.06
# An H200 that starts a bfloat16 matmul keeps its highest clock for 0.1 to 0.2 s before it falls to what 700 W allow.
LIMITED_SECONDS = 0.5
LEAST = 4
IN_GRAPH = 10
REPLAYS = 7

Call = Callable[[], Any]


def spread(samples: Sequence[float]) -> Spread:
    """Median and 20th and 80th percentile, interpolated between neighbours as `statistics.quantiles` does."""
    import statistics

    ordered = sorted(samples)
    if len(ordered) == 1:
        return Spread(ordered[0], ordered[0], ordered[0], 1)
    fifths = statistics.quantiles(ordered, n=5, method="inclusive")
    return Spread(statistics.median(ordered), fifths[0], fifths[3], len(ordered))


class Clearing:
    """A buffer larger than any L2 cache; writing it evicts what a kernel before has left there."""

    def __init__(self) -> None:
        import torch

        # Of int64, so that its kernel is told from others in a profile.
        self.buffer = torch.empty(CLEARED_BYTES // 8, dtype=torch.int64, device="cuda")

    def __call__(self) -> None:
        self.buffer.zero_()


@contextmanager
def no_collection() -> Iterator[None]:
    """Keeps Python's garbage collector out of the samples."""
    before = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def warm(call: Call) -> float:
    """Calls until two batches in a row take the same time within 2 %, or for `WARM_SECONDS`; returns seconds a call."""
    import torch

    last, started = 0.0, time.perf_counter()
    count = 1
    while True:
        torch.cuda.synchronize()
        before = time.perf_counter()
        for _ in range(count):
            call()
        torch.cuda.synchronize()
        now = (time.perf_counter() - before) / count
        if (count > 1 and abs(now - last) <= 0.02 * now) or time.perf_counter() - started > WARM_SECONDS:
            return now
        last, count = now, max(min(int(0.03 / now), 1000), 2)


def never() -> bool:
    """Where nobody tells whether power limits the clock."""
    return False


def by_events(
    calls: Sequence[Call], clear: Clearing, rounds: int = ROUNDS, limited: Callable[[], bool] = never
) -> list[Spread]:
    """The time between two events around each call; one spread a call, from blocks of samples that alternate.

    `limited` tells whether power limits the clock right now. Every block runs for a while before its samples count, so that
    clocks and power are those of this call alone: a matmul that
    takes turns with lighter kernels sample by sample runs 10 % faster than one that runs on its own (H200, 700 W).
    """
    found: list[list[float]] = [[] for _ in calls]
    paces = [_pace(call, clear) for call in calls]
    with no_collection():
        for number in range(rounds):
            places = list(range(len(calls)))
            for place in places if number % 2 == 0 else reversed(places):
                found[place] += _settled(calls[place], clear, paces[place], limited)
    return [spread(samples) for samples in found]


def _settled(call: Call, clear: Clearing, pace: _Pace, limited: Callable[[], bool]) -> list[float]:
    """Samples of one call, once clock and power are those of this call."""
    _block(call, clear, pace, SETTLING_SECONDS)
    if limited():
        _block(call, clear, pace, LIMITED_SECONDS)
    return _block(call, clear, pace, BLOCK_SECONDS)


@dataclass(frozen=True)
class _Pace:
    """How samples follow each other: clearings before each, before the first of many, and seconds from one to the next."""

    clearings: int
    head: int
    seconds: float


def _pace(call: Call, clear: Clearing) -> _Pace:
    """So many clearings that the GPU is always behind the CPU, and no wait for a launch is timed; one wherever that is enough.

    More of them than needed let the GPU rest: a matmul at the power limit then seems 10 % faster (H200).
    """
    import torch

    each = warm(call)
    host = by_host(call, 10).median
    one = by_host(lambda: (clear(), torch.cuda.synchronize()), 5).median
    kernels = each if each > 1.3 * host else 0.0  # where launching takes as long, how long they take is not known yet
    clearings = max(1, ceil((1.5 * host - kernels) / one))
    return _Pace(clearings, 1 + ceil(3 * host / one), max(each, host) + clearings * one)


def _block(call: Call, clear: Clearing, pace: _Pace, seconds: float) -> list[float]:
    """Samples of one call for about so long, four at least."""
    import torch

    count = max(LEAST, int(seconds / pace.seconds))
    pairs = [tuple(torch.cuda.Event(enable_timing=True) for _ in range(2)) for _ in range(count)]
    for _ in range(pace.head):
        clear()
    for start, end in pairs:
        for _ in range(pace.clearings):
            clear()
        start.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return [start.elapsed_time(end) / 1000 for start, end in pairs]


def by_graph(call: Call, clear: Clearing) -> Spread | None:
    """The time of a call within a CUDA graph; None where it cannot be captured."""
    import torch

    def both() -> None:
        clear()
        call()

    try:
        whole, alone = captured(both), captured(clear)
    except Exception:  # what cannot be captured says so in many ways, and all of them only mean: no figure by this method
        torch.cuda.synchronize()
        return None
    replay(whole), replay(alone)
    return spread([(replay(whole) - replay(alone)) / IN_GRAPH for _ in range(REPLAYS)])


def captured(call: Call, times: int = IN_GRAPH) -> torch.cuda.CUDAGraph:
    """A graph of so many calls, on the current stream where that is not the default one."""
    import torch

    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
        for _ in range(times):
            call()
    return graph


def replay(graph: torch.cuda.CUDAGraph) -> float:
    """Seconds that one replay takes on the GPU."""
    import torch

    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1000


def by_host(call: Call, count: int = 30) -> Spread:
    """What the CPU takes until a call returns, the GPU having nothing to do before it."""
    import torch

    samples = []
    with no_collection():
        for _ in range(count):
            torch.cuda.synchronize()
            before = time.perf_counter()
            call()
            samples.append(time.perf_counter() - before)
    torch.cuda.synchronize()
    return spread(samples)


def peak_bytes(call: Call) -> int:
    """The most memory that one call has allocated at once, its results included."""
    import torch

    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    kept = call()
    torch.cuda.synchronize()
    del kept
    return max(torch.cuda.max_memory_allocated() - before, 0)
