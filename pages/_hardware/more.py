"""What lies one click down on the hardware page; only the open tab is computed."""

from __future__ import annotations

import streamlit as st

from kernels.inside.analysis import Analysis
from kernels.inside.facts import Chip
from pages import _panel
from viz.hardware_terms import terms_html
from viz.theme import Style

from . import footprint, machine, occupancy, sectors
from .state import Shown


def tabs(shown: Shown, chip: Chip, analysis: Analysis, style: Style, *, machine_above: bool) -> None:
    """Tabs; only the open one is drawn. The GPU is one of them unless it is drawn above already."""
    draws = {
        "What a warp asks of memory": lambda: sectors.draw(shown, analysis, style),
        "What fits on an SM": lambda: occupancy.draw(shown, chip, analysis, style),
        "The GPU": lambda: machine.draw(shown, chip, analysis, style),
        "The words": lambda: _panel.panel(terms_html(), "hardware-terms"),
    }
    if machine_above:
        del draws["The GPU"]
    if shown.request.description.product:
        draws = {"Which tiles run together": lambda: footprint.draw(shown, chip, analysis, style), **draws}
    opened = st.tabs(list(draws), on_change="rerun", key="hardware.tabs")
    for draw, tab in zip(draws.values(), opened, strict=True):
        if tab.open:
            with tab:
                draw()
