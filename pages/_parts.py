"""The parts that pages are made of: the sentence on top, figures with their origin, titles and charts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from html import escape
from typing import Any

import streamlit as st
from plotly.basedatatypes import BaseFigure

from viz.terms import TERMS
from viz.theme import Figure

EXPLAINED = {
    "programs?": "program",
    "blocks": "block",
    "lanes?": "lane",
    "registers?": "register",
    "spilled": "spilled",
    "shared memory": "shared memory",
}


class Drawn(BaseFigure):
    """A figure that goes to the browser as it is, without Plotly's checks (the tests make them)."""

    def __init__(self, figure: Figure) -> None:
        self._figure = figure

    def to_dict(self) -> Figure:
        """The figure itself."""
        return self._figure


def bold(text: str) -> str:
    """A text as HTML: escaped, and what stands between double asterisks in bold."""
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text))


def headline(text: str, badge: str, *, alive: bool, title: str = "", terms: Mapping[str, str] | None = None) -> None:
    """The sentence of a page, its numbers between double asterisks, and beside it what the page speaks of.

    `terms` are words of the page's own to explain, as patterns, with a sentence each.
    """
    html = bold(text)
    for word, sentence in ({word: TERMS[term] for word, term in EXPLAINED.items()} | dict(terms or {})).items():
        help_text = escape(sentence, quote=True)
        html = re.sub(rf"\b({word})\b(?![^<]*>)", rf'<abbr title="{help_text}">\1</abbr>', html, count=1)
    st.html(
        f'<div class="headline"><span class="story">{html}</span>'
        f'<span class="badge{"" if alive else " none"}" title="{escape(title, quote=True)}">{escape(badge)}</span></div>'
    )


def say(text: str, kind: str = "") -> None:
    """A line of text set off from the page; `kind` is "", "good", "refusal" or "fault"."""
    st.html(f'<div class="say {kind}">{bold(text)}</div>')


def fact(name: str, value: str, more: str = "", tag: str = "", title: str = "") -> str:
    """A figure as HTML: its name, its value, a few words, and where it comes from."""
    beside = f'<span class="more">{escape(more)}</span>' if more else ""
    origin = f'<span class="tag {tag}">{tag}</span>' if tag else ""
    return (
        f'<div class="figure" title="{escape(title, quote=True)}"><div class="name">{escape(name)}</div>'
        f'<div><span class="number">{escape(value)}</span>{beside}{origin}</div></div>'
    )


def facts(parts: Iterable[str]) -> str:
    """Figures in a row, as HTML."""
    return f'<div class="figures">{"".join(parts)}</div>'


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A small table as HTML; the texts are escaped."""
    top = "".join(f"<th>{escape(head)}</th>" for head in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<table class="plain"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def title(text: str, more: str = "") -> None:
    """The title of a picture, with a few words of help beside it."""
    st.html(f'<div class="title"><b>{text}</b> <span>{more}</span></div>')


def chart(figure: Figure, key: str, alt: str, clicked: Callable[[Any], None] | None = None) -> None:
    """A figure; `clicked` gets the customdata of a point that a person clicks."""

    st.session_state.setdefault("clicked", {})[key] = clicked
    on_select: dict[str, Any] = {"on_select": partial(_selected, key), "selection_mode": "points"} if clicked else {}
    # The bar is hidden; its one button is what saves a figure as a file.
    config = {"displaylogo": False, "modeBarButtons": [["toImage"]], "scrollZoom": False, "doubleClick": False}
    st.session_state.setdefault("drawn", {})[key] = figure
    st.plotly_chart(Drawn(figure), key=key, theme=None, config=config, alt=alt, **on_select)


def _selected(key: str) -> None:
    """Calls what a click on that figure does. Streamlit keeps the callback of every figure that a session ever drew, so it
    must hold nothing: with the pictures in it, each change left 100 kB behind.
    """
    points, clicked = st.session_state[key]["selection"]["points"], st.session_state["clicked"].get(key)
    if points and points[0].get("customdata") is not None and clicked:
        clicked(points[0]["customdata"])
