"""Colours by role, fonts and the layout that all figures share.

Hues are Okabe and Ito's (Color Universal Design, 2008), darkened where text lies on them: white or near-black text keeps at
least 4.5:1 on every fill. No hue has two roles on one page, and none carries meaning alone: masked lanes are hatched, out
of bounds is written out, programs are numbered, implementations named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Any

FONT = '"Source Sans", "Source Sans 3", sans-serif'
CODE_FONT = '"Source Code Pro", monospace'


# What Plotly calls a figure, as a dictionary: Plotly's own objects check every property, 13 ms a figure on 2 cores; the tests
# do that once for all.
Figure = dict[str, Any]


@dataclass(frozen=True)
class Fill:
    """A colour, and the colour of text on it."""

    colour: str
    text: str


PROGRAMS = (Fill("#0072B2", "#FFFFFF"), Fill("#E69F00", "#1A1A1A"), Fill("#00785A", "#FFFFFF"))
READ = Fill("#56B4E9", "#10222E")
WRITTEN = Fill("#CC79A7", "#2A0F1E")
# Implementations that are compared: three greys and the one that this is about, in the colour of what a person acts on.
WAYS = {
    "pytorch": Fill("#B7C0CD", "#17202B"),
    "library": Fill("#8A96A8", "#17202B"),
    "compiled": Fill("#5C687A", "#FFFFFF"),
    "triton": Fill("#0072B2", "#FFFFFF"),
}
OUT_OF_BOUNDS = Fill("#B94E00", "#FFFFFF")


@dataclass(frozen=True)
class Style:
    """Light or dark, and how large: `scale` is 1 on a laptop, more on a projector."""

    text: str
    muted: str
    line: str
    background: str
    panel: str
    masked: str
    hatch: str
    pale: tuple[Fill, ...]
    scale: float = 1.0

    @property
    def size(self) -> float:
        """The font size of a figure, in pixels."""
        return 14 * self.scale

    def px(self, length: float) -> int:
        """A length in pixels at this scale."""
        return round(length * self.scale)


LIGHT = Style(
    text="#17202B",
    muted="#566173",
    line="#CBD2DC",
    background="#FFFFFF",
    panel="#F4F6F9",
    masked="#EEF0F4",
    hatch="#A9B2C0",
    pale=(Fill("#D6E8F5", "#17364F"), Fill("#FBEACB", "#4A3400"), Fill("#D3EDE5", "#0B3D2F")),
)
DARK = Style(
    text="#E8ECF2",
    muted="#A6B0BF",
    line="#3B4657",
    background="#10151D",
    panel="#1A222E",
    masked="#232C39",
    hatch="#647186",
    pale=(Fill("#173A55", "#CFE6F7"), Fill("#4D3A10", "#FCE6B8"), Fill("#123F33", "#C9EFE2")),
)


def style(dark: bool = False, scale: float = 1.0) -> Style:
    """The style of a page: dark or light, at a scale from 1 to 1.6."""
    base = DARK if dark else LIGHT
    return Style(**{**vars(base), "scale": min(max(scale, 1.0), 1.6)})


def program_fill(number: int, style: Style, strong: bool = True) -> Fill:
    """The colour of a program: neighbours differ; pale where another program is the one to look at."""
    return (PROGRAMS if strong else style.pale)[number % len(PROGRAMS)]


def figure(traces: list[dict[str, Any]], style: Style, *, height: float, **layout: Any) -> Figure:
    """A figure in the page's style, `height` pixels high at scale 1."""
    base = {
        "template": None,
        "height": style.px(height),
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": style.size, "color": style.text},
        "showlegend": False,
        "dragmode": False,
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": style.panel,
            "bordercolor": style.line,
            "font": {"family": FONT, "size": style.size, "color": style.text},
            "align": "left",
        },
        "bargap": 0,
        "barmode": "overlay",
        "uirevision": "keep",
    }
    return {"data": traces, "layout": {**base, **layout}}


def bare_axis(style: Style, **more: Any) -> dict[str, Any]:
    """An axis without lines, ticks or grid; `more` adds to it."""
    return {
        "showgrid": False,
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "fixedrange": True,
        "tickfont": {"family": FONT, "size": style.size, "color": style.muted},
        "ticklabelstandoff": style.px(6),
        **more,
    }


def plain(text: str) -> str:
    """A text as Plotly shows it letter by letter: Plotly reads some HTML in every text, links among it."""
    return escape(text, quote=False)


# What the figures here are formatted with.
OTHER_TAG = re.compile(r"""<(?!/?(?:b|br|i|sub|sup|extra)>|span style=(['"])(?:color|font-size):[#\w.,%() ]+\1>|/span>)""")


def formatted(value: Any) -> Any:
    """A figure, or a part of one, with every tag escaped that no figure here uses: links, images and what else Plotly reads."""
    if isinstance(value, str):
        return OTHER_TAG.sub("&lt;", value) if "<" in value else value
    if isinstance(value, dict):
        return {name: formatted(inner) for name, inner in value.items()}
    return [formatted(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def note(text: str, x: float, y: float, style: Style, **more: Any) -> dict[str, Any]:
    """A text in the figure, without an arrow, at data coordinates."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "showarrow": False,
        "font": {"family": FONT, "size": style.size, "color": style.muted},
        **more,
    }


def outline(x0: float, x1: float, y0: float, y1: float, style: Style, **more: Any) -> dict[str, Any]:
    """A frame around what is chosen."""
    return {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": {"color": style.text, "width": 2.5}, **more}
