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


def moved_by(timed: Timed, traffic: Traffic) -> int | None:
    """The bytes of an implementation: of every step, or of one fused kernel; None where its steps are not counted."""
    return total(_steps(timed, traffic))


def total(steps: Sequence[Step] | None) -> int | None:
    """The bytes of all steps; None where they are not counted."""
    return None if steps is None else sum(step.moved for step in steps)


def _steps(timed: Timed, traffic: Traffic) -> tuple[Step, ...] | None:
    """The steps: the unfused ones also where torch.compile launches as many kernels, as it does for a matmul."""
    unfused = len(timed.launched) == len(traffic.unfused or ()) > len(traffic.fused)
    return traffic.unfused if timed.way == "pytorch" or (timed.way == "compiled" and unfused) else traffic.fused


def binding(timed: Timed, point: Point, roofs: Roofs) -> Binding | None:
    """What binds an implementation; None where it has no time that can be true or nothing is known of its bytes."""
    traffic = ways.traffic(point.request, point.direction)
    if timed.kernel is None or traffic is None:
        return None
    host = timed.host.median if timed.host else 0.0
    kernel = timed.kernel.median
    seconds = max(kernel, host)
    if seconds <= 0:
        return None
    speed = roofs.copy or roofs.bandwidth
    dtype = compute_dtype(point)
    rate = roofs.operations_measured.get(dtype) or roofs.operations.get(dtype)
    launches, moved = len(timed.launched) or len(_steps(timed, traffic) or ()), moved_by(timed, traffic)
    overhead = max(host - kernel, 0.0) + launches * (roofs.launch or 0.0)
    shares = {
        "memory": moved / speed / seconds if speed and moved is not None else None,
        "compute": traffic.operations / rate / seconds if rate else None,
        "overhead": min(overhead / seconds, 1.0),
    }
    known = {name: share for name, share in shares.items() if share is not None}
    largest = max(known, key=known.__getitem__)
    return Binding(seconds, *(shares[name] for name in BOUNDS), largest if known[largest] > 0.4 else "neither")


def compute_dtype(point: Point) -> str:
    """Whose rate bounds the arithmetic: a matrix product's is that of its dtype, all else is computed in float32."""
    return point.dtype if point.request.description.product else "float32"


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
    if timed.kernel is None:
        return None
    seconds = timed.kernel.median
    if seconds <= 0:
        return (
            "invalid: the clearing of the cache took longer alone than with the call; the kernel is too short for this clock."
        )
    if traffic is None:
        return None
    speed = (moved_by(timed, traffic) or 0) / seconds
    if roofs.bandwidth and speed > roofs.bandwidth:
        size = working_set(point)
        fits = device.l2_bytes is not None and size <= 2 * device.l2_bytes
        l2 = f"L2 holds {device.l2_bytes / 1e6:,.0f} MB of the {size / 1e6:,.0f}" if device.l2_bytes else "the L2 cache"
        why = f"{l2}, and what it keeps is not written to DRAM" if fits else "bytes that the formula counts were not moved"
        return f"invalid: {speed / 1e12:.2f} TB/s is more than the {roofs.bandwidth / 1e12:.2f} TB/s of the DRAM: {why}."
    rate, roof = traffic.operations / seconds, roofs.operations.get(compute_dtype(point))
    if roof and rate > roof:
        return f"invalid: {rate / 1e12:,.0f} TFLOP/s is more than the {roof / 1e12:,.0f} the clock allows."
    return None


def predicted(traffic: Traffic) -> float | None:
    """How much faster the fused kernel is by bytes alone; None where it moves nothing, or PyTorch's bytes are not counted."""
    unfused, fused = total(traffic.unfused), total(traffic.fused)
    return unfused / fused if fused and unfused is not None else None


def ratio(point: Point) -> float | None:
    """How much faster it is as measured; None without both times."""
    theirs, ours = (_median(point.way(name)) for name in ("pytorch", "triton"))
    return theirs / ours if theirs and ours and min(theirs, ours) > 0 else None


def speed_up(point: Point, roofs: Roofs, device: Device) -> float | None:
    """The measured ratio where it says something: of times that can be true, and where launching does not decide."""
    ours = point.way("triton")
    timed = [one for one in (point.way("pytorch"), ours) if one]
    if ours is None or launch_bound(ours, point, roofs) or any(invalid(one, point, roofs, device) for one in timed):
        return None
    return ratio(point)


def _median(timed: Timed | None) -> float | None:
    spread: Spread | None = timed.kernel if timed else None
    return spread.median if spread else None


def speeds(timed: Timed, steps: Sequence[Step]) -> list[tuple[str, float, float]]:
    """(step, its bytes a second, its seconds) of every kernel; nothing unless there are as many kernels as steps."""
    if len(timed.launched) != len(steps):
        return []
    pairs = zip(timed.launched, steps, strict=True)
    return [(step.name, step.moved / kernel.duration, kernel.duration) for kernel, step in pairs if kernel.duration > 0]


def explanation(point: Point, roofs: Roofs) -> list[str]:
    """Why the measured ratio is not the predicted one, from the figures, a sentence each."""
    traffic = ways.traffic(point.request, point.direction)
    theirs, ours = point.way("pytorch"), point.way("triton")
    if traffic is None or theirs is None or ours is None or ratio(point) is None:
        return []
    if launch_bound(ours, point, roofs):
        return ["Launching takes more of the time than moving the bytes, so the ratio of kernel times says little."]
    if traffic.unfused is None:
        return []
    bound = binding(ours, point, roofs)
    if bound and bound.binds == "compute":
        saved = total(traffic.unfused) - total(traffic.fused)
        first = f"Compute binds: the {saved / 1e6:,.0f} MB saved take little of the time, and a matmul's speed decides."
        return [first, *_read_again(theirs, ours, traffic)]
    copy = copy_speed(point)
    steps = [*_unlike_copy(theirs, traffic.unfused, copy, roofs), *_ours(ours, traffic, copy), *_other_kernels(theirs, traffic)]
    return [*steps, *_read_again(theirs, ours, traffic)]


def _read_again(theirs: Timed, ours: Timed, traffic: Traffic) -> list[str]:
    """Where the counters have far more bytes than the formula, which takes the cache to be perfect."""
    ours_of, theirs_of = "the formula's bytes for the fused kernel", "the bytes of PyTorch's steps"
    pairs = ((ours_of, ours, traffic.fused), (theirs_of, theirs, traffic.unfused))
    shares = [(name, counted_share(timed, steps)) for name, timed, steps in pairs]
    far = [f"{share:.1f} times {name}" for name, share in shares if share and share > 1.2]
    return [f"The GPU counted {_listed(far)}: what L2 does not hold is read again."] if far else []


def counted_share(timed: Timed, steps: Sequence[Step]) -> float | None:
    """DRAM bytes by the counters over those of the formula; None where either is missing."""
    formula = sum(step.moved for step in steps)
    return sum(one.read + one.written for one in timed.dram) / formula if timed.dram and formula else None


def copy_speed(point: Point) -> float | None:
    """Bytes a second of the copy beside the implementations, which moves what the fused kernels move; None without one."""
    return point.copy_bytes / point.copy.median if point.copy and point.copy_bytes and point.copy.median > 0 else None


def _unlike_copy(theirs: Timed, steps: Sequence[Step], copy: float | None, roofs: Roofs) -> list[str]:
    """Steps of PyTorch's that are slower than the copy, or faster than DRAM."""
    found = speeds(theirs, steps)
    if not found or not copy:
        return []
    total = sum(seconds for _, _, seconds in found)
    long = [(name, speed) for name, speed, seconds in found if seconds > 0.05 * total]
    slow = [one for one in long if one[1] < 0.85 * copy]
    fast = [one for one in long if roofs.bandwidth and one[1] > roofs.bandwidth]
    said = []
    if slow:
        names = _listed([f"{name} at {speed / 1e12:.1f}" for name, speed in slow])
        said.append(f"PyTorch runs {names} TB/s, below the copy's {copy / 1e12:.1f}: that adds to the gain.")
        said += _stretched([step for step in steps if step.name in dict(slow)])
    if fast:
        names = _listed([name for name, _ in fast])
        said.append(f"{names} found operands in the L2 cache, faster than DRAM could give them: that takes from the gain.")
    return said


def _stretched(slow: Sequence[Step]) -> list[str]:
    """Which of the slow steps broadcast: they read less than they write, or more but less than two tensors of that size."""
    names = [step.name for step in slow if step.read != step.written and step.read < 2 * step.written]
    return [f"Of these {_listed(names)} stretch a small tensor over a large one."] if names else []


def _ours(ours: Timed, traffic: Traffic, copy: float | None) -> list[str]:
    share = moved_by(ours, traffic) / ours.kernel.median / copy if copy else 1.0
    return [f"The fused kernel runs at {share:.0%} of the copy's speed: that takes from the gain."] if share < 0.8 else []


def _other_kernels(theirs: Timed, traffic: Traffic) -> list[str]:
    count, formula = len(theirs.launched), len(traffic.unfused)
    if not count or count == formula:
        return []
    return [f"PyTorch launched {count} kernels, and {formula} were counted: conversions or copies are among them."]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
