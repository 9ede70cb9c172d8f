"""The parts that pages are made of: the sentence on top, figures with their origin, titles and charts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import streamlit as st
from plotly.basedatatypes import BaseFigure

from kernels import Operator
from pages._html import Markup, bold, joined, show
from viz.terms import TERMS
from viz.theme import Figure, formatted

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


def headline(text: str, badge: str, *, alive: bool, title: str = "", terms: Mapping[str, str] | None = None) -> None:
    """The sentence of a page, its numbers between double asterisks, and beside it what the page speaks of.

    `terms` are words of the page's own to explain, as patterns, with a sentence each.
    """
    html = str(bold(text))
    for word, sentence in ({word: TERMS[term] for word, term in EXPLAINED.items()} | dict(terms or {})).items():
        explained = Markup('<abbr title="{}">').format(sentence)
        html = re.sub(rf"\b({word})\b(?![^<]*>)", rf"{explained}\1</abbr>", html, count=1)
    layout = Markup('<div class="headline"><span class="story">{}</span><span class="badge{}" title="{}">{}</span></div>')
    show(layout.format(Markup(html), "" if alive else " none", title, badge))


def say(text: str, kind: str = "") -> None:
    """A line of text set off from the page; `kind` is "", "good", "refusal" or "fault"."""
    show(Markup('<div class="say {}">{}</div>').format(kind, bold(text)))


def fact(name: str, value: str, more: str = "", tag: str = "", title: str = "") -> Markup:
    """A figure as HTML: its name, its value, a few words, and where it comes from."""
    beside = Markup('<span class="more">{}</span>').format(more) if more else ""
    origin = Markup('<span class="tag {0}">{0}</span>').format(tag) if tag else ""
    layout = '<div class="figure" title="{}"><div class="name">{}</div><div><span class="number">{}</span>{}{}</div></div>'
    return Markup(layout).format(title, name, value, beside, origin)


def facts(parts: Iterable[str]) -> Markup:
    """Figures in a row, as HTML."""
    return Markup('<div class="figures">{}</div>').format(joined(parts))


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Markup:
    """A small table as HTML; the texts are escaped."""
    top = joined(Markup("<th>{}</th>").format(head) for head in heads)
    lines = (joined(Markup("<td>{}</td>").format(cell) for cell in row) for row in rows)
    body = joined(Markup("<tr>{}</tr>").format(line) for line in lines)
    return Markup('<table class="plain"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>').format(top, body)


def title(text: str, more: str = "") -> None:
    """The title of a picture, with a few words of help beside it; texts, or markup."""
    show(Markup('<div class="title"><b>{}</b> <span>{}</span></div>').format(text, more))


def chart(figure: Figure, key: str, alt: str, clicked: Callable[[Any], None] | None = None) -> None:
    """A figure; `clicked` gets the customdata of a point that a person clicks."""

    st.session_state.setdefault("clicked", {})[key] = clicked
    on_select: dict[str, Any] = {"on_select": partial(_selected, key), "selection_mode": "points"} if clicked else {}
    # The bar is hidden; its one button is what saves a figure as a file.
    config = {"displaylogo": False, "modeBarButtons": [["toImage"]], "scrollZoom": False, "doubleClick": False}
    figure = formatted(figure)
    st.session_state.setdefault("drawn", {})[key] = figure
    st.plotly_chart(Drawn(figure), key=key, theme=None, config=config, alt=alt, **on_select)


def _selected(key: str) -> None:
    """Calls what a click on that figure does. Streamlit keeps the callback of every figure that a session ever drew, so it
    must hold nothing: with the pictures in it, each change left 100 kB behind.
    """
    points, clicked = st.session_state[key]["selection"]["points"], st.session_state["clicked"].get(key)
    if points and points[0].get("customdata") is not None and clicked:
        clicked(points[0]["customdata"])


def missing(operator: Operator, part: str, shows: str) -> str:
    """The sentence for what an operator does not say of itself, and what adding it would show."""
    return f"{operator.title} has no **{part}**: given to Operator in its file, it shows {shows} here."
