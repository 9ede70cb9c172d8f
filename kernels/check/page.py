"""A report as one HTML page with its plots drawn as SVG: it opens anywhere, needs no network, and can be mailed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import log10

from markupsafe import Markup, escape

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
    head = "<!doctype html><html lang='en'><meta charset='utf-8'><title>GPU check</title><style>{}</style>"
    parts = [Markup(head).format(Markup(STYLE))]
    parts.append(Markup("<h1>{}</h1>").format(_bold(verdict(report))))
    versions = ", ".join(f"{name} {value}" for name, value in report.versions.items())
    parts.append(Markup("<p>{}</p>").format(private(f"{report.made}, {report.seconds:.0f} s; {versions}")))
    told = [*(line.removeprefix("-> ") for line in steps(report)), *unseen(report)]
    parts += [Markup("<p>{}</p>").format(private(line)) for line in told]
    parts.append(Markup("<div class='plots'>{}</div>").format(_joined(_plots(report))))
    for stage, results in by_stage(report):
        parts.append(Markup("<h2>{}</h2><p class='limit'>{}</p><table>").format(stage, STAGES[stage]))
        parts += [_row(report, one) for one in results]
        parts.append(Markup("</table>"))
        parts += [Markup("<pre>{}</pre>").format("\n".join(matrix(one))) for one in results if "speeds" in one.series]
    for card in report.cards:
        row = Markup("<tr><td>{}</td><td>{}</td><td class='limit'>{}</td></tr>")
        rows = _joined(row.format(fact.name, fact.value, fact.source) for fact in card.facts if fact.name != "UUID")
        parts.append(Markup("<h2>GPU {}: {}</h2><table>{}</table>").format(card.index, card.name, rows))
    return str(Markup("\n").join(parts) + Markup("</html>\n"))


def _joined(parts: Iterable[str]) -> Markup:
    """Parts one after the other, each escaped unless it is markup."""
    return Markup().join(parts)


def _bold(text: str) -> Markup:
    return Markup(re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", str(escape(private(text)))))


def _row(report: Report, one: Result) -> Markup:
    index = next((f"GPU {card.index}: " for card in report.cards if card.key == one.gpu and len(report.cards) > 1), "")
    limit = f"{one.limit}; {one.source}" if one.limit else one.source
    texts = [private(text) for text in (index + one.title, one.said, limit)]
    layout = "<tr><td class='status' style='color:{}'>{}</td><td>{}</td><td>{}</td><td class='limit'>{}</td></tr>"
    return Markup(layout).format(COLOURS[one.status], one.status, *texts)


def _plots(report: Report) -> list[Markup]:
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


def _sweep(one: Result, name: str) -> Markup:
    volumes, seconds = one.series["bytes"], one.series["seconds"]
    a, b = one.series["fit"]
    xs, ys = [log10(volume) for volume in volumes], [log10(time) for time in seconds]
    line = [log10(max(a + volume / b, 1e-9)) for volume in volumes]
    ends = _Ends(*(f"{volume / 1e6:,.4g} MB" for volume in (volumes[0], volumes[-1])))
    title = f"{name}T = a + V / b, logarithmic: a = {a * 1e6:.1f} µs, b = {b / 1e9:,.0f} GB/s"
    low, high = min(*ys, *line), max(*ys, *line)
    ends = replace(ends, low=f"{10**low * 1e6:,.3g} µs", high=f"{10**high * 1e6:,.3g} µs")
    return _plot(xs, [(line, GREY, False), (ys, BLUE, True)], title, (low, high), ends)


def _over_time(one: Result, times: str, column: str, title: str) -> Markup:
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
) -> Markup:
    """Lines, or points, over xs."""
    width, height = (xs[-1] - xs[0]) or 1.0, (span[1] - span[0]) or 1.0
    base = HEIGHT - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + (x - xs[0]) / width * (WIDTH - LEFT - 10), base - (y - span[0]) / height * (base - 10)

    drawn = []
    for values, colour, points in lines:
        places = [place(x, y) for x, y in zip(xs, values, strict=False)]
        if points:
            drawn += [Markup("<circle cx='{:.1f}' cy='{:.1f}' r='4' fill='{}'/>").format(x, y, colour) for x, y in places]
        else:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            drawn.append(Markup("<polyline points='{}' fill='none' stroke='{}' stroke-width='2'/>").format(path, colour))
    axes = Markup("<path d='M{} 10V{}H{}' fill='none' stroke='{}'/>").format(LEFT, base, WIDTH - 10, GREY)
    corners = [(LEFT - 6, base, "end", ends.low), (LEFT - 6, 18, "end", ends.high)]
    corners += [(LEFT, base + 18, "start", ends.left), (WIDTH - 10, base + 18, "end", ends.right)]
    words = [Markup("<text x='{}' y='{}' text-anchor='{}'>{}</text>").format(*corner) for corner in corners]
    layout = Markup(
        "<figure><figcaption>{}</figcaption><svg width='{}' height='{}' viewBox='0 0 {} {}' role='img'>{}</svg></figure>"
    )
    return layout.format(title, WIDTH, HEIGHT, WIDTH, HEIGHT, _joined([axes, *drawn, *words]))


def heat_map(report: Report) -> Markup:
    """Checks down, cards across, a cell in the colour and with the sign of its status."""
    checks = list(dict.fromkeys(one.check for one in report.results if one.gpu))
    titles = {one.check: one.title for one in report.results}
    head = _joined(Markup("<th>GPU {}</th>").format(card.index) for card in report.cards)
    rows = [Markup("<tr><th></th>{}</tr>").format(head)]
    cell = Markup("<td style='background:{};color:{}'>{}</td>")
    for check in checks:
        statuses = [_status(report, check, card.key) for card in report.cards]
        cells = _joined(cell.format(COLOURS[one], TEXT[one], SIGNS[one]) for one in statuses)
        rows.append(Markup("<tr><td>{}</td>{}</tr>").format(titles[check], cells))
    return Markup("<figure><figcaption>Cards and checks</figcaption><table>{}</table></figure>").format(_joined(rows))


def _status(report: Report, check: str, key: str) -> str:
    return worst([one.status for one in report.of(key) if one.check == check])
