"""What a check finds: results, the cards they are of, the report with its verdict; with the bounds that hold in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from ..storage import codec
from ..storage.bounds import Amount, Name, Number, Text, Whole, most
from ..storage.codec import UnreadableError
from . import series

SCHEMA = 1
KIND = "triton-explorer check"
PASS, WARN, FAIL, NOT_MEASURED = "PASS", "WARN", "FAIL", "NOT MEASURED"
STATUSES = (FAIL, WARN, NOT_MEASURED, PASS)  # the worst first
STAGES = {
    "bring-up": "driver, torch, Triton, compiler: everything a launch needs",
    "health": "the card as its driver sees it, at rest",
    "truth": "results against float64, bit by bit where that is due",
    "speed": "against what the clocks and widths allow",
    "sustained": "under load for a while",
    "several GPUs": "the cards against each other",
    "history": "the same card, earlier",
}
# Without these a report says nothing of a card.
ESSENTIAL = ("launch", "ragged", "dram copy")
NOT_OF_THE_WORKER = ("health", "history")
# A check of eight cards has some 400 results, a card 14 facts, 15 seconds under load 151 samples.
MOST_CARDS, MOST_RESULTS, MOST_FACTS, MOST_SAMPLES, MOST_FEW = series.MOST_CARDS, 4000, 200, 10_000, 64
Status = Literal["FAIL", "WARN", "NOT MEASURED", "PASS"]
Versions = Annotated[Mapping[Name, Name], most(MOST_FEW)]
Series = Annotated[Mapping[Name, Annotated[tuple[Number, ...], most(MOST_SAMPLES)]], most(MOST_FEW)]


@dataclass(frozen=True)
class Result:
    """One check's finding.

    `said` is what was found, in words; `limit` what it is held against, `source` where the limit comes from, `step` what to do
    next. `value` is in `unit`; `threshold` is the value from which on it passes, `higher` whether more is better. `gpu` is the
    key of a card, empty for the machine. `series` holds samples by name, for plots.
    """

    check: Name
    title: Name
    stage: Name
    status: Status
    said: Text = ""
    limit: Text = ""
    source: Text = ""
    step: Text = ""
    gpu: Name = ""
    value: Number | None = None
    unit: Name = ""
    threshold: Number | None = None
    higher: bool = True
    origin: Name = "measured"
    seconds: Amount = 0.0
    series: Series = field(default_factory=dict)
    notes: Annotated[tuple[Text, ...], most(MOST_FEW)] = ()

    @property
    def distance(self) -> float | None:
        """How far the value is on the good side of its threshold, as a part of the threshold; negative on the other."""
        if self.value is None or not self.threshold:
            return None
        return (self.value / self.threshold - 1) * (1 if self.higher else -1)

    def of(self, gpu: str) -> Result:
        """The same, of that card."""
        return replace(self, gpu=gpu)


@dataclass(frozen=True)
class Fact:
    """One fact about a card, and the formula or place it comes from."""

    name: Name
    value: Text
    source: Text


@dataclass(frozen=True)
class Card:
    """One GPU of a report; `key` is its UUID, or its index where it has none; `seen`: a check of that model ships."""

    key: Name
    index: Whole
    name: Name
    facts: Annotated[tuple[Fact, ...], most(MOST_FACTS)] = ()
    seen: bool = False
    mig: bool = False


@dataclass(frozen=True)
class Report:
    """All results of one machine, made at one time; `complete` unless it was cancelled."""

    made: Name
    cards: Annotated[tuple[Card, ...], most(MOST_CARDS)]
    results: Annotated[tuple[Result, ...], most(MOST_RESULTS)]
    versions: Versions = field(default_factory=dict)
    seconds: Amount = 0.0
    quick: bool = False
    complete: bool = True
    recorded: bool = False
    schema: Whole = SCHEMA
    kind: Literal["triton-explorer check"] = KIND

    def count(self, status: str) -> int:
        """How many results have that status."""
        return sum(result.status == status for result in self.results)

    def of(self, gpu: str) -> tuple[Result, ...]:
        """The results of one card, in order."""
        return tuple(result for result in self.results if result.gpu == gpu)

    def find(self, check: str, gpu: str | None = None) -> Result | None:
        """The first result of that check, of one card where one is named."""
        return next((one for one in self.results if one.check == check and gpu in (None, one.gpu)), None)


def worst(statuses: Sequence[str]) -> str:
    """The worst of some statuses; NOT MEASURED of none."""
    return min(statuses, key=STATUSES.index, default=NOT_MEASURED)


def measured(report: Report) -> bool:
    """Whether anything ran on a GPU, right or wrong."""
    return any(one.gpu and one.status != NOT_MEASURED and one.stage not in NOT_OF_THE_WORKER for one in report.results)


def without(report: Report) -> list[str]:
    """The essential checks that have no result on some card."""
    return [
        name
        for name in ESSENTIAL
        if any((one := report.find(name, card.key)) is None or one.status == NOT_MEASURED for card in report.cards)
    ]


def exit_code(report: Report) -> int:
    """0 all passed, 1 a failure, 3 warnings only or something essential not measured, 4 no GPU could be measured."""
    if not measured(report):
        return 4
    if report.count(FAIL):
        return 1
    return 3 if report.count(WARN) or without(report) or not report.complete else 0


def verdict(report: Report) -> str:
    """The first line: what the whole amounts to, numbers and names between double asterisks."""
    stopped = "" if report.complete else f"**Stopped** after {len(report.results)} results. "
    return stopped + _verdict(report, exit_code(report))


def _verdict(report: Report, code: int) -> str:
    where = _where(report, FAIL if code == 1 else WARN if code == 3 else None)
    if code == 4:
        return f"**No GPU could be measured**: {_why_no_gpu(report)}"
    titles = list(dict.fromkeys(one.title for one in report.results if one.status == (FAIL if code == 1 else WARN)))
    named = f"{', '.join(titles[:3])}{f' and {len(titles) - 3} more' if len(titles) > 3 else ''}"
    if code == 1:
        return f"**Not OK**: {_checks(report.count(FAIL))} failed on {where}: **{named}**."
    if code == 3 and not titles:
        return f"**Not known**: nothing failed on {where}, but {', '.join(without(report)) or 'a part'} was not measured."
    unmeasured = report.count(NOT_MEASURED)
    rest = f" {unmeasured} could not be measured." if unmeasured else ""
    if code == 3:
        number = report.count(WARN)
        return f"**Works, with {number} warning{'' if number == 1 else 's'}** on {where}: {named}.{rest}"
    return f"**OK**: {_checks(report.count(PASS))} passed on {where}.{rest}"


def _checks(number: int) -> str:
    return f"{number} check{'' if number == 1 else 's'}"


def _where(report: Report, status: str | None) -> str:
    """The cards in words; of several, the one that alone has results of that status."""
    names = [card.name for card in report.cards]
    if len(names) < 2:
        return names[0] if names else "this machine"
    every = " and ".join(f"{names.count(name)} × {name}" for name in dict.fromkeys(names))
    wrong = {one.gpu for one in report.results if one.status == status}
    alone = [card.index for card in report.cards if wrong == {card.key}]
    return f"GPU {alone[0]} of {every}" if alone else every


def _why_no_gpu(report: Report) -> str:
    failed = [one for one in report.results if one.status == FAIL and one.stage == "bring-up"]
    failed = failed or [one for one in report.results if one.status == NOT_MEASURED and one.check == "driver"]
    return f"{failed[0].said} ({failed[0].title})." if failed else "none is attached."


def to_json(report: Report) -> str:
    """The report as one JSON object."""
    return codec.encoded(report).decode()


def from_json(content: bytes | str, name: str) -> Report:
    """The report that a file's content describes; raises UnreadableError for anything else."""
    report = codec.record(Report, content, name, "report")
    for at, result in enumerate(report.results):
        problem = series.problem(result.series)
        if problem:
            raise UnreadableError(f"{name}: damaged: $.results[{at}].series: {problem}.")
    return report
