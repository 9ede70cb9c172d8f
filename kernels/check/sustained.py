"""A load for a while: does the card keep its clock, why not, and is it still whole afterwards."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..measure.records import State
from ..measure.timing import batch_seconds
from . import nvml
from .failures import known
from .physics import MATMUL_SIZES, Watched
from .values import FAIL, NOT_MEASURED, PASS, WARN, Result
from .worker import Context

STAGE = "sustained"
SECONDS = 15.0
PERIOD = 0.1
CHUNK_SECONDS = 0.25
KEEPS, WARNS = 0.90, 0.80
LAST = 3.0
MARGIN = 10
NEAR_LIMIT = 0.70
HARD = ("hardware slowdown", "hardware thermal limit", "power brake")
SOFT = ("software thermal limit",)
BOUND_TO = "A card under dense matmul is held by its power limit: that is its design."


@dataclass(frozen=True)
class Load:
    """What was seen: samples of the card's state, (time, operations a second); watts, degrees, counters before and after."""

    samples: tuple[tuple[float, State], ...]
    rates: tuple[tuple[float, float], ...]
    power_limit: float | None = None
    margin: int | None = None
    uncorrected: tuple[int | None, int | None] = (None, None)
    replays: tuple[int | None, int | None] = (None, None)


def load(context: Context) -> Iterator[Result]:
    """Matmul in bfloat16 for 15 seconds, the card's state read ten times a second."""
    import torch

    gpu = context.gpu
    module, _ = nvml.opened()
    card = nvml.card(module, gpu.uuid, gpu.index) if module and gpu.target.backend == "cuda" else None
    size = MATMUL_SIZES[-1]
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out = torch.empty_like(a)
    before = (card.uncorrected(), card.replays()) if card else (None, None)
    batch_seconds(lambda: torch.mm(a, b, out=out), 2)  # sets the library up
    count = max(int(CHUNK_SECONDS / batch_seconds(lambda: torch.mm(a, b, out=out), 3)), 1)
    rates, margins = [], []
    started = time.monotonic()
    with Watched(gpu.uuid, PERIOD) as watched:
        while (now := time.monotonic() - started) < SECONDS:
            rates.append((now, 2 * size**3 / batch_seconds(lambda: torch.mm(a, b, out=out), count)))
            margins.append(card.margin() if card else None)
    after = (card.uncorrected(), card.replays()) if card else (None, None)
    told = [margin for margin in margins if margin is not None]
    limit = card.power_limits() if card else None
    alive = float(torch.ones(1000, device="cuda").sum()) == 1000.0
    found = Load(
        tuple(watched.samples),
        tuple(rates),
        limit[0] if limit else None,
        min(told, default=None),
        (before[0], after[0]),
        (before[1], after[1]),
    )
    yield from judged(found, alive=alive)


def judged(found: Load, *, alive: bool = True) -> Iterator[Result]:
    """All results of a load."""
    reasons = reasons_of(found.samples)
    yield rate_kept(found, reasons)
    yield clock_kept(found, reasons)
    yield held_back(found.samples)
    yield temperature(found)
    yield power(found)
    yield after(found, alive=alive)


def reasons_of(samples: Sequence[tuple[float, State]]) -> tuple[str, ...]:
    """Why the card was held back at any time, by bits: several reasons at once are all seen."""
    return tuple(sorted({reason for _, one in samples for reason in one.throttled}))


def series(found: Load) -> dict[str, tuple[float, ...]]:
    """The samples as columns; a column is left out where a sample lacks it."""
    columns = {"time": [when for when, _ in found.samples]}
    for name, scale in (("sm_clock", 1e-6), ("power", 1.0), ("temperature", 1.0)):
        values = [getattr(one, name) for _, one in found.samples]
        if values and all(value is not None for value in values):
            columns[name] = [value * scale for value in values]
    columns["held"] = [float(bool(set(one.throttled) & {*HARD, *SOFT})) for _, one in found.samples]
    columns["power held"] = [float("power limit" in one.throttled) for _, one in found.samples]
    columns["rate time"], columns["rate"] = [when for when, _ in found.rates], [rate / 1e12 for _, rate in found.rates]
    return {name: tuple(values) for name, values in columns.items()}


def kept(pairs: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """(mean of the last three seconds, mean of the best whole second) of (time, value); None with too few."""
    if len(pairs) < 4:
        return None
    end = pairs[-1][0]
    last = [value for when, value in pairs if when > end - LAST]
    seconds: dict[int, list[float]] = {}
    for when, value in pairs:
        seconds.setdefault(int(when), []).append(value)
    # The last second is one in part: an H200 at rest between two samples went back to 1,965 MHz, which was "best" then.
    whole = [values for second, values in seconds.items() if second < int(end)] or list(seconds.values())
    return sum(last) / len(last), max(sum(values) / len(values) for values in whole)


def rate_kept(found: Load, reasons: Sequence[str]) -> Result:
    """The speed at the end against the best second."""
    here = Result(
        "sustained rate",
        "Speed kept",
        STAGE,
        PASS,
        source="mean of the last 3 s against the best second",
        unit="TFLOP/s",
        series=series(found),
    )
    pair = kept(found.rates)
    if pair is None:
        return replace(here, status=NOT_MEASURED, said="too few samples")
    return _kept(here, pair[0] / 1e12, pair[1] / 1e12, reasons, found)


def clock_kept(found: Load, reasons: Sequence[str]) -> Result:
    """The clock at the end against the best second."""
    here = Result(
        "clock kept", "Clock kept", STAGE, PASS, source="mean of the last 3 s against the best second, NVML", unit="MHz"
    )
    pair = kept([(when, one.sm_clock) for when, one in found.samples if one.sm_clock])
    if pair is None:
        return replace(here, status=NOT_MEASURED, said="the clock is not told here")
    return _kept(here, pair[0] / 1e6, pair[1] / 1e6, reasons, found)


def _kept(here: Result, last: float, best: float, reasons: Sequence[str], found: Load) -> Result:
    """By how much is kept; a step milder where the power limit alone is the reason."""
    part = last / best
    said = f"{last:,.4g} {here.unit} at the end, {part:.0%} of the best second"
    if tuple(reasons) == ("power limit",):
        passes, worse = WARNS, WARN
        limit = f"at least {WARNS:.0%}, as the power limit alone holds the card back; {KEEPS:.0%} otherwise"
    else:
        passes, worse = KEEPS, WARN if part >= WARNS else FAIL
        limit = f"at least {KEEPS:.0%}; under {WARNS:.0%} fails"
    status = PASS if part >= passes else worse
    step = "" if part >= KEEPS else why(reasons, found)
    return replace(here, status=status, said=said, limit=limit, value=last, threshold=passes * best, step=step)


def why(reasons: Sequence[str], found: Load) -> str:
    """The story behind a loss of speed, in one sentence."""
    powers = [one.power for _, one in found.samples if one.power]
    near = bool(powers and found.power_limit and max(powers) >= NEAR_LIMIT * found.power_limit)
    if tuple(reasons) == ("power limit",):
        return BOUND_TO
    if reasons:
        return f"Held back by {', '.join(reasons)}: see airflow, dust, fans and the power supply."
    if near:
        return "Power is near its limit, and the driver names no reason: the clock follows power and temperature."
    return "Neither power nor temperature: see what else runs, and the software."


def held_back(samples: Sequence[tuple[float, State]]) -> Result:
    """No reason that points at heat or a power supply."""
    here = Result(
        "reasons",
        "Held back by",
        STAGE,
        PASS,
        limit="power limit only",
        source="NVML's clock event reasons, by bits",
        origin="read",
    )
    if not any(one.sm_clock or one.throttled or one.power for _, one in samples):
        return replace(here, status=NOT_MEASURED, said="NVML does not tell here")
    reasons = reasons_of(samples)
    said = ", ".join(reasons) or "nothing"
    if set(reasons) & set(HARD):
        step = "The card protects itself: see cooling, power cables and the power supply."
        return replace(here, status=FAIL, said=said, step=step)
    if set(reasons) & set(SOFT):
        return replace(here, status=WARN, said=said, step="It is warm: see airflow, dust and fans.")
    return replace(here, said=said)


def temperature(found: Load) -> Result:
    """Degrees left up to where the card slows itself down."""
    here = Result(
        "temperature",
        "Temperature margin",
        STAGE,
        PASS,
        limit=f"at least {MARGIN} °C below slow-down",
        source="NVML",
        unit="°C",
        threshold=float(MARGIN),
    )
    hottest = max((one.temperature for _, one in found.samples if one.temperature), default=None)
    if found.margin is None:
        said = f"at most {hottest:.0f} °C; the threshold is not told" if hottest else "not told here"
        return replace(here, status=NOT_MEASURED, said=said)
    status = PASS if found.margin >= MARGIN else WARN if found.margin > 0 else FAIL
    said = f"{found.margin} °C left" + (f", {hottest:.0f} °C at most" if hottest else "")
    step = "" if status == PASS else "See airflow, dust, fans and the room's temperature."
    return replace(here, status=status, said=said, value=float(found.margin), step=step)


def power(found: Load) -> Result:
    """The load was one: the card drew what a load draws."""
    here = Result("power", "Power under load", STAGE, PASS, source="NVML", unit="W")
    powers = [one.power for _, one in found.samples if one.power]
    if not powers or not found.power_limit:
        return replace(here, status=NOT_MEASURED, said=f"at most {max(powers):,.0f} W" if powers else "not told here")
    most, limit = max(powers), found.power_limit
    said = f"at most {most:,.0f} W, {most / limit:.0%} of the limit"
    here = replace(
        here,
        said=said,
        value=most,
        threshold=NEAR_LIMIT * limit,
        limit=f"at least {NEAR_LIMIT:.0%} of {limit:,.0f} W under dense matmul",
    )
    if most < NEAR_LIMIT * limit:
        return replace(
            here, status=WARN, step="A full load draws more: the software, or a clock set low, keeps the card from working."
        )
    return here


def after(found: Load, *, alive: bool) -> Result:
    """The card still answers, and counted no new errors."""
    here = Result(
        "after", "After the load", STAGE, PASS, limit="answers; no new errors", source="NVML counters before and after"
    )
    if not alive:
        return replace(here, status=FAIL, said="a sum on the GPU is wrong", step=known("ecc").fix)
    errors, replays = (None if None in pair else pair[1] - pair[0] for pair in (found.uncorrected, found.replays))
    shown = ["?" if number is None else str(number) for number in (errors, replays)]
    said = f"answers; {shown[0]} new memory errors, {shown[1]} PCIe replays"
    if errors:
        return replace(here, status=FAIL, said=said, step=known("ecc").fix)
    if replays:
        return replace(
            here, status=WARN, said=said, step="The PCIe link repeats packets: seat the card anew, try another slot or riser."
        )
    return replace(here, said=said)
