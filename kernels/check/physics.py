"""Speed against physics: the empty launch, DRAM, the two together as T = a + V / b, and matmul at the clock seen meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from ..measure import timing
from ..measure.records import State
from ..measure.timing import batch_seconds
from ..measure.watch import state
from ..runtime.device import Gpu
from . import facts, judge
from .values import NOT_MEASURED, PASS, WARN, Result
from .worker import Context

STAGE = "speed"
LEAST_BYTES, OF_L2 = 2**28, 8
MOST_BYTES = 2**30
VOLUMES = tuple(2**power for power in range(20, 31, 2))
MATMUL_SIZES = (4096, 8192)
MATMUL_SECONDS = 0.6
SLOW = "See the power limit, the temperature and the clock event reasons under load, and who else uses the card."


def launch_time(context: Context) -> Iterator[Result]:
    """What the CPU takes to launch an empty kernel, the GPU having nothing else to do."""
    from ..measure.roofs import empty_kernel

    here = Result("launch time", "Empty launch", STAGE, PASS)
    host = timing.by_host(lambda: empty_kernel[(1,)](), 200).median
    yield replace(judge.launch_time(here, host), said=f"{host * 1e6:.1f} us a launch on the CPU")


def array_bytes(gpu: Gpu, tensors: int) -> int:
    """How large one array is, so that no cache holds it and the memory that is free does."""
    import torch

    free, _ = torch.cuda.mem_get_info()
    wanted = max(LEAST_BYTES, OF_L2 * (gpu.l2_bytes or 0))
    return min(wanted, MOST_BYTES, free // (tensors + 2)) // 4096 * 4096


def dram(context: Context) -> Iterator[Result]:
    """PyTorch's copy and Triton's add over arrays that no cache holds."""
    import torch

    from .probes import add_kernel

    gpu = context.gpu
    size = array_bytes(gpu, 3) // 4
    x, y, output = (torch.randn(size, device="cuda") for _ in range(3))
    clear = timing.Clearing()
    copy, add = on_stream(
        lambda: timing.by_events(
            [lambda: output.copy_(x), lambda: add_kernel[(-(-size // 1024),)](x, y, output, size, BLOCK_SIZE=1024)], clear
        )
    )
    limit = None if context.mig else facts.bandwidth(gpu)
    for name, title, arrays, spread in (("dram copy", "DRAM copy", 2, copy), ("dram add", "DRAM add by Triton", 3, add)):
        yield dram_result(name, title, arrays * 4 * size / spread.median, limit, gpu.target.backend)


def dram_result(check: str, title: str, speed: float, limit: float | None, backend: str) -> Result:
    """Bytes a second against the DRAM's."""
    here = Result(check, title, STAGE, PASS, source=judge.DRAM_SOURCE, unit="GB/s", step=SLOW)
    held = limit / 1e9 if limit else None
    shares = judge.DRAM_SHARES[backend]
    return judge.against(here, speed / 1e9, held, shares, judge.MOST_DRAM, "the DRAM's bandwidth by formula")


def sweep(context: Context) -> Iterator[Result]:
    """Copies of many volumes and an empty kernel, timed alike: T = a + V / b."""
    import torch

    from ..measure.roofs import empty_kernel

    free, _ = torch.cuda.mem_get_info()
    volumes = [volume for volume in VOLUMES if volume <= free // 4]
    source = torch.randn(volumes[-1] // 8, device="cuda")
    target = torch.empty_like(source)

    def copy_of(volume: int) -> Callable[[], Any]:
        here, there = source[: volume // 8], target[: volume // 8]
        return lambda: there.copy_(here)

    calls = [lambda: empty_kernel[(1,)](), *(copy_of(volume) for volume in volumes)]
    empty, *spreads = on_stream(lambda: timing.by_events(calls, timing.Clearing(), rounds=1))
    seconds = [spread.median for spread in spreads]
    yield swept(volumes, seconds, empty.median)


def swept(volumes: list[int], seconds: list[float], empty: float) -> Result:
    """The fit of a sweep, held against the empty launch and the largest copy."""
    a, b = judge.fit(volumes, seconds)
    here = Result("sweep", "Copies of many sizes: T = a + V / b", STAGE, PASS)
    found = judge.agreement(here, a, b, empty, volumes[-1] / seconds[-1])
    series = {"bytes": tuple(map(float, volumes)), "seconds": tuple(seconds), "fit": (a, b), "empty": (empty,)}
    return replace(found, series=series)


def on_stream(call: Callable[[], Any]) -> Any:
    """Calls on a stream of its own."""
    import torch

    with torch.cuda.stream(torch.cuda.Stream()):
        return call()


class Watched:
    """Samples of the card's state while something runs: `with Watched(uuid) as watched: ...; watched.samples`."""

    def __init__(self, uuid: str | None, period: float = 0.02) -> None:
        self.samples: list[tuple[float, State]] = []
        self._uuid, self._period = uuid, period
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Watched:
        self._started = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.is_set():
            self.samples.append((time.monotonic() - self._started, state(self._uuid)))
            self._ended.wait(self._period)

    def clock(self) -> float | None:
        """The mean clock of the multiprocessors after the first fifth, hertz."""
        clocks = [one.sm_clock for _, one in self.samples[len(self.samples) // 5 :] if one.sm_clock]
        return sum(clocks) / len(clocks) if clocks else None


def matmul(context: Context) -> Iterator[Result]:
    """cuBLAS in bfloat16, the better of two sizes, against the tensor cores at the clock seen meanwhile; then Triton's."""
    import torch

    gpu = context.gpu
    rates = {}
    for size in MATMUL_SIZES:
        a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        out = torch.empty_like(a)
        rates[size] = sustained_rate(lambda a=a, b=b, out=out: torch.mm(a, b, out=out), 2 * size**3, gpu.uuid)
    best = max(rates, key=lambda size: rates[size][0])
    rate, clock = rates[best]
    yield matmul_result(gpu, rate, clock, best, mig=context.mig)
    yield from tritons_matmul(rates[MATMUL_SIZES[0]][0])


def sustained_rate(call: Callable[[], Any], operations: float, uuid: str | None) -> tuple[float, float | None]:
    """Operations a second of calls in a row, and the clock meanwhile."""
    batch_seconds(call, 2)  # a first call sets the library up, or compiles
    count = max(int(MATMUL_SECONDS / batch_seconds(call, 5)), 3)
    with Watched(uuid) as watched:
        seconds = batch_seconds(call, count)
    return operations / seconds, watched.clock()


def matmul_result(gpu: Gpu, rate: float, clock: float | None, size: int, *, mig: bool = False) -> Result:
    """Operations a second against tensor rate x multiprocessors x clock."""
    per_clock = facts.tensor_rate(gpu)
    known = per_clock and clock and gpu.multiprocessors and not mig
    limit = per_clock * gpu.multiprocessors * clock / 1e12 if known else None
    here = Result("matmul", "Matmul, cuBLAS bfloat16", STAGE, PASS, source=judge.MATMUL_SOURCE, unit="TFLOP/s", step=SLOW)
    what = f"the dense roof at {clock / 1e6:,.0f} MHz" if clock else "the clock"
    found = judge.against(here, rate / 1e12, limit, judge.MATMUL_SHARES, judge.MOST_MATMUL, what)
    return replace(found, notes=(f"{size} x {size} x {size}",))


def tritons_matmul(theirs: float) -> Iterator[Result]:
    """Triton's matmul against cuBLAS's: slow is Triton's affair, never the card's."""
    import torch

    here = Result(
        "triton matmul",
        "Matmul, Triton against cuBLAS",
        STAGE,
        PASS,
        limit=f"at least {judge.TRITON_SHARE:.0%}",
        source="a rule of this project",
    )
    size = MATMUL_SIZES[0]
    try:
        from ..matmul_relu import matmul_relu
    except Exception:
        yield replace(here, status=NOT_MEASURED, said="this kernel is for a newer Triton")
        return
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    ours = sustained_rate(lambda: matmul_relu(a, b), 2 * size**3, None)[0]
    yield against_cublas(here, ours, theirs)


def against_cublas(here: Result, ours: float, theirs: float) -> Result:
    """A warning where Triton's matmul is far behind."""
    share = ours / theirs
    said = f"{ours / 1e12:,.0f} TFLOP/s, {share:.0%} of {theirs / 1e12:,.0f}"
    found = replace(here, said=said, value=100 * share, unit="% of cuBLAS", threshold=100 * judge.TRITON_SHARE)
    if share < judge.TRITON_SHARE:
        return replace(found, status=WARN, step="The card is not at fault; a newer Triton may know it better.")
    return found
