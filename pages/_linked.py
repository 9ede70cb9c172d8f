"""A small component of our own: columns of code whose lines light up together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages import _panel

if TYPE_CHECKING:
    from viz.listing import Pane


def linked(panes: Sequence[Pane], tints: Sequence[str], line: int | None, key: str) -> int | None:
    """Shows columns whose HTML is escaped already, a line of the source chosen in all of them.

    Returns the line that was clicked, once; 0 where the choice was taken back.
    """
    component = st.components.v2.component("linked", css=_panel.text("_linked.css"), js=_panel.text("_linked.js"))
    columns = [{"title": one.title, "more": one.more, "html": one.html, "kind": one.kind} for one in panes]
    wide = "minmax(0, 0.9fr)" if len(panes) > 2 else "minmax(0, 0.95fr)"
    data = {"panes": columns, "tints": list(tints), "line": line, "wide": wide}
    return component(data=data, key=key, on_line_change=lambda: None).line
