"""Two small components of our own: HTML that can be clicked and explains its words, and what the window looks like."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import streamlit as st

from viz.theme import Style, style

HERE = Path(__file__).parent


@functools.cache
def text(name: str) -> str:
    """A file beside this one."""
    return (HERE / name).read_text()


def panel(html: str, key: str, **options: Any) -> int | None:
    """Shows HTML whose texts are escaped already; returns the step of a line that was clicked, once."""
    component = st.components.v2.component("panel", css=text("_panel.css"), js=text("_panel.js"))
    return component(data={"html": html}, key=key, on_step_change=lambda: None, **options).step


def figure_files(titles: dict[str, str], prefix: str) -> None:
    """Buttons that save figures of the page, given as key to title, as PNG or SVG."""
    component = st.components.v2.component("figures", css=text("_panel.css"), js=text("_figures.js"))
    component(data={"titles": titles, "prefix": prefix}, key="figure-files")


def frame() -> Style:
    """The style for this browser: its theme and its width. Until it has told, what Streamlit knows of the theme."""
    component = st.components.v2.component("frame", js=text("_frame.js"))
    told = component(key="frame", on_frame_change=lambda: None, height=1).frame
    theme, scale = str(told).split() if told else (st.context.theme.type, 1.0)
    found = style(theme == "dark", float(scale))
    st.html(f"<style>:root {{ --explorer-text: {found.text}; --explorer-background: {found.background}; }}</style>")
    return found
