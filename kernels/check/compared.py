"""A card against the others of its machine, and against itself and its model earlier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from .history import recorded
from .values import FAIL, NOT_MEASURED, PASS, WARN, Card, Report, Result

WARNS, FAILS = 0.05, 0.10
# What is judged: figures of the card alone. Copies from and to the host vary with its memory, its processors and the slot.
OF_THE_CARD = ("dram copy", "dram add", "matmul", "sustained rate")
SPEEDS = (*OF_THE_CARD, "host to gpu", "gpu to host")
SPREAD_SOURCE = "Hugging Face gpu-fryer's 10 %, SuperBench's 5 %"


def behind(value: float, best: float, *, higher: bool = True) -> float:
    """How far a value lies behind the best, as a part of the best; 0 where it is ahead."""
    if not best or not value:
        return 0.0
    return max(1 - value / best if higher else 1 - best / value, 0.0)


def judged(part: float) -> str:
    """PASS, or WARN from 5 % on, FAIL from 10 % on."""
    return FAIL if part > FAILS else WARN if part > WARNS else PASS


def cards(known: Sequence[Card], results: Sequence[Result]) -> Iterator[Result]:
    """For every speed, every card against the best card of its model."""
    for check in OF_THE_CARD:
        found = [one for one in results if one.check == check and one.value]
        for card in known:
            mine = next((one for one in found if one.gpu == card.key), None)
            models = {other.key for other in known if other.name == card.name}
            alike = [one for one in found if one.gpu in models]
            if mine is None or len(alike) < 2:
                continue
            best = (max if mine.higher else min)(one.value for one in alike)
            yield _beside(mine, best, f"spread {check}", "several GPUs", "against the best card", SPREAD_SOURCE, card.key)


def order(known: Sequence[Card]) -> Iterator[Result]:
    """Whether CUDA numbers the cards as nvidia-smi does, by their place on the bus; nothing where a place is not told."""
    places = [next((fact.value for fact in card.facts if fact.name == "PCI"), None) for card in known]
    if None in places:
        return
    here = Result(
        "order",
        "CUDA's numbers",
        "several GPUs",
        PASS,
        limit="in the order of the bus, as nvidia-smi",
        source="NVML",
        origin="read",
    )
    if places == sorted(places):
        yield replace(here, said="the same as nvidia-smi's")
        return
    by_place = sorted(range(len(places)), key=places.__getitem__)
    pairs = ", ".join(
        f"{known[place].index} is {number}" for number, place in enumerate(by_place) if known[place].index != number
    )
    step = "export CUDA_DEVICE_ORDER=PCI_BUS_ID gives CUDA nvidia-smi's numbers."
    yield replace(here, status=WARN, said=f"CUDA's GPU {pairs} in nvidia-smi", step=step)


def _beside(mine: Result, best: float, check: str, stage: str, what: str, source: str, gpu: str) -> Result:
    part = behind(mine.value, best, higher=mine.higher)
    status = judged(part)
    said = (
        f"{mine.value:,.4g} {mine.unit}, {part:.1%} behind {best:,.4g}"
        if part > 0.0005
        else f"{mine.value:,.4g} {mine.unit}, the best"
    )
    step = (
        ""
        if status == PASS
        else "Compare both cards' clocks, power limit, temperature and slot; swap them to see whether it is the card."
    )
    limit, title = f"at most {WARNS:.0%} behind; over {FAILS:.0%} fails", f"{mine.title.partition(',')[0]} {what}"
    return Result(check, title, stage, status, said, limit, source, step, gpu, 100 * part, "% behind", higher=False)


def earlier(card: Card, results: Sequence[Result], reports: Sequence[Report]) -> Iterator[Result]:
    """For every speed, the card against its own last report, and against the shipped run of its model."""
    models = [(report, other.key) for report in recorded() for other in report.cards if other.name == card.name]
    yield from _against(card, results, [(report, card.key) for report in reports], "this card", "then")
    for found in _against(card, results, models, "the shipped run of this model", "model"):
        # Another card of the model, under another driver: worth a look, no more.
        yield replace(found, status=WARN) if found.status == FAIL else found
    if not reports and not models:
        said = "this card was not checked here before, and no run of its model ships"
        yield Result("history", "The same card earlier", "history", NOT_MEASURED, said=said, origin="recorded")


def _against(
    card: Card, results: Sequence[Result], earlier: Sequence[tuple[Report, str]], what: str, prefix: str
) -> Iterator[Result]:
    """Every speed against the first of the earlier reports that has it: a quick check measures fewer."""
    for check in OF_THE_CARD:
        mine = next((one for one in results if one.check == check and one.gpu == card.key and one.value), None)
        found = ((report, report.find(check, key)) for report, key in earlier)
        report, then = next(((report, one) for report, one in found if one and one.value), (None, None))
        if mine is None or then is None:
            continue
        when = f"{what} {_ago(report.made)}" if prefix == "then" else what
        beside = _beside(
            mine,
            then.value,
            f"{prefix} {check}",
            "history",
            f"against {when}",
            "SuperBench's 5 %; a report kept or shipped",
            card.key,
        )
        if beside.status != PASS:
            changed = f" The driver then was {report.versions['driver']}." if "driver" in report.versions else ""
            step = f"See whether driver, power limit, cooling or what else runs has changed.{changed}"
            beside = replace(beside, step=step)
        yield beside


def _ago(made: str) -> str:
    try:
        days = (datetime.now(UTC) - datetime.fromisoformat(made)).days
    except (ValueError, TypeError):
        return "earlier"
    return f"{days} day{'' if days == 1 else 's'} ago" if days else "earlier today"
