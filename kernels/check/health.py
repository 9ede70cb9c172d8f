"""A card at rest, as NVML tells: slices, who else uses it, memory errors, repairs, limits that somebody lowered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..runtime.device import Gpu
from . import nvml
from .failures import advice, known, of_nvml
from .values import FAIL, NOT_MEASURED, PASS, WARN, Result

STAGE = "health"
OWN_BYTES = 2**30  # what a driver and a desktop hold without any computation
NOT_TOLD = "this card, its driver or a permission does not tell"
UNKNOWN_NVML = "See what nvidia-smi says: it asks the same library."
RESET = "Reset the GPU (nvidia-smi --gpu-reset) or restart. If it comes again, have the card replaced."


def library(found: tuple[object, nvml.Problem | None]) -> Result:
    """NVML opens; where it does not, its own error code tells what to do."""
    here = Result("nvml", "NVML", "bring-up", PASS, limit="it opens", source="nvmlInit", origin="read")
    problem = found[1]
    if problem is None:
        return replace(here, said="open")
    if not problem.installed:
        step = "pip install nvidia-ml-py: health, clocks, power and links come from it."
        return replace(here, status=NOT_MEASURED, said=problem.said, step=step)
    failure = of_nvml(problem.code)
    step = f"{failure.cause} {failure.fix}" if failure else advice(problem.said) or UNKNOWN_NVML
    return replace(here, status=FAIL, said=problem.said, step=step)


def checks(gpu: Gpu, card: nvml.Card | None) -> Iterator[Result]:
    """The results of one card, in order."""
    if card is None:
        said = "NVML does not show this card" if gpu.target.backend == "cuda" else "read from NVIDIA's cards only"
        yield Result("health", "Health", STAGE, NOT_MEASURED, said=said)
        return
    yield slices(card)
    yield users(card)
    yield memory_size(gpu, card)
    yield uncorrected(card)
    yield repairs(card)
    yield power_limit(card)
    yield application_clock(card)


def slices(card: nvml.Card) -> Result:
    """The card is whole, not cut into MIG slices."""
    here = Result("mig", "Whole card", STAGE, PASS, limit="not in MIG mode", source="NVML", origin="read")
    found = card.mig()
    if found is None:
        return replace(here, said="a card without MIG")
    if found:
        step = "Figures are of the slice: they are not held against the whole card's limits."
        return replace(here, status=WARN, said="in MIG mode: this is a slice", step=step)
    return replace(here, said="not in MIG mode")


def users(card: nvml.Card) -> Result:
    """Nobody else uses the card."""
    here = Result(
        "users",
        "Nobody else on it",
        STAGE,
        PASS,
        limit="no process; under 10 % busy",
        source="NVML; NVIDIA DCGM's 10 %",
        origin="read",
    )
    processes, memory = card.processes(), card.memory()
    rates = card.ask("nvmlDeviceGetUtilizationRates")
    if processes is None and memory is None:
        return replace(here, status=NOT_MEASURED, said=NOT_TOLD)
    used, busy = (memory or {}).get("used", 0), getattr(rates, "gpu", 0) or 0
    said = f"{len(processes or ())} processes, {used / 1e9:,.1f} GB in use, {busy} % busy"
    if processes or busy > 10 or used > OWN_BYTES:
        step = "Speeds below are those of a shared card; end what else runs (nvidia-smi lists it) for the card's own."
        return replace(here, status=WARN, said=said, step=step, value=float(busy), unit="%", threshold=10.0, higher=False)
    return replace(here, said=said)


def memory_size(gpu: Gpu, card: nvml.Card) -> Result:
    """Driver and NVML agree on how much memory there is."""
    here = Result(
        "memory",
        "Memory size",
        STAGE,
        PASS,
        limit="driver and NVML within 10 %",
        source="cuDeviceTotalMem, NVML",
        origin="read",
    )
    found = card.memory()
    if not found or not found["total"] or not gpu.memory_bytes:
        return replace(here, status=NOT_MEASURED, said=f"{NOT_TOLD} (unified memory has no size of its own)")
    told, total = gpu.memory_bytes, found["total"]
    said = f"{told / 1e9:,.1f} GB by the driver, {total / 1e9:,.1f} GB by NVML"
    if card.mig():
        return replace(here, status=NOT_MEASURED, said=f"{said}: a slice")
    near = abs(told / total - 1) <= 0.1
    return replace(
        here,
        status=PASS if near else FAIL,
        said=said,
        step="" if near else "A part of the memory is missing: restart, then ask the maker.",
    )


def uncorrected(card: nvml.Card) -> Result:
    """No memory error that could not be corrected."""
    here = Result(
        "ecc", "Memory errors", STAGE, PASS, limit="none uncorrected", source="NVML, since the driver was loaded", origin="read"
    )
    found, corrected = card.uncorrected(), card.corrected()
    if found is None:
        return replace(here, status=NOT_MEASURED, said=f"{NOT_TOLD} (GeForce cards have no ECC)")
    said = f"{found:,} uncorrected, {corrected or 0:,} corrected"
    if found:
        return replace(here, status=FAIL, said=said, step=known("ecc").fix, value=float(found))
    if corrected:
        return replace(
            here, status=WARN, said=said, step="Corrected errors are harmless; many of them, or growing, mean a failing card."
        )
    return replace(here, said=said, value=0.0)


def repairs(card: nvml.Card) -> Result:
    """No repair of the memory waits for a reset or has failed."""
    here = Result(
        "repairs",
        "Memory repairs",
        STAGE,
        PASS,
        limit="none pending, none failed",
        source="NVML: rows remapped, pages retired",
        origin="read",
    )
    rows, pending = card.ask("nvmlDeviceGetRemappedRows"), card.ask("nvmlDeviceGetRetiredPagesPendingStatus")
    if rows is None and pending is None:
        return replace(here, status=NOT_MEASURED, said=NOT_TOLD)
    corrected, uncorrected_rows, waits, failed = rows or (0, 0, 0, 0)
    said = f"{corrected + uncorrected_rows} rows remapped"
    if failed:
        return replace(here, status=FAIL, said=f"{said}, a repair failed", step="Have the card replaced.")
    if waits or pending:
        return replace(here, status=FAIL, said=f"{said}, one waits for a reset", step=RESET)
    if uncorrected_rows:
        return replace(here, status=WARN, said=said, step="Spare rows took over for bad ones; watch whether the number grows.")
    return replace(here, said=said)


def power_limit(card: nvml.Card) -> Result:
    """The power limit in force is the card's default, or above."""
    here = Result("power limit", "Power limit", STAGE, PASS, limit="the card's default", source="NVML", origin="read", unit="W")
    found = card.power_limits()
    if found is None:
        return replace(here, status=NOT_MEASURED, said=NOT_TOLD)
    now, default = found
    here = replace(here, value=now, threshold=default, limit=f"at least {default:,.0f} W, the default")
    if now < 0.99 * default:
        step = f"Somebody lowered it by {1 - now / default:.0%}: nvidia-smi -pl {default:.0f} as root sets it back."
        return replace(here, status=WARN, said=f"{now:,.0f} W", step=step)
    return replace(here, said=f"{now:,.0f} W")


def application_clock(card: nvml.Card) -> Result:
    """No clock was set below the highest one."""
    here = Result(
        "clock limit", "Clock limit", STAGE, PASS, limit="none set below the highest", source="NVML", origin="read", unit="MHz"
    )
    reasons = card.ask("nvmlDeviceGetCurrentClocksThrottleReasons")
    found = card.clocks()
    if found is None and reasons is None:
        return replace(here, status=NOT_MEASURED, said=NOT_TOLD)
    if reasons is not None and int(reasons) & 0x2:
        said = f"applications are held to {found[0]:,} of {found[1]:,} MHz" if found else "applications are held to a set clock"
        return replace(here, status=WARN, said=said, step="nvidia-smi -rac and nvidia-smi -rgc take set clocks back.")
    return replace(here, said=f"up to {found[1]:,} MHz" if found else "none set", value=float(found[1]) if found else None)
