"""HTML and Markdown in which a text stays a text: what is not markup already is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable

import streamlit as st
from markupsafe import Markup, escape

__all__ = ["Markup", "bold", "caption", "escape", "joined", "literal", "show"]

MARKDOWN = re.compile(r"[\\`*\[\]<>~|$]|(?<!\w)_|_(?!\w)|:(?=[A-Za-z/])|^[#>+=-]|(?<=^\d)[.)]|(?<=^\d\d)[.)]")


def show(markup: str, **more: str) -> None:
    """Puts markup on the page; a text that is no Markup is escaped, so that no value becomes an element."""
    st.html(str(escape(markup)), **more)


def joined(parts: Iterable[str], between: str = "") -> Markup:
    """Parts one after the other, each escaped unless it is markup."""
    return Markup(escape(between)).join(parts)


def bold(text: str) -> Markup:
    """A text as HTML: escaped, and what stands between double asterisks in bold."""
    return text if isinstance(text, Markup) else Markup(re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", str(escape(text))))


def literal(text: str) -> str:
    """A text as Markdown that shows it as it is: no link, no image, no formula; for labels, captions and help."""
    # An invisible joiner: Streamlit makes links of addresses in any text, escaped or not.
    line = text.replace("\r", " ").replace("\n", " ").lstrip()  # spaces in front would make code of it
    apart = re.sub(r"(?<=:)(?=//)|(?<=www)(?=\.)", "\u2060", line)
    return MARKDOWN.sub(lambda found: f"\\{found[0]}", apart)


def caption(text: str) -> None:
    """A small line that shows a text as it is."""
    st.caption(literal(text))
