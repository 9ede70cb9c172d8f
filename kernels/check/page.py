"""A report as one HTML page with its plots drawn as SVG: it opens anywhere, needs no network, and can be mailed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from math import log10

from .text import by_stage, matrix, private, steps, unseen
from .values import STAGES, Report, Result, verdict, worst

WIDTH, HEIGHT, LEFT, BOTTOM = 520, 230, 64, 40
COLOURS = {"PASS": "#00785A", "WARN": "#E69F00", "FAIL": "#B94E00", "NOT MEASURED": "#8A94A3"}
TEXT = {"PASS": "#FFFFFF", "WARN": "#1A1A1A", "FAIL": "#FFFFFF", "NOT MEASURED": "#1A1A1A"}
SIGNS = {"PASS": "✓", "WARN": "!", "FAIL": "✕", "NOT MEASURED": "–"}
BLUE, GREY = "#0072B2", "#8A94A3"
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; font-weight: 400; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .15rem .6rem; vertical-align: top;
border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent); } .limit { opacity: .75; font-size: .9rem; }
.status { font-weight: 700; white-space: nowrap; } .plots { display: flex; flex-wrap: wrap; gap: 1.5rem; }
figure { margin: 0; } figcaption { font-weight: 600; } svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
"""


def html(report: Report) -> str:
    """The whole page; like the markdown it names no host, user or path."""
    parts = [f"<!doctype html><html lang='en'><meta charset='utf-8'><title>GPU check</title><style>{STYLE}</style>"]
    parts.append(f"<h1>{_bold(verdict(report))}</h1>")
    versions = ", ".join(f"{name} {value}" for name, value in report.versions.items())
    parts.append(f"<p>{escape(private(f'{report.made}, {report.seconds:.0f} s; {versions}'))}</p>")
    told = [*(line.removeprefix("-> ") for line in steps(report)), *unseen(report)]
    parts.append("".join(f"<p>{escape(private(line))}</p>" for line in told))
    parts.append(f"<div class='plots'>{''.join(_plots(report))}</div>")
    for stage, results in by_stage(report):
        parts.append(f"<h2>{escape(stage)}</h2><p class='limit'>{escape(STAGES[stage])}</p><table>")
        parts += [_row(report, one) for one in results]
        parts.append("</table>")
        parts += [f"<pre>{escape(chr(10).join(matrix(one)))}</pre>" for one in results if "speeds" in one.series]
    for card in report.cards:
        rows = "".join(
            f"<tr><td>{escape(fact.name)}</td><td>{escape(fact.value)}</td><td class='limit'>{escape(fact.source)}</td></tr>"
            for fact in card.facts
            if fact.name != "UUID"
        )
        parts.append(f"<h2>GPU {card.index}: {escape(card.name)}</h2><table>{rows}</table>")
    return "\n".join(parts) + "</html>\n"


def _bold(text: str) -> str:
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(private(text)))


def _row(report: Report, one: Result) -> str:
    index = next((f"GPU {card.index}: " for card in report.cards if card.key == one.gpu and len(report.cards) > 1), "")
    limit = f"{one.limit}; {one.source}" if one.limit else one.source
    texts = [escape(private(text)) for text in (index + one.title, one.said, limit)]
    cells = f"<td>{texts[0]}</td><td>{texts[1]}</td><td class='limit'>{texts[2]}</td>"
    return f"<tr><td class='status' style='color:{COLOURS[one.status]}'>{one.status}</td>{cells}</tr>"


def _plots(report: Report) -> list[str]:
    found = [heat_map(report)] if len(report.cards) > 1 else []
    for card in report.cards:
        name = f"GPU {card.index}: " if len(report.cards) > 1 else ""
        if (one := report.find("sweep", card.key)) and "fit" in one.series:
            found.append(_sweep(one, name))
        if (one := report.find("sustained rate", card.key)) and len(one.series.get("rate", ())) > 1:
            found.append(_over_time(one, "rate time", "rate", f"{name}TFLOP/s of matmul over time"))
            for column, title in (("sm_clock", "clock, MHz"), ("power", "power, W"), ("temperature", "temperature, °C")):
                if len(one.series.get(column, ())) > 1:
                    found.append(_over_time(one, "time", column, f"{name}{title}"))
    return found


def _sweep(one: Result, name: str) -> str:
    volumes, seconds = one.series["bytes"], one.series["seconds"]
    a, b = one.series["fit"]
    xs, ys = [log10(volume) for volume in volumes], [log10(time) for time in seconds]
    line = [log10(max(a + volume / b, 1e-9)) for volume in volumes]
    ends = _Ends(*(f"{volume / 1e6:,.4g} MB" for volume in (volumes[0], volumes[-1])))
    title = f"{name}T = a + V / b, logarithmic: a = {a * 1e6:.1f} µs, b = {b / 1e9:,.0f} GB/s"
    low, high = min(*ys, *line), max(*ys, *line)
    ends = replace(ends, low=f"{10**low * 1e6:,.3g} µs", high=f"{10**high * 1e6:,.3g} µs")
    return _plot(xs, [(line, GREY, False), (ys, BLUE, True)], title, (low, high), ends)


def _over_time(one: Result, times: str, column: str, title: str) -> str:
    xs, ys = one.series[times], one.series[column]
    high = max(ys) * 1.05 or 1.0
    ends = _Ends(f"{xs[0]:.0f} s", f"{xs[-1]:.0f} s", "0", f"{high:,.4g}")
    return _plot(xs, [(ys, BLUE, False)], title, (0.0, high), ends)


@dataclass(frozen=True)
class _Ends:
    """What is written at the ends of both axes."""

    left: str
    right: str
    low: str = ""
    high: str = ""


def _plot(
    xs: Sequence[float],
    lines: Sequence[tuple[Sequence[float], str, bool]],
    title: str,
    span: tuple[float, float],
    ends: _Ends,
) -> str:
    """Lines, or points, over xs."""
    width, height = (xs[-1] - xs[0]) or 1.0, (span[1] - span[0]) or 1.0
    base = HEIGHT - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + (x - xs[0]) / width * (WIDTH - LEFT - 10), base - (y - span[0]) / height * (base - 10)

    drawn = []
    for values, colour, points in lines:
        places = [place(x, y) for x, y in zip(xs, values, strict=False)]
        if points:
            drawn += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='4' fill='{colour}'/>" for x, y in places]
        else:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            drawn.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2'/>")
    axes = f"<path d='M{LEFT} 10V{base}H{WIDTH - 10}' fill='none' stroke='{GREY}'/>"
    corners = [(LEFT - 6, base, "end", ends.low), (LEFT - 6, 18, "end", ends.high)]
    corners += [(LEFT, base + 18, "start", ends.left), (WIDTH - 10, base + 18, "end", ends.right)]
    words = "".join(f"<text x='{x}' y='{y}' text-anchor='{anchor}'>{escape(text)}</text>" for x, y, anchor, text in corners)
    return (
        f"<figure><figcaption>{escape(title)}</figcaption><svg width='{WIDTH}' height='{HEIGHT}' "
        f"viewBox='0 0 {WIDTH} {HEIGHT}' role='img'>{axes}{''.join(drawn)}{words}</svg></figure>"
    )


def heat_map(report: Report) -> str:
    """Checks down, cards across, a cell in the colour and with the sign of its status."""
    checks = list(dict.fromkeys(one.check for one in report.results if one.gpu))
    titles = {one.check: one.title for one in report.results}
    head = "".join(f"<th>GPU {card.index}</th>" for card in report.cards)
    rows = []
    for check in checks:
        statuses = [_status(report, check, card.key) for card in report.cards]
        cells = "".join(f"<td style='background:{COLOURS[one]};color:{TEXT[one]}'>{SIGNS[one]}</td>" for one in statuses)
        rows.append(f"<tr><td>{escape(titles[check])}</td>{cells}</tr>")
    body = f"<tr><th></th>{head}</tr>{''.join(rows)}"
    return f"<figure><figcaption>Cards and checks</figcaption><table>{body}</table></figure>"


def _status(report: Report, check: str, key: str) -> str:
    return worst([one.status for one in report.of(key) if one.check == check])
