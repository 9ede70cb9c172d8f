"""Measured figures held against limits. Pure: planted figures can be judged as measured ones are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .values import FAIL, NOT_MEASURED, PASS, WARN, Result

LAUNCH_PASSES, LAUNCH_WARNS = 15e-6, 50e-6
DRAM_SHARES = {"cuda": (0.80, 0.60), "hip": (0.65, 0.50)}
DRAM_SOURCE = "memory clock and bus width from the driver; 83-96 % reached on V100 to L40 (RRZE gpu-benches)"
MATMUL_SHARES = (0.70, 0.50)
MATMUL_SOURCE = "tensor rate x SMs x the clock seen meanwhile; 73-87 % of nominal reached (mamf-finder)"
TRITON_SHARE = 0.60
LINK_SHARES = (0.75, 0.60)
LINK_SOURCE = "PCIe generation and width seen during the copy; fleets ask for 64-87 % (Azure)"
NVLINK_SHARES = (0.70, 0.50)
NEAR_FIT, NEAR_LAUNCH = 0.15, 5e-6
# A copy cannot beat the DRAM; a clock is sampled, and moves between samples.
MOST_DRAM, MOST_MATMUL, MOST_LINK = 1.02, 1.05, 1.02


def against(result: Result, value: float, limit: float | None, shares: tuple[float, float], most: float, what: str) -> Result:
    """A speed held against a limit in the same unit: PASS and WARN from these shares of it on, more than `most` is not valid.

    Without a limit it is not measured against anything, and says so.
    """
    if limit is None or limit <= 0:
        said = f"{value:,.4g} {result.unit}; its limit ({what}) is not known here"
        return replace(result, status=NOT_MEASURED, said=said, value=value, step="")
    passes, warns = shares
    share = value / limit
    said = f"{value:,.4g} {result.unit}, {share:.0%} of {limit:,.4g}"
    held = f"at least {passes:.0%} of {what}, {limit:,.4g} {result.unit}; under {warns:.0%} fails; over {most:.0%} is not valid"
    here = replace(result, said=said, value=value, limit=held, threshold=passes * limit)
    if share > most:
        step = "More than is possible: a cache was hit, bytes were not moved, or the driver tells a wrong clock or width."
        return replace(here, status=FAIL, said=f"{said}: not valid", step=step)
    return replace(
        here, status=PASS if share >= passes else WARN if share >= warns else FAIL, step=here.step if share < passes else ""
    )


def launch_time(result: Result, seconds: float) -> Result:
    """What the CPU takes to launch an empty kernel."""
    status = PASS if seconds < LAUNCH_PASSES else WARN if seconds <= LAUNCH_WARNS else FAIL
    step = "The processor is slow or busy: see its governor, other processes, and a profiler or debugger in the environment."
    here = replace(result, value=1e6 * seconds, unit="us", threshold=1e6 * LAUNCH_PASSES, higher=False)
    limit = f"under {LAUNCH_PASSES * 1e6:.0f} us; over {LAUNCH_WARNS * 1e6:.0f} fails"
    source = "6-9 us by clpeak, about 10 by Modal's glossary"
    return replace(here, status=status, limit=limit, source=source, step="" if status == PASS else step)


def fit(volumes: Sequence[float], seconds: Sequence[float]) -> tuple[float, float]:
    """a and b of T = a + V / b by least squares of relative errors, so that small volumes count as much as large ones."""
    weights = [1 / time**2 for time in seconds]
    total = sum(weights)
    mean_v = sum(weight * volume for weight, volume in zip(weights, volumes, strict=True)) / total
    mean_t = sum(weight * time for weight, time in zip(weights, seconds, strict=True)) / total
    pairs = list(zip(weights, volumes, seconds, strict=True))
    slope = sum(w * (v - mean_v) * (t - mean_t) for w, v, t in pairs) / sum(w * (v - mean_v) ** 2 for w, v, _ in pairs)
    return mean_t - slope * mean_v, 1 / slope if slope else float("inf")


def agreement(result: Result, a: float, b: float, launch: float, copy: float) -> Result:
    """a of the fit is the empty launch's time, and b the copy's speed, both measured the same way."""
    apart = b / copy - 1
    said = f"a = {a * 1e6:.1f} us (empty launch {launch * 1e6:.1f}), b = {b / 1e9:,.0f} GB/s (copy {copy / 1e9:,.0f})"
    limit = f"b within {NEAR_FIT:.0%} of the copy, a within {NEAR_LAUNCH * 1e6:.0f} us of the empty launch"
    here = replace(
        result,
        said=said,
        limit=limit,
        source="two ways to one figure",
        value=100 * abs(apart),
        unit="% apart",
        threshold=100 * NEAR_FIT,
        higher=False,
    )
    if abs(apart) <= NEAR_FIT and abs(a - launch) <= NEAR_LAUNCH:
        return replace(here, status=PASS)
    step = "Times do not follow T = a + V / b: something else used the GPU, or its clock moved. Run the check again."
    return replace(here, status=WARN, step=step)


def link_limit(link: tuple[int, int] | None) -> float | None:
    """GB/s in one direction of a PCIe link of that generation and width."""
    from .nvml import LANE

    return LANE[link[0]] * link[1] if link and link[0] in LANE else None


def link(result: Result, now: tuple[int, int] | None, best: tuple[int, int] | None) -> Result:
    """The PCIe link under load is the best that card and slot allow."""
    if now is None or best is None:
        return replace(result, status=NOT_MEASURED, said="the link is not told here")
    said = f"generation {now[0]} x{now[1]} under load"
    here = replace(result, said=said, limit=f"generation {best[0]} x{best[1]}, the best of card and slot")
    if now[0] < best[0] or now[1] < best[1]:
        step = "Seat the card anew, try another slot or riser, and see the slot's setting in the firmware."
        return replace(here, status=WARN, step=step)
    return replace(here, status=PASS)
