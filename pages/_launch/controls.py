"""The sidebar of the launch page: what to launch, in the order a person decides it."""

from __future__ import annotations

import streamlit as st

from kernels import operators
from kernels.runtime.request import LAYOUTS, WHAT_IFS, possible_layouts, possible_what_ifs
from kernels.runtime.settings import Settings
from pages import _controls

from .state import state

SHORT = {
    "no_mask": "no mask",
    "floor_grid": "floor grid",
    "other": "other value",
    "stride": "wrong stride",
    "int32": "int32 offsets",
}
KEPT = ("program", "step")


def controls(settings: Settings) -> None:
    """Draws the sidebar; every change goes through the state."""
    request = settings.request
    st.markdown("#### Triton explorer")
    titles = {name: operator.title for name, operator in operators().items()}
    _controls.operator(state, titles, request.operator)
    _controls.numbers(state, _controls.sizes_of(request) + _controls.blocks_of(request))
    _controls.parameters(state, request, KEPT)
    _controls.dtype(state, request, KEPT)
    _controls.examples(state, request)
    _what_if(settings)
    _more(settings)


def _what_if(settings: Settings) -> None:
    request = settings.request
    possible = list(possible_what_ifs(request))
    active = request.what_if if request.what_if in possible else None
    st.pills("What if", possible, default=active, format_func=SHORT.get, **state.widget("what_if", KEPT))
    if active == "other":
        st.number_input(
            "value of masked lanes",
            value=request.other,
            **state.widget("other", KEPT),
            help="What a masked lane holds without `other` is undefined. Minus infinity changes no maximum, 0 no sum.",
        )
    if active:
        st.caption(WHAT_IFS[active][0].upper() + WHAT_IFS[active][1:] + ".")


def _more(settings: Settings) -> None:
    request = settings.request
    with st.expander("Warps, seed, memory layout"):
        _controls.warps_and_seed(state, request)
        layouts = list(possible_layouts(request.description))
        st.selectbox(
            "first input",
            layouts,
            index=layouts.index(request.layout),
            **state.widget("layout", KEPT),
            format_func=lambda name: f"{name}: {LAYOUTS[name]}",
        )
