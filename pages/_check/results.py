"""A report on the page: the verdict, what to do, the figures, and every check with its limit."""

from __future__ import annotations

from collections.abc import Sequence

from kernels.check.text import by_stage, grouped, remedies, summary_of, unseen
from kernels.check.values import FAIL, NOT_MEASURED, PASS, STAGES, WARN, Report, Result, exit_code, verdict, worst
from pages._html import Markup, joined, show
from pages._parts import fact, facts, headline, say
from viz.check import MARKS

SHOWN = (
    ("dram copy", "DRAM copy", "Bytes a second that the GPU's memory gives and takes together in a copy."),
    ("matmul", "matmul", "Operations a second of a large matrix product in bfloat16, by cuBLAS."),
    ("launch time", "empty launch", "What the CPU takes to launch a kernel that does nothing."),
    ("host to gpu", "host to GPU", "Bytes a second from the host's pinned memory to the GPU's."),
    ("sustained rate", "after 15 s", "Operations a second of the matrix product at the end of fifteen seconds."),
)
MOST_REMEDIES = 6
FOLDED = ("bring-up", "health", "truth")
WORDS = {PASS: "passed", WARN: "warned", FAIL: "failed", NOT_MEASURED: "not measured"}


def head(report: Report, *, running: float | None, doing: str = "") -> None:
    """The verdict as the page's sentence; while it runs, how far it is, and what it does."""
    name = report.cards[0].name if len(report.cards) == 1 else f"{len(report.cards)} GPUs" if report.cards else "no GPU"
    if running is not None:
        wrong = report.count(FAIL)
        so_far = f"**{wrong} failed**" if wrong else "nothing failed"
        now = f" Now: {doing}." if doing else ""
        text = f"**Checking**, {running:.0f} s: {len(report.results)} results so far, {so_far}.{now}"
    else:
        text = verdict(report)
    badge = f"{name}, recorded {report.made[:10]}" if report.recorded else name
    headline(text, badge, alive=bool(report.cards) and not report.recorded, title=f"made {report.made}")


def numbers(report: Report) -> None:
    """The speeds that describe a card, of several the worst; beside the name the value from which on it passes."""
    parts = []
    for check, name, meaning in SHOWN:
        found = [one for one in report.results if one.check == check and one.value is not None]
        if found:
            one = (min if found[0].higher else max)(found, key=lambda result: result.value)
            unit = "µs" if one.unit == "us" else one.unit
            held = f", {'≥' if one.higher else '<'} {one.threshold:,.4g} passes" if one.threshold else ""
            tag = "recorded" if report.recorded else "measured"
            parts.append(fact(f"{name}{held}", f"{one.value:,.4g} {unit}", "", tag, meaning))
    if parts:
        show(facts(parts))


def advice(report: Report) -> None:
    """What to do next, the worst first."""
    for titles, step, status in remedies(report)[:MOST_REMEDIES]:
        say(f"**{titles}**: {step}", "fault" if status == FAIL else "refusal")
    for line in unseen(report):
        say(line)


def table(report: Report) -> None:
    """Every check, by stage; where all passed, what was not measured against a figure is folded."""
    stages = joined(_stage(report, stage, results) for stage, results in by_stage(report))
    show(Markup('<div class="checks">{}</div>').format(stages))


def _stage(report: Report, stage: str, results: Sequence[Result]) -> Markup:
    counts = {status: sum(one.status == status for one in results) for status in (FAIL, WARN, PASS, NOT_MEASURED)}
    summary = ", ".join(f"{number} {WORDS[status]}" for status, number in counts.items() if number)
    status = worst([one.status for one in results if one.status != NOT_MEASURED] or [NOT_MEASURED])
    rows = joined(_row(report, one) for group in grouped(results) for one in _shown(group))
    opened = " open" if stage not in FOLDED or counts[FAIL] or counts[WARN] else ""
    layout = Markup(
        '<details{}><summary>{}<b title="{}">{}</b><span class="count">{}</span></summary><div class="rows">{}</div></details>'
    )
    return layout.format(opened, _mark(status), STAGES[stage], stage, summary, rows)


def _shown(group: Sequence[Result]) -> list[Result]:
    """Of several cards: one line for all of them, and each that stands out."""
    if len(group) < 2:
        return list(group)
    return [summary_of(group), *(one for one in group if one.status in (WARN, FAIL))]


def _mark(status: str) -> Markup:
    return Markup('<span class="mark {}" title="{}">{}</span>').format(status.split()[0].lower(), status, MARKS[status])


def _row(report: Report, one: Result) -> Markup:
    index = next((card.index for card in report.cards if card.key == one.gpu), None)
    several = index is not None and len(report.cards) > 1
    where = Markup('<span class="where">GPU {}</span> ').format(index) if several else ""
    limit = f"{one.limit}. From: {one.source}" if one.limit else f"From: {one.source}" if one.source else ""
    told = one.limit and (one.threshold is not None or one.status in (WARN, FAIL))
    held = Markup('<div class="limit">{}</div>').format(limit) if told else ""
    layout = Markup(
        '<div class="check" title="{}">{}<div><span class="name">{}{}:</span> <span class="said">{}</span>{}</div></div>'
    )
    return layout.format(limit, _mark(one.status), where, one.title, one.said, held)


def code(report: Report) -> str:
    """What the command would end with, in words."""
    meaning = {0: "all passed", 1: "a failure", 3: "warnings only", 4: "no GPU could be measured"}
    number = exit_code(report)
    return f"{number} ({meaning[number]})"
