"""The GPU before and after a measurement, as NVML tells: clocks, temperature, power, why it is held back, who else uses it."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from .records import State

# NVML's clock event reasons that hold a GPU back; being idle, or clocks set by a person, do not (nvml.h).
REASONS = {
    0x04: "power limit",
    0x08: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal limit",
    0x40: "hardware thermal limit",
    0x80: "power brake",
}
FALLING = 0.97


def state(uuid: str | None) -> State:
    """The GPU's state now; nothing in it where NVML is missing or does not tell."""
    try:
        import pynvml

        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByUUID(uuid) if uuid else pynvml.nvmlDeviceGetHandleByIndex(0)
    except Exception:  # a missing package, a missing driver, a driver of another maker: all mean that nothing is told
        return State()

    def told(function: str, *arguments: Any, scale: float = 1.0) -> float | None:
        with contextlib.suppress(Exception):
            return scale * getattr(pynvml, function)(handle, *arguments)
        return None

    reasons = told("nvmlDeviceGetCurrentClocksThrottleReasons")
    return State(
        sm_clock=told("nvmlDeviceGetClockInfo", pynvml.NVML_CLOCK_SM, scale=1e6),
        memory_clock=told("nvmlDeviceGetClockInfo", pynvml.NVML_CLOCK_MEM, scale=1e6),
        temperature=told("nvmlDeviceGetTemperature", pynvml.NVML_TEMPERATURE_GPU),
        power=told("nvmlDeviceGetPowerUsage", scale=1e-3),
        throttled=held_back(int(reasons)) if reasons is not None else (),
        others=_others(pynvml, handle),
    )


def held_back(bits: int) -> tuple[str, ...]:
    """The reasons in a mask of NVML's, in words."""
    return tuple(words for bit, words in REASONS.items() if bits & bit)


def _others(pynvml: Any, handle: Any) -> int | None:
    """Other processes on this GPU. In a container NVML may show our own under another number: one alone is ours."""
    with contextlib.suppress(Exception):
        found = {one.pid for one in pynvml.nvmlDeviceGetComputeRunningProcesses(handle)}
        return max(len(found - {os.getpid()}) - (0 if os.getpid() in found else 1), 0)
    return None


def disturbed(before: State, after: State) -> tuple[str, ...]:
    """What happened to the GPU meanwhile that makes figures doubtful, a sentence each."""
    said = []
    if before.sm_clock and after.sm_clock and after.sm_clock < FALLING * before.sm_clock:
        said.append(f"The clock fell from {before.sm_clock / 1e6:,.0f} to {after.sm_clock / 1e6:,.0f} MHz.")
    reasons = sorted({*before.throttled, *after.throttled})
    if reasons:
        said.append(f"The GPU was held back: {', '.join(reasons)}.")
    if before.others or after.others:
        count = max(before.others or 0, after.others or 0)
        said.append(f"{count} other process{'es' if count > 1 else ''} used the GPU.")
    return tuple(said)
