"""A report as one HTML page with its plots drawn as SVG: it opens anywhere, needs no network, and can be mailed."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import log10

from .text import by_stage, private, steps, unseen
from .values import STAGES, STATUSES, Report, Result, verdict, worst

WIDTH, HEIGHT, LEFT, BOTTOM = 520, 230, 64, 40
COLOURS = {"PASS": "#00785A", "WARN": "#E69F00", "FAIL": "#B94E00", "NOT MEASURED": "#8A94A3"}
BLUE, GREY = "#0072B2", "#8A94A3"
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; font-weight: 400; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .25rem .6rem; vertical-align: top;
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
    for card in report.cards:
        rows = "".join(
            f"<tr><td>{escape(fact.name)}</td><td>{escape(fact.value)}</td><td class='limit'>{escape(fact.source)}</td></tr>"
            for fact in card.facts
            if fact.name != "UUID"
        )
        parts.append(f"<h2>GPU {card.index}: {escape(card.name)}</h2><table>{rows}</table>")
    return "\n".join(parts) + "</html>\n"


def _bold(text: str) -> str:
    import re

    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(private(text)))


def _row(report: Report, one: Result) -> str:
    index = next((f"GPU {card.index}: " for card in report.cards if card.key == one.gpu and len(report.cards) > 1), "")
    limit = f"{one.limit}; {one.source}" if one.limit else one.source
    texts = [escape(private(text)) for text in (index + one.title, one.said, limit)]
    cells = f"<td>{texts[0]}</td><td>{texts[1]}</td><td class='limit'>{texts[2]}</td>"
    return f"<tr><td class='status' style='color:{COLOURS[one.status]}'>{one.status}</td>{cells}</tr>"


def _plots(report: Report) -> list[str]:
    found = []
    for card in report.cards:
        name = f"GPU {card.index}: " if len(report.cards) > 1 else ""
        if (one := report.find("sweep", card.key)) and "fit" in one.series:
            found.append(_sweep(one, name))
        if (one := report.find("sustained rate", card.key)) and len(one.series.get("rate", ())) > 1:
            found.append(_over_time(one, "rate time", "rate", f"{name}TFLOP/s over seconds, matmul"))
            for column, title in (("sm_clock", "clock, MHz"), ("power", "power, W"), ("temperature", "temperature, °C")):
                if len(one.series.get(column, ())) > 1:
                    found.append(_over_time(one, "time", column, f"{name}{title} over seconds"))
    return [*found, *([heat_map(report)] if len(report.cards) > 1 else [])]


def _sweep(one: Result, name: str) -> str:
    volumes, seconds = one.series["bytes"], one.series["seconds"]
    a, b = one.series["fit"]
    xs, ys = [log10(volume) for volume in volumes], [log10(time * 1e6) for time in seconds]
    line = [log10(max(a + volume / b, 1e-9) * 1e6) for volume in volumes]
    return _plot(xs, [(ys, BLUE, True), (line, GREY, False)], f"{name}T = a + V / b: log10 µs over log10 bytes")


def _over_time(one: Result, times: str, column: str, title: str) -> str:
    return _plot(one.series[times], [(one.series[column], BLUE, False)], title, zero=True)


def _plot(xs: Sequence[float], lines: Sequence[tuple[Sequence[float], str, bool]], title: str, *, zero: bool = False) -> str:
    """Lines, or points, over xs, with the axes' ends written at them."""
    every = [value for values, _, _ in lines for value in values]
    low, high = (0.0 if zero else min(every)), max(every) * (1.05 if zero else 1.0)
    span_x, span_y = (xs[-1] - xs[0]) or 1.0, (high - low) or 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + (x - xs[0]) / span_x * (WIDTH - LEFT - 10), HEIGHT - BOTTOM - (y - low) / span_y * (HEIGHT - BOTTOM - 10)

    drawn = []
    for values, colour, points in lines:
        places = [place(x, y) for x, y in zip(xs, values, strict=False)]
        if points:
            drawn += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='4' fill='{colour}'/>" for x, y in places]
        else:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            drawn.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2'/>")
    base = HEIGHT - BOTTOM
    axes = f"<path d='M{LEFT} 10V{base}H{WIDTH - 10}' fill='none' stroke='{GREY}'/>"
    ends = [(4, base, low), (4, 18, high), (LEFT, base + 18, xs[0]), (WIDTH - 44, base + 18, xs[-1])]
    words = "".join(f"<text x='{x}' y='{y}'>{value:,.4g}</text>" for x, y, value in ends)
    return (
        f"<figure><figcaption>{escape(title)}</figcaption><svg width='{WIDTH}' height='{HEIGHT}' "
        f"viewBox='0 0 {WIDTH} {HEIGHT}' role='img'>{axes}{''.join(drawn)}{words}</svg></figure>"
    )


def heat_map(report: Report) -> str:
    """Cards down, checks across, a cell in the colour and with the first letter of its status."""
    checks = list(dict.fromkeys(one.check for one in report.results if one.gpu))
    titles = {one.check: one.title for one in report.results}
    head = "".join(f"<th title='{escape(titles[check])}'>{place + 1}</th>" for place, check in enumerate(checks))
    rows = []
    for card in report.cards:
        cells = []
        for check in checks:
            found = [one.status for one in report.of(card.key) if one.check == check]
            status = worst(found) if found else STATUSES[2]
            cells.append(
                f"<td title='{escape(titles[check])}: {status}' "
                f"style='background:{COLOURS[status]};color:#fff'>{status[0]}</td>"
            )
        rows.append(f"<tr><th>GPU {card.index}</th>{''.join(cells)}</tr>")
    body = f"<tr><th></th>{head}</tr>{''.join(rows)}"
    return f"<figure><figcaption>GPU × check (hover for names)</figcaption><table>{body}</table></figure>"
