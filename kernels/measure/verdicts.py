"""What figures mean: what binds, whether a figure is possible at all, and why a ratio is not the one that bytes predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..operator import Step, Traffic
from . import ways
from .records import Device, Point, Roofs, Spread, Timed

BOUNDS = ("memory", "compute", "overhead")


@dataclass(frozen=True)
class Binding:
    """Shares of the time of one call that each limit alone would need; `binds` is the largest of them, or "neither".

    `seconds` is the time they are shares of: of the GPU, or of the CPU where launching takes longer than running.
    """

    seconds: float
    memory: float | None
    compute: float | None
    overhead: float | None
    binds: str


def moved_by(timed: Timed, traffic: Traffic) -> int:
    """The bytes that the formula has for an implementation: every step's, or those of one fused kernel."""
    return sum(step.moved for step in (traffic.unfused if timed.way == "pytorch" else traffic.fused))


def binding(timed: Timed, point: Point, roofs: Roofs) -> Binding | None:
    """What binds an implementation; None where it has no time or nothing is known of its bytes."""
    traffic = ways.traffic(point.request, point.direction)
    if timed.kernel is None or traffic is None:
        return None
    host = timed.host.median if timed.host else 0.0
    kernel = timed.kernel.median
    seconds = max(kernel, host)
    speed = roofs.copy or roofs.bandwidth
    rate = roofs.operations_measured.get(point.dtype) or roofs.operations.get(point.dtype)
    launches = len(timed.kernels) or 1
    overhead = max(host - kernel, 0.0) + launches * (roofs.launch or 0.0)
    shares = {
        "memory": moved_by(timed, traffic) / speed / seconds if speed else None,
        "compute": traffic.operations / rate / seconds if rate and _tensor_work(point) else None,
        "overhead": min(overhead / seconds, 1.0),
    }
    known = {name: share for name, share in shares.items() if share is not None}
    largest = max(known, key=known.__getitem__)
    return Binding(seconds, *(shares[name] for name in BOUNDS), largest if known[largest] > 0.4 else "neither")


def _tensor_work(point: Point) -> bool:
    """Whether cuBLAS's rate is a roof of this operator: of sums and products over whole matrices."""
    return point.request.description.family == "tiles"


def launch_bound(timed: Timed, point: Point, roofs: Roofs) -> bool:
    """Whether launching takes longer than the work: then a ratio of kernel times says little about a program."""
    found = binding(timed, point, roofs)
    return found is not None and found.binds == "overhead"


def working_set(point: Point) -> int:
    """Bytes of all tensors of the fused launch."""
    wanted = ways.request_of(point.request, point.direction)
    return sum(tensor.nbytes for tensor in wanted.launch().tensors.values())


def invalid(timed: Timed, point: Point, roofs: Roofs, device: Device) -> str | None:
    """Why a figure cannot be true, in a sentence; None where it can."""
    traffic = ways.traffic(point.request, point.direction)
    if timed.kernel is None or traffic is None:
        return None
    seconds = timed.kernel.median
    if seconds <= 0:
        return (
            "invalid: the clearing of the cache took longer alone than with the call; the kernel is too short for this clock."
        )
    speed = moved_by(timed, traffic) / seconds
    if roofs.bandwidth and speed > roofs.bandwidth:
        size = working_set(point)
        fits = device.l2_bytes is not None and size <= 2 * device.l2_bytes
        l2 = f"L2 holds {device.l2_bytes / 1e6:,.0f} MB of the {size / 1e6:,.0f}" if device.l2_bytes else "the L2 cache"
        why = f"{l2}, and what it keeps is not written to DRAM" if fits else "bytes that the formula counts were not moved"
        return f"invalid: {speed / 1e12:.2f} TB/s is more than the {roofs.bandwidth / 1e12:.2f} TB/s of the DRAM: {why}."
    rate, roof = traffic.operations / seconds, roofs.operations.get(point.dtype)
    if roof and _tensor_work(point) and rate > roof:
        return f"invalid: {rate / 1e12:,.0f} TFLOP/s is more than the {roof / 1e12:,.0f} the clock allows."
    return None


def predicted(traffic: Traffic) -> float | None:
    """How much faster the fused kernel is by bytes alone; None where it moves nothing."""
    fused = sum(step.moved for step in traffic.fused)
    return sum(step.moved for step in traffic.unfused) / fused if fused else None


def ratio(point: Point) -> float | None:
    """How much faster it is as measured; None without both times."""
    theirs, ours = (_median(point.way(name)) for name in ("pytorch", "triton"))
    return theirs / ours if theirs and ours else None


def _median(timed: Timed | None) -> float | None:
    spread: Spread | None = timed.kernel if timed else None
    return spread.median if spread else None


def speeds(timed: Timed, steps: Sequence[Step]) -> list[tuple[str, float, float]]:
    """(step, its bytes a second, its seconds) of every kernel; nothing unless there are as many kernels as steps."""
    if len(timed.kernels) != len(steps):
        return []
    pairs = zip(timed.kernels, steps, strict=True)
    return [(step.name, step.moved / kernel.duration, kernel.duration) for kernel, step in pairs if kernel.duration > 0]


def explanation(point: Point, roofs: Roofs) -> list[str]:
    """Why the measured ratio is not the predicted one, from the figures, a sentence each."""
    traffic = ways.traffic(point.request, point.direction)
    theirs, ours = point.way("pytorch"), point.way("triton")
    if traffic is None or theirs is None or ours is None or theirs.kernel is None or ours.kernel is None:
        return []
    if launch_bound(ours, point, roofs):
        return ["Launching takes longer than the work: at this size the ratio of kernel times says little."]
    bound = binding(ours, point, roofs)
    if bound and bound.binds == "compute":
        saved = sum(step.moved for step in traffic.unfused) - sum(step.moved for step in traffic.fused)
        return [f"Compute binds: the {saved / 1e6:,.0f} MB saved take little of the time, and a matmul's speed decides."]
    return [*_unlike_copy(theirs, traffic.unfused, roofs), *_ours(ours, traffic, roofs), *_other_kernels(theirs, traffic)]


def _unlike_copy(theirs: Timed, steps: Sequence[Step], roofs: Roofs) -> list[str]:
    """Steps of PyTorch's that are slower or faster than a copy of as many bytes."""
    found = speeds(theirs, steps)
    if not found or not roofs.copy:
        return []
    total = sum(seconds for _, _, seconds in found)
    long = [(name, speed) for name, speed, seconds in found if seconds > 0.05 * total]
    slow = [one for one in long if one[1] < 0.85 * roofs.copy]
    fast = [one for one in long if roofs.bandwidth and one[1] > roofs.bandwidth]
    said = []
    if slow:
        names = _listed([f"{name} at {speed / 1e12:.1f}" for name, speed in slow])
        said.append(f"PyTorch runs {names} TB/s, below the copy's {roofs.copy / 1e12:.1f}: that adds to the gain.")
    if fast:
        names = _listed([name for name, _ in fast])
        said.append(f"{names} found operands in the L2 cache, faster than DRAM could give them: that takes from the gain.")
    return said


def _ours(ours: Timed, traffic: Traffic, roofs: Roofs) -> list[str]:
    speed = sum(step.moved for step in traffic.fused) / ours.kernel.median
    if roofs.copy and speed < 0.8 * roofs.copy:
        share = speed / roofs.copy
        return [f"The fused kernel runs at {share:.0%} of the copy's speed: that takes from the gain."]
    return []


def _other_kernels(theirs: Timed, traffic: Traffic) -> list[str]:
    count, formula = len(theirs.kernels), len(traffic.unfused)
    if not count or count == formula:
        return []
    return [f"PyTorch launched {count} kernels, and the formula has {formula} steps: conversions or copies are among them."]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
