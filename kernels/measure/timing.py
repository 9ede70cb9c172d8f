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
    "method 4: checked against float64 first; warmed up until two batches agree within 2 % or for 0.3 s; then 3 rounds "
    "(1 in a sweep) over all implementations, the order reversed every other round, of 100 ms to settle (400 for a matrix "
    "product, which is held by the card's power) and 60 ms of samples each, without a pause. Before a sample 256 MiB are "
    "zeroed, which clears the L2 cache. events: time between two events around the call. graph: clearing and call captured "
    "together, the clearing's own time taken off. host: until the call returns, the GPU idle. Outputs are allocated by "
    "PyTorch's caching allocator within the call. Inputs are seeded noise."
)
CLEARED_BYTES = 2**28
WARM_SECONDS = 0.3
ROUNDS = 3
SETTLING_SECONDS, BLOCK_SECONDS = 0.1, 0.06
# An H200 that starts a bfloat16 matmul keeps its highest clock for 0.1 to 0.3 s before it falls to what 700 W allow.
LONG_SETTLING_SECONDS = 0.4
AHEAD = 1.25
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


def by_events(calls: Sequence[Call], clear: Clearing, rounds: int = ROUNDS, settling: float = SETTLING_SECONDS) -> list[Spread]:
    """The time between two events around each call; one spread a call, from blocks of samples that alternate.

    Every block runs for `settling` seconds before its samples count, so that clocks and power are those of this call alone:
    a matmul that takes turns with lighter kernels sample by sample runs 10 % faster than one on its own (H200, 700 W).
    """
    found: list[list[float]] = [[] for _ in calls]
    paces = [_pace(call, clear) for call in calls]
    with no_collection():
        for number in range(rounds):
            places = list(range(len(calls)))
            for place in places if number % 2 == 0 else reversed(places):
                found[place] += _block(calls[place], clear, paces[place], settling)
    return [spread(samples) for samples in found]


@dataclass(frozen=True)
class _Pace:
    """How samples follow each other: clearings before each, and seconds from one to the next."""

    clearings: int
    seconds: float


def _pace(call: Call, clear: Clearing) -> _Pace:
    """So many clearings that the CPU runs ahead of the GPU, and no wait for a launch is timed; one wherever that is enough.

    More of them than needed let the GPU rest: a matmul at the power limit then seems 10 % faster (H200).
    """
    warm(call)
    host = by_host(lambda: _sample(call, clear, 1), 10).median
    clear()
    one = batch_seconds(clear, 10)
    most = ceil(3 * host / one) if one > 0 else 1
    kernels = spread(_block(call, clear, _Pace(most, 1.0), 0.0)).median
    return _Pace(*needed(host, one, kernels))


def needed(host: float, one: float, kernels: float) -> tuple[int, float]:
    """(clearings, seconds from sample to sample), from seconds that the CPU, a clearing and the call's kernels take.

    A clearing that took no time by the clock keeps the GPU from nothing, however many there are: then one is made.
    """
    clearings = max(1, ceil((AHEAD * host - kernels) / one)) if one > 0 else 1
    return clearings, max(host, kernels + clearings * one)


def batch_seconds(call: Call, count: int) -> float:
    """Seconds a call takes in a row of so many, on the GPU's clock."""
    import torch

    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(count):
        call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1000 / count


def _sample(call: Call, clear: Clearing, clearings: int) -> tuple[torch.cuda.Event, torch.cuda.Event]:
    """One sample, launched: the events before and after the call."""
    import torch

    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(clearings):
        clear()
    start.record()
    call()
    end.record()
    return start, end


def _block(call: Call, clear: Clearing, pace: _Pace, settling: float) -> list[float]:
    """Samples of one call for `BLOCK_SECONDS`, four at least, after others for `settling` seconds, which do not count."""
    import torch

    before, count = int(settling / pace.seconds), max(LEAST, int(BLOCK_SECONDS / pace.seconds))
    pairs = [_sample(call, clear, pace.clearings) for _ in range(before + count)]
    torch.cuda.synchronize()
    return [start.elapsed_time(end) / 1000 for start, end in pairs[before:]]


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
    return batch_seconds(graph.replay, 1)


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
