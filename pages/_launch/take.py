"""What a person takes along: a link, a script, figures, data."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from kernels.runtime.picture import Lanes, Picture
from kernels.runtime.script import script
from kernels.runtime.settings import Settings, link
from pages import _panel
from pages._gpus import chosen_gpu
from viz.theme import Figure, Style

from . import running

TITLES = {
    "strip": "All programs",
    "tiles": "Tiles",
    "lanes": "Offsets and mask",
    "memory": "Memory",
    "memory-map": "Memory, as a map",
    "cost": "What the sizes cost",
    "fold": "How lanes fold",
}


def page_of_figures(figures: list[Figure]) -> str:
    """The figures as one HTML file that needs no network."""
    parts = [go.Figure(figure).to_html(full_html=False, include_plotlyjs=not number) for number, figure in enumerate(figures)]
    return f"<!doctype html><meta charset='utf-8'><title>Triton explorer</title><body>{''.join(parts)}"


def along(settings: Settings, picture: Picture, style: Style) -> None:
    """A link to this state, a script of this launch, the pictures as files, the accesses as a table."""
    left, right = st.columns([1, 1.4], gap="large")
    with left:
        st.markdown("**Link** to exactly this state")
        base = (st.context.url or "").split("?")[0]
        st.code(f"{base}?{urlencode(link(settings))}", language=None, wrap_lines=True)
        st.markdown("**Data**: the accesses of the programs shown")
        st.download_button("CSV", lambda: table(picture), "accesses.csv", "text/csv", key="take.csv", on_click="ignore")
        st.markdown("**Figures** on this page, each as a file")
        _panel.figure_files({key: TITLES.get(key, key) for key in st.session_state["drawn"]}, settings.request.operator)
        page = partial(page_of_figures, list(st.session_state["drawn"].values()))
        st.download_button("All as one HTML file", page, "figures.html", "text/html", key="take.html", on_click="ignore")
    with right:
        request = running.legal(settings.request, chosen_gpu())
        text = script(request)
        st.markdown("**Script**: this launch and its check, with torch and Triton alone")
        st.download_button("launch.py", text, "launch.py", "text/x-python", key="take.script", on_click="ignore")
        st.code(text, language="python", height=320)


def table(picture: Picture) -> str:
    """The accesses as CSV: a line a lane, or a line a group of lanes where there are many."""
    rows = [row for access in picture.accesses for row in _rows(access)]
    return pd.DataFrame(rows).to_csv(index=False)


def _rows(access: Lanes) -> list[dict[str, Any]]:
    size = access.lanes // max(access.first.size, 1)
    values = (
        np.where(access.defined, access.values, np.nan).ravel()
        if access.values is not None
        else np.full(access.first.size, np.nan)
    )
    return [
        {
            "program": "/".join(map(str, access.program)),
            "kind": access.kind,
            "argument": access.argument,
            "line": access.line,
            "lane": at * size,
            "lanes": size,
            "first_offset": int(access.first.flat[at]),
            "last_offset": int(access.last.flat[at]),
            "live": int(access.live.flat[at]),
            "out_of_bounds": int(access.out_of_bounds.flat[at]),
            "value": float(values[at]),
        }
        for at in range(access.first.size)
    ]
