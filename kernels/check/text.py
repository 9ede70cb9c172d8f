"""A report as text: a table for a terminal, and markdown to paste into an issue, which names no person and no machine."""

from __future__ import annotations

import getpass
import re
import socket
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from .values import NOT_MEASURED, PASS, STAGES, Card, Report, Result, verdict, worst

MARKS = {"PASS": "PASS", "WARN": "WARN", "FAIL": "FAIL", "NOT MEASURED": "  – "}
COLOURS = {"PASS": "32", "WARN": "33", "FAIL": "31;1", "NOT MEASURED": "2"}
WIDTH = 38


def row(result: Result, *, colour: bool = False, where: str = "") -> str:
    """One result in a line."""
    mark = f"\x1b[{COLOURS[result.status]}m{MARKS[result.status]}\x1b[0m" if colour else MARKS[result.status]
    title = f"{where}{result.title}"
    return f"{mark}  {title:{WIDTH}}  {result.said}"


def terminal(report: Report, *, colour: bool = False, width: int = 110) -> str:
    """The verdict, what to do, the table with its limits, the cards' facts."""
    lines = [verdict(report).replace("**", ""), f"{_about(report)}"]
    lines += [f"  {line}" for line in steps(report)]
    lines += [f"  {line}" for line in unseen(report)]
    for stage, results in by_stage(report):
        lines += ["", f"{stage}: {STAGES[stage]}"]
        lines += _stage(report, results, colour=colour, width=width)
        lines += [f"        {line}" for one in results for line in matrix(one)]
    lines += _cards(report)
    return "\n".join(lines)


def matrix(one: Result) -> list[str]:
    """The copies between cards as lines, from the card of a row to that of a column; nothing for other results."""
    if "speeds" not in one.series:
        return []
    count = int(one.series["count"][0])
    lines = ["GB/s from \\ to" + "".join(f"{f'GPU {number}':>9}" for number in range(count))]
    for row in range(count):
        speeds = one.series["speeds"][row * count : (row + 1) * count]
        cells = "".join(f"{'-' if column == row else f'{speed:,.0f}':>9}" for column, speed in enumerate(speeds))
        lines.append(f"{f'GPU {row}':14}{cells}")
    return lines


OWN = ("UUID", "PCI")  # facts that no two cards share


def _cards(report: Report) -> Iterator[str]:
    """The facts of every model once, and what names each of its cards."""
    for name in dict.fromkeys(card.name for card in report.cards):
        alike = [card for card in report.cards if card.name == name]
        yield from ("", f"GPU {', '.join(str(card.index) for card in alike)}: {name}")
        yield from (f"  {fact.name:36} {fact.value}  ({fact.source})" for fact in alike[0].facts if fact.name not in OWN)
        for card in alike:
            told = "  ".join(f"{fact.name} {fact.value}" for fact in card.facts if fact.name in OWN)
            yield f"  GPU {card.index:<32} {told}"


def _about(report: Report) -> str:
    versions = ", ".join(f"{name} {value}" for name, value in report.versions.items())
    kind = "quick check" if report.quick else "full check"
    return f"{kind}, {report.seconds:.0f} s, {report.made[:16].replace('T', ' ')} UTC; {versions}"


def steps(report: Report) -> list[str]:
    """What to do as lines."""
    return [f"-> {titles}: {step}" for titles, step, _ in remedies(report)]


def remedies(report: Report) -> list[tuple[str, str, str]]:
    """(checks, what to do, the worst status among them), the worst first; checks with the same remedy are one."""
    wrong = sorted((one for one in report.results if one.status in ("FAIL", "WARN") and one.step), key=lambda one: one.status)
    found: dict[str, list[Result]] = {}
    for one in wrong:
        found.setdefault(one.step, []).append(one)
    return [(_named(report, alike), step, alike[0].status) for step, alike in found.items()]


def _named(report: Report, alike: Sequence[Result]) -> str:
    """The titles, and where there are several cards, which."""
    titles = _some(list(dict.fromkeys(one.title for one in alike)))
    indexes = list(dict.fromkeys(_index(report.cards, one.gpu) for one in alike if one.gpu))
    return f"GPU {', '.join(indexes)}: {titles}" if indexes and len(report.cards) > 1 else titles


def _some(titles: Sequence[str], most: int = 3) -> str:
    return ", ".join(titles[:most]) + (f" and {len(titles) - most} more" if len(titles) > most else "")


def unseen(report: Report) -> list[str]:
    """What is said beside the thresholds of a model of which no check ships."""
    names = dict.fromkeys(card.name for card in report.cards if not card.seen)
    return [
        f"No check of this model ships with the explorer, {name}: its thresholds come from formulas and from other cards."
        for name in names
    ]


def by_stage(report: Report) -> Iterator[tuple[str, list[Result]]]:
    """(stage, its results), in the order of the stages, those without results left out."""
    for stage in STAGES:
        found = [one for one in report.results if one.stage == stage]
        if found:
            yield stage, found


def _stage(report: Report, results: Sequence[Result], *, colour: bool, width: int) -> Iterator[str]:
    """One card: a line a result, its limit under it where it is not passed; several: a line a check, then what stands out."""
    for group in grouped(results):
        shown = [one for one in group if one.status not in (PASS, NOT_MEASURED)] if len(group) > 1 else group
        if len(group) > 1:
            yield row(summary_of(group), colour=colour)
        for one in shown:
            where = f"GPU {_index(report.cards, one.gpu)}: " if len(group) > 1 else ""
            yield row(one, colour=colour, where=where)
            if one.limit and (one.threshold or one.status not in (PASS, NOT_MEASURED)):
                yield from textwrap.wrap(
                    f"limit: {one.limit} ({one.source}){_distance(one)}",
                    width,
                    initial_indent=" " * 8,
                    subsequent_indent=" " * 15,
                )


def _distance(one: Result) -> str:
    """How far the value is from the threshold."""
    found = one.distance
    return "" if found is None else f"; {abs(found):.0%} {'on the good side' if found >= 0 else 'short'}"


def grouped(results: Sequence[Result]) -> list[list[Result]]:
    """Results of the same check on several cards together, in order."""
    found: dict[str, list[Result]] = {}
    for one in results:
        found.setdefault(one.check, []).append(one)
    return list(found.values())


def summary_of(group: Sequence[Result]) -> Result:
    """Several cards' results of one check as one line."""
    values = [one.value for one in group if one.value is not None]
    first = group[0]
    said = f"{len(group)} GPUs" + (f": {min(values):,.4g} to {max(values):,.4g} {first.unit}" if values and first.unit else "")
    return replace(first, status=worst([one.status for one in group]), said=said, limit="", source="", step="", gpu="")


def _index(cards: Sequence[Card], key: str) -> str:
    return next((str(card.index) for card in cards if card.key == key), "?")


def markdown(report: Report) -> str:
    """The report to paste into an issue: no host name, user name or path in it, and no UUID."""
    lines = [verdict(report), "", private(_about(report)), ""]
    lines += [f"- {private(line.removeprefix('-> '))}" for line in steps(report)]
    lines += [f"- {line}" for line in unseen(report)]
    several = len(report.cards) > 1
    lines += [
        "",
        f"| |{' GPU |' if several else ''} check | measured | limit | from |",
        "|---|---|---|---|---|" + ("---|" if several else ""),
    ]
    for _, results in by_stage(report):
        for one in results:
            where = f" {_index(report.cards, one.gpu)} |" if several else ""
            cells = " | ".join(_cell(private(text)) for text in (one.title, one.said, one.limit, one.source))
            lines.append(f"| {one.status} |{where} {cells} |")
    for card in report.cards:
        lines += ["", f"**GPU {card.index}: {card.name}**", "", "| fact | value | from |", "|---|---|---|"]
        told = [fact for fact in card.facts if fact.name not in ("UUID",)]
        lines += [f"| {_cell(fact.name)} | {_cell(fact.value)} | {_cell(fact.source)} |" for fact in told]
    lines += [
        "",
        "Made by `python -m kernels check --markdown`; `python -m torch.utils.collect_env` tells more of the machine.",
    ]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def private(text: str) -> str:
    """A text without what names a person or a machine: paths keep their last part, user and host become words."""
    text = re.sub(r"(?<![\w/.])(?:[A-Za-z]:\\|~?/)(?:[\w.+@-]+[/\\])+([\w.+@-]*)", r"…/\1", text)
    text = text.replace(str(Path.home()), "~") if len(str(Path.home())) > 2 else text
    for name, word in (
        (_user(), "<user>"),
        (socket.gethostname(), "<host>"),
        (socket.gethostname().partition(".")[0], "<host>"),
    ):
        if len(name) > 2 and name not in ("root", "localhost"):
            text = re.sub(rf"\b{re.escape(name)}\b", word, text)
    return text


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
