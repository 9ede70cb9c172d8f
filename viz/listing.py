"""The source and the stages of the compiler side by side, as HTML: every line carries the line of the source it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from .instructions import explained
from .source import coloured
from .theme import Fill, Style

if TYPE_CHECKING:
    from kernels.inside.lines import Listing
    from kernels.runtime.source import Source

MOST_LINES = 1500
MOST_CHARACTERS = 400
HINT = (
    "Point at a line: what it became lights up beside it, and back. A click keeps it lit; arrow keys walk from line to line. "
    "The small number tells how many lines it became."
)

# Tints that tell neighbouring lines of the source apart, light and dark; the number beside a line says the same.
TINTS = (
    (Fill("#E4E1F7", "#17202B"), Fill("#322C57", "#E8ECF2")),
    (Fill("#D9EFDD", "#17202B"), Fill("#1E4128", "#E8ECF2")),
    (Fill("#F7E4D6", "#17202B"), Fill("#4A3019", "#E8ECF2")),
    (Fill("#D8EDF2", "#17202B"), Fill("#153C47", "#E8ECF2")),
    (Fill("#F3DFEC", "#17202B"), Fill("#48253D", "#E8ECF2")),
)


@dataclass(frozen=True)
class Pane:
    """One column: its title, a few words beside it, its rows as HTML, and the lines of the source that it shows."""

    title: str
    more: str
    html: str
    kind: str = "stage"


def tints(style: Style) -> list[str]:
    """The tints for this style, in order."""
    return [(light if style.background == "#FFFFFF" else dark).colour for light, dark in TINTS]


def source_pane(source: Source, file: str, made: Mapping[int, int], refused: int | None = None) -> Pane:
    """The kernel; `made` tells of every line how many lines of the stage it became, `refused` where the compiler stops."""
    rows = []
    for number, code in zip(range(source.first, source.first + len(source.lines)), coloured(source.lines), strict=True):
        count = made.get(number, 0)
        mark = ' <span class="stops">Triton stops here</span>' if number == refused else ""
        beside = f'<span class="made" title="lines that this line became">{count}</span>' if count else ""
        rows.append(_row(str(number), code + mark, number if count or number == refused else None, beside, source.first))
    hint = f'<div class="cut">{HINT}</div>' if made else ""
    return Pane("Source", file, "".join(rows) + hint, "source")


def stage_pane(title: str, more: str, listing: Listing, stage: str, first: int, only: frozenset[int], sign: str) -> Pane:
    """A stage, cut after 1500 lines; lines numbered in `only` carry the sign, since the other state has no such line."""
    rows = [
        _row(str(place or ""), _code(line, stage), place, "", first, sign if number in only else "")
        for number, (line, place) in enumerate(zip(listing.lines[:MOST_LINES], listing.places, strict=False))
    ]
    if len(listing.lines) > MOST_LINES:
        rows.append(
            f'<div class="cut">{len(listing.lines) - MOST_LINES:,} more lines: the file under “Take it along” has all.</div>'
        )
    return Pane(title, more, "".join(rows))


def message_pane(title: str, more: str, text: str) -> Pane:
    """A sentence where there is nothing to list."""
    return Pane(title, more, f'<div class="cut">{escape(text)}</div>')


def _row(label: str, code: str, place: int | None, beside: str, first: int, sign: str = "") -> str:
    tint = f' data-line="{place}" class="row t{(place - first) % len(TINTS)}"' if place is not None else ' class="row"'
    only = f'<span class="only">{sign}</span>' if sign else ""
    return f'<div{tint}>{only}<span class="at">{label}</span><span class="text">{code}</span>{beside}</div>'


def _code(line: str, stage: str) -> str:
    text = line.expandtabs(4).rstrip()
    shortened = text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
    return explained(shortened, stage)
