"""The memorable picture: a band of DRAM below, the chip above; every kernel is a hump between them, as wide as it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .theme import CODE_FONT, READ, WRITTEN, Figure, Style, bare_axis, figure, note, plain
from .words import bytes_text, seconds_text

HAIRLINE = 0.006  # of the axis
THICKEST = 0.014  # of the axis: a leg for the most bytes
LETTER, LEGS = 0.0092, 0.062  # of the axis: a letter of a name, and what a hump's two legs take of its width
PANEL = 2.5  # from one row to the next; a row is 2 high: DRAM at 0, chip at 2


@dataclass(frozen=True)
class Hump:
    """A kernel: name, start and duration in seconds as measured, bytes read and written (None where not known)."""

    name: str
    start: float
    duration: float
    read: float | None = None
    written: float | None = None

    @property
    def end(self) -> float:
        """When it is done."""
        return self.start + self.duration


@dataclass(frozen=True)
class Line:
    """One implementation's kernels in a row, under a label."""

    label: str
    humps: Sequence[Hump]

    @property
    def end(self) -> float:
        """When its last kernel is done."""
        return max((hump.end for hump in self.humps), default=0.0)


def humps_figure(lines: Sequence[Line], given_back: float | None, style: Style) -> Figure:
    """Lines from top to bottom on one time axis; `given_back` seconds are bracketed in the last, where it is shorter."""
    longest = max(line.end for line in lines) or 1.0
    most = max((max(hump.read or 0, hump.written or 0) for line in lines for hump in line.humps), default=0) or 1
    shapes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    traces: list[dict[str, Any]] = []
    for place, line in enumerate(lines):
        base = -PANEL * place
        shapes += _bands(base, longest, style)
        notes += _band_names(base, style)
        shapes += _hairlines(line, base, longest, style)
        for hump in line.humps:
            shapes += _hump(hump, base, longest, most, style)
            notes += _name(hump, base, longest, style)
        traces.append(_hover(line, base, style))
    if given_back and given_back > 0:
        made = _bracket(lines[-1].end, longest, -PANEL * (len(lines) - 1), given_back, style)
        shapes, notes = shapes + made[0], notes + made[1]
    ticks = _ticks(longest)
    times = [seconds_text(tick) if tick else "0" for tick in ticks]
    return figure(
        traces,
        style,
        height=40 + 128 * len(lines),
        shapes=shapes,
        annotations=notes,
        xaxis=bare_axis(style, range=[0, longest * 1.01], tickvals=ticks, ticktext=times),
        yaxis=bare_axis(
            style,
            range=[-PANEL * (len(lines) - 1) - 0.3, 2.25],
            tickvals=[1 - PANEL * place for place in range(len(lines))],
            ticktext=[f"<b>{plain(line.label)}</b>" for line in lines],
            tickfont={"size": style.size, "color": style.text},
        ),
        margin={"l": style.px(92), "r": 10, "t": 2, "b": style.px(26)},
    )


def _ticks(longest: float) -> list[float]:
    """Round times on the axis, five or so."""
    from math import floor, log10

    raw = longest / 5
    power = 10 ** floor(log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw)
    return [step * number for number in range(int(longest / step) + 1)]


def _bands(base: float, longest: float, style: Style) -> list[dict[str, Any]]:
    def band(low: float, high: float, colour: str) -> dict[str, Any]:
        return {
            "type": "rect",
            "x0": 0,
            "x1": longest * 1.01,
            "y0": base + low,
            "y1": base + high,
            "fillcolor": colour,
            "line": {"width": 0},
            "layer": "below",
        }

    return [band(1.62, 2.05, style.panel), band(-0.22, 0.16, style.line)]


def _band_names(base: float, style: Style) -> list[dict[str, Any]]:
    small = {"size": style.size * 0.9, "color": style.muted}
    place = {"xref": "paper", "xanchor": "right", "xshift": style.px(-8), "font": small}
    return [note("on the chip", 0, base + 1.83, style, **place), note("DRAM", 0, base - 0.02, style, **place)]


def _hump(hump: Hump, base: float, longest: float, most: float, style: Style) -> list[dict[str, Any]]:
    """Up what is read, along the chip, down what is written; nothing where it is too short for that."""
    if hump.duration < HAIRLINE * longest:
        return []
    thick = [_thickness(amount, most) * longest for amount in (hump.read, hump.written)]
    slope = min(0.2 * hump.duration, 0.022 * longest)
    top_start, top_end = hump.start + slope, hump.end - slope
    bar = {"type": "rect", "x0": top_start, "x1": top_end, "y0": base + 1.72, "y1": base + 1.94, "fillcolor": style.muted}
    return [
        _leg(hump.start, top_start, thick[0], base, READ.colour),
        _leg(hump.end, top_end, -thick[1], base, WRITTEN.colour),
        {**bar, "line": {"width": 0}},
    ]


def _hairlines(line: Line, base: float, longest: float, style: Style) -> list[dict[str, Any]]:
    """Kernels too short for a hump, each as a line of its own."""
    found, last = [], -longest
    for hump in line.humps:
        if hump.duration < HAIRLINE * longest:
            last = max(hump.start, last + 0.006 * longest)
            ink = {"color": style.text, "width": 2}
            found.append({"type": "line", "x0": last, "x1": last, "y0": base, "y1": base + 1.83, "line": ink})
    return found


def _thickness(amount: float | None, most: float) -> float:
    return THICKEST * (0.3 if amount is None else max(amount / most, 0.12))


def _leg(foot: float, head: float, wide: float, base: float, colour: str) -> dict[str, Any]:
    path = f"M{foot},{base} L{foot + wide},{base} L{head + wide},{base + 1.83} L{head},{base + 1.83} Z"
    return {"type": "path", "path": path, "fillcolor": colour, "line": {"width": 0}}


def _name(hump: Hump, base: float, longest: float, style: Style) -> list[dict[str, Any]]:
    room = hump.duration / longest - LEGS
    size = next((size for size in (0.93, 0.78) if len(hump.name) * LETTER * size <= room), None)
    if size is None:
        return []
    font = {"family": CODE_FONT, "size": style.size * size, "color": style.text}
    middle = (hump.start + hump.end) / 2
    time = {"size": style.size * 0.9, "color": style.muted}
    return [
        note(plain(hump.name), middle, base + 1.12, style, font=font),
        note(seconds_text(hump.duration), middle, base + 0.62, style, font=time),
    ]


def _hover(line: Line, base: float, style: Style) -> dict[str, Any]:
    texts = [f"<b>{plain(hump.name)}</b> ran {seconds_text(hump.duration)}{_bytes(hump)}" for hump in line.humps]
    return {
        "type": "bar",
        "x": [(hump.start + hump.end) / 2 for hump in line.humps],
        "width": [hump.duration for hump in line.humps],
        "y": [2.1] * len(line.humps),
        "base": [base] * len(line.humps),
        "marker": {"color": "rgba(0,0,0,0)"},
        "hovertext": texts,
        "hoverinfo": "text",
    }


def _bytes(hump: Hump) -> str:
    if hump.read is None or hump.written is None:
        return ""
    speed = (hump.read + hump.written) / hump.duration / 1e12 if hump.duration else 0
    return f"<br>reads {bytes_text(hump.read)}, writes {bytes_text(hump.written)} by the formula: {speed:.2f} TB/s"


def _bracket(start: float, end: float, base: float, seconds: float, style: Style) -> tuple[list[Any], list[Any]]:
    """What the fused kernel leaves free, bracketed."""
    left, right, y = start + 0.012 * end, end, base + 0.75
    line = {"color": style.text, "width": 2}
    ends = [{"type": "line", "x0": x, "x1": x, "y0": y, "y1": y + 0.18, "line": line} for x in (left, right)]
    across = {"type": "line", "x0": left, "x1": right, "y0": y, "y1": y, "line": line}
    big = {"size": style.size * 1.4, "color": style.text}
    text = note(f"<b>{seconds_text(seconds)} given back</b>", (left + right) / 2, y + 0.42, style, font=big)
    return [across, *ends], [text]
