"""What lies one click down on the hardware page; only the open tab is computed."""

from __future__ import annotations

import streamlit as st

from kernels.inside.analysis import Analysis
from kernels.inside.facts import Chip
from viz.theme import Style

from .state import Shown


def tabs(shown: Shown, chip: Chip, analysis: Analysis, style: Style) -> None:
    """Tabs; only the open one is drawn."""
    draws = {}
    if not draws:
        return
    opened = st.tabs(list(draws), on_change="rerun", key="hardware.tabs")
    for draw, tab in zip(draws.values(), opened, strict=True):
        if tab.open:
            with tab:
                draw()
