"""Which kernels a call launches, and when each runs, from torch.profiler."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence

from .records import KernelTime
from .timing import Call, Clearing

CALLS = 5
CLEARING = "FillFunctor<long"  # of all kernels only the clearing's fills int64


def kernels_of(call: Call, clear: Clearing) -> tuple[KernelTime, ...]:
    """The kernels of one call in order, each with medians over a few calls; nothing where the profiler gives nothing."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    call()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as found:
        for _ in range(CALLS):
            clear()
            call()
        torch.cuda.synchronize()
    device = torch.autograd.DeviceType.CUDA
    on_gpu = [one for one in found.events() if one.device_type == device]
    return combined([(one.name, one.time_range.start / 1e6, one.time_range.end / 1e6) for one in on_gpu])


def combined(events: Sequence[tuple[str, float, float]]) -> tuple[KernelTime, ...]:
    """(name, start, end) in seconds of several calls, a clearing before each, as the kernels of one call."""
    calls: list[list[tuple[str, float, float]]] = []
    for event in sorted(events, key=lambda one: one[1]):
        if CLEARING in event[0]:
            calls.append([])
        elif calls:
            calls[-1].append(event)
    calls = [call for call in calls if call]
    if not calls:
        return ()
    length = statistics.mode(len(call) for call in calls)
    alike = [call for call in calls if len(call) == length]
    return tuple(
        KernelTime(
            short_name(alike[0][place][0]),
            statistics.median(call[place][1] - call[0][1] for call in alike),
            statistics.median(call[place][2] - call[place][1] for call in alike),
        )
        for place in range(length)
    )


# PyTorch's elementwise kernels and reductions are a few templates; what they compute stands in the functor's name.
_FUNCTOR = re.compile(r"(\w+?)_?(?:kernel_(?:cuda|impl)|Functor|functor|Ops)\b|CUDAFunctor(?:OnSelf|OnOther)?_(\w+)")
_WRAPPERS = {"Binary", "AUnary", "BUnary", "Fill", "func_wrapper", "gpu", "opmath"}


def short_name(name: str) -> str:
    """A kernel's name without namespaces, types and templates; of PyTorch's templates what they compute."""
    plain = name.replace("(anonymous namespace)::", "").replace("at::native::", "")
    head = re.match(r"[\w:]+", re.sub(r"^void ", "", plain))
    base = (head[0] if head else plain).rpartition("::")[2]
    if "elementwise_kernel" in base or "reduce_kernel" in base:
        named = [first or second for first, second in _FUNCTOR.findall(plain)]
        inner = [one.removesuffix("_kernel") for one in named if one not in _WRAPPERS]
        return f"{'reduce' if 'reduce' in base else 'elementwise'}: {inner[0]}" if inner else base
    return base[:60]
