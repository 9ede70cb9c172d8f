"""The limits of a GPU: by its clocks and widths, and measured with PyTorch's copy and cuBLAS."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ..language import triton
from ..runtime.device import Gpu
from .records import Roofs
from .timing import LONG_SETTLING_SECONDS, Clearing, by_events, by_host, captured, replay, warm

# Operations a multiprocessor does in one clock, a multiply-add counted as two. float32: lanes of the CUDA cores (CUDA C++
# Programming Guide, arithmetic instructions, results per clock). 16 bits with a float32 sum: dense tensor cores, from the
# architecture white papers (A100: 1024 multiply-adds, H100: 2048, B200: 4096). Where cards of one architecture differ (8.6,
# 8.9, 12.0: consumer cards do half), nothing is said.
FLOAT32 = {75: 128, 80: 128, 86: 256, 89: 256, 90: 256, 100: 256, 103: 256, 120: 256}
TENSOR = {80: 2048, 90: 4096, 100: 8192, 103: 8192}
MATMUL = {"float32": 4096, "float16": 8192, "bfloat16": 8192}
COPY_BYTES = 2**31


@triton.jit
def empty_kernel():
    pass


def theoretical(gpu: Gpu) -> Roofs:
    """What the driver's clocks and widths give; see the sources above."""
    bandwidth, operations, parts = None, {}, []
    if gpu.memory_clock_hz and gpu.bus_bits:
        bandwidth = 2.0 * gpu.memory_clock_hz * gpu.bus_bits / 8
        parts.append(f"{gpu.memory_clock_hz / 1e6:,.0f} MHz x {gpu.bus_bits:,} bits x 2 / 8 = {bandwidth / 1e12:.2f} TB/s")
    if gpu.clock_hz and gpu.multiprocessors and gpu.target.backend == "cuda":
        clocks = gpu.clock_hz * gpu.multiprocessors
        for table, dtypes in ((FLOAT32, ("float32",)), (TENSOR, ("float16", "bfloat16"))):
            rate = table.get(int(gpu.target.arch))
            if rate:
                operations |= dict.fromkeys(dtypes, float(rate * clocks))
                product = f"{gpu.multiprocessors} SMs x {rate:,} x {gpu.clock_hz / 1e6:,.0f} MHz"
                parts.append(f"{product} = {rate * clocks / 1e12:,.0f} TFLOP/s ({' and '.join(dtypes)})")
    return Roofs(bandwidth=bandwidth, operations=operations, formula="; ".join(parts))


def measured(gpu: Gpu, dtypes: tuple[str, ...]) -> Roofs:
    """The theoretical limits, and beside them copy, cuBLAS and an empty launch, measured now."""
    known = theoretical(gpu)
    clear = Clearing()
    return Roofs(
        bandwidth=known.bandwidth,
        copy=_copy(clear),
        operations=known.operations,
        operations_measured=_matmuls(dtypes, clear),
        launch=_empty_launch(),
        host_launch=by_host(lambda: empty_kernel[(1,)]()).median,
        formula=known.formula,
    )


def copy_call(moved: int) -> tuple[object, int]:
    """A device-to-device copy that reads and writes `moved` bytes together, and what it moves exactly."""
    import torch

    half = max(moved // 2, 1)
    source = torch.empty(half, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return lambda: target.copy_(source), 2 * half


def _copy(clear: Clearing) -> float:
    import torch

    free, _ = torch.cuda.mem_get_info()
    call, moved = copy_call(min(2 * COPY_BYTES, free // 2))
    return moved / by_events([call], clear)[0].median


def _matmuls(dtypes: tuple[str, ...], clear: Clearing) -> Mapping[str, float]:
    import torch

    found = {}
    for dtype in dtypes:
        size = MATMUL[dtype]
        a, b = (torch.randn(size, size, device="cuda", dtype=getattr(torch, dtype)) for _ in range(2))
        out = torch.empty_like(a)
        (time,) = by_events([partial(torch.mm, a, b, out=out)], clear, settling=LONG_SETTLING_SECONDS)
        found[dtype] = 2 * size**3 / time.median
    return found


def _empty_launch(count: int = 100) -> float:
    """Seconds that an empty kernel takes in a graph of many."""
    warm(lambda: empty_kernel[(1,)]())
    graph = captured(lambda: empty_kernel[(1,)](), count)
    return sorted(replay(graph) for _ in range(5))[2] / count
