"""The sidebar of the fusion page: what to compare."""

from __future__ import annotations

import streamlit as st

from kernels.measure.records import DIRECTIONS
from kernels.measure.ways import directions_of
from pages import _controls

from .found import recorded_points
from .state import Comparison, comparable, state, write

SHORT = {"forward": "forward", "backward": "backward", "both": "both", "module": "in a module"}


def controls(comparison: Comparison) -> None:
    """Draws the sidebar; every change goes through the state."""
    request = comparison.request
    st.markdown("#### Triton explorer")
    _controls.operator(state, {name: one.title for name, one in comparable().items()}, request.operator)
    _controls.numbers(state, _controls.sizes_of(request))
    _controls.parameters(state, request)
    _controls.dtype(state, request)
    if len(directions_of(request.description)) > 1:
        _direction(comparison)
    with st.expander("Blocks, warps, seed"):
        _controls.numbers(state, _controls.blocks_of(request))
        _controls.warps_and_seed(state, request)


def _direction(comparison: Comparison) -> None:
    st.pills(
        "Direction",
        list(directions_of(comparison.request.description)),
        default=comparison.direction,
        **state.widget("direction"),
        format_func=SHORT.get,
        required=True,
        help="; ".join(f"**{SHORT[name]}**: {meaning}" for name, meaning in DIRECTIONS.items()),
    )


def recorded(comparison: Comparison) -> None:
    """What was recorded of this operator, to look at with one click."""
    texts = {}
    for point, _ in recorded_points():
        if point.operator == comparison.request.operator:
            sizes = " × ".join(f"{value:,}" for value in point.sizes.values())
            label = f"{point.dtype} {sizes}" + ("" if point.direction == "forward" else f", {SHORT[point.direction]}")
            texts.setdefault(label, write(Comparison(point.request, point.direction)))
    here = write(comparison)
    active = next((label for label, one in texts.items() if one == here), None)
    key = f"{state.key('recorded')}.{active}"

    def chosen() -> None:
        if st.session_state[key]:
            state.start_over(texts[st.session_state[key]])

    if texts:
        help_text = "Measured before on an NVIDIA H200 and shipped with the explorer."
        st.selectbox(
            "Recorded runs",
            list(texts),
            index=list(texts).index(active) if active else None,
            key=key,
            on_change=chosen,
            placeholder="choose one",
            help=help_text,
        )
