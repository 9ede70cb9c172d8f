"""Several hosts' reports in one table: a line a card, its speeds, and how far each lies behind the best of its model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .compared import OF_THE_CARD, SPEEDS, behind, judged
from .values import FAIL, NOT_MEASURED, PASS, WARN, Report, Result, worst

SHORT = {
    "dram copy": "copy GB/s",
    "dram add": "add GB/s",
    "matmul": "matmul TFLOP/s",
    "sustained rate": "sustained TFLOP/s",
    "host to gpu": "H2D GB/s",
    "gpu to host": "D2H GB/s",
}


@dataclass(frozen=True)
class Line:
    """One card of one host: its worst status, its failed and warned checks, and its speeds by check."""

    host: str
    index: int
    name: str
    status: str
    wrong: tuple[str, ...]
    speeds: dict[str, float]


def lines(reports: Sequence[tuple[str, Report]]) -> list[Line]:
    """A line for every card, and one for a host without any."""
    found = []
    for host, report in reports:
        machine = [one for one in report.results if not one.gpu]
        if not report.cards:
            found.append(Line(host, -1, "no GPU", FAIL, tuple(one.title for one in machine if one.status == FAIL), {}))
        for card in report.cards:
            mine = [*report.of(card.key), *machine]
            wrong = tuple(dict.fromkeys(one.title for one in mine if one.status in (FAIL, WARN)))
            speeds = {one.check: one.value for one in mine if one.check in SPEEDS and one.value}
            found.append(Line(host, card.index, card.name, _status(mine), wrong, speeds))
    return found


def _status(results: Sequence[Result]) -> str:
    """The worst of what was measured."""
    return worst([one.status for one in results if one.status != NOT_MEASURED] or [NOT_MEASURED])


def table(found: Sequence[Line]) -> str:
    """All cards as text; `!` beside a speed 5 % behind the best of its model, `!!` beside one 10 % behind."""
    best = {
        (line.name, check): max(other.speeds.get(check, 0.0) for other in found if other.name == line.name)
        for line in found
        for check in SPEEDS
    }
    rows = [("host", "GPU", "status", *(SHORT[check] for check in SPEEDS), "failed or warned")]
    for line in found:
        cells = [_cell(line.speeds.get(check), best[line.name, check]) for check in SPEEDS]
        where = f"{line.index} {line.name}" if line.index >= 0 else line.name
        rows.append((line.host, where, line.status, *cells, ", ".join(line.wrong[:3]) + (" …" if len(line.wrong) > 3 else "")))
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def _cell(value: float | None, best: float) -> str:
    if value is None:
        return "-"
    return f"{value:,.4g}{ {PASS: '', WARN: ' !', FAIL: ' !!'}[judged(behind(value, best))] }"


def exit_code(found: Sequence[Line]) -> int:
    """1 where a card failed or lies 10 % behind, 3 for warnings, 4 where no card was measured."""
    if not any(line.speeds for line in found):
        return 4
    statuses = [line.status for line in found]
    for line in found:
        for check, value in line.speeds.items():
            if check not in OF_THE_CARD:
                continue
            alike = [other.speeds.get(check, 0.0) for other in found if other.name == line.name]
            statuses.append(judged(behind(value, max(alike))))
    return {FAIL: 1, WARN: 3}.get(worst(statuses), 0)
