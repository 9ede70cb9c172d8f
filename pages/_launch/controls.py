"""The sidebar of the launch page: what to launch, in the order a person decides it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from kernels import DTYPES, operators
from kernels.operator import Preset, Size
from kernels.runtime.request import LAYOUTS, WHAT_IFS, possible_layouts, possible_what_ifs
from kernels.runtime.settings import BLOCK_MAXIMUM, NUM_WARPS, SEED, Settings

from .state import state

SHORT = {
    "no_mask": "no mask",
    "floor_grid": "floor grid",
    "other": "other value",
    "stride": "wrong stride",
    "int32": "int32 offsets",
}
SAFE = 2**53 - 1  # the largest whole number that a browser holds exactly
KEPT = ("program", "step")


def controls(settings: Settings) -> None:
    """Draws the sidebar; every change goes through the state."""
    st.markdown("#### Triton explorer")
    _operator(settings)
    _sizes(settings)
    _dtype(settings)
    _examples(settings)
    _what_if(settings)
    _more(settings)


def _operator(settings: Settings) -> None:
    titles = {name: operator.title for name, operator in operators().items()}
    names, key = list(titles), state.key("operator")
    index = names.index(settings.request.operator)

    def chosen() -> None:
        state.start_over({"operator": st.session_state[key]})

    st.selectbox("Operator", names, index=index, key=key, on_change=chosen, format_func=titles.get)


def _number(size: Size, value: int, place: Any, maximum: int) -> None:
    help_text = f"{size.meaning} From {size.minimum:,} to {maximum:,}."
    place.number_input(
        size.name, -SAFE, SAFE, value, 1, key=state.key(size.name), on_change=state.typed, args=(size.name,), help=help_text
    )


def _sizes(settings: Settings) -> None:
    operator, request = settings.request.description, settings.request
    fields = [(size, request.problem[size.name], size.maximum) for size in operator.sizes]
    fields += [(block, request.tiling[block.name], _largest(block)) for block in operator.blocks]
    wide = 1 if len(fields) == 2 else 2
    places = [column for start in range(0, len(fields), wide) for column in st.columns(wide, gap="small")]
    for (size, value, maximum), place in zip(fields, places, strict=False):
        _number(size, value, place, maximum)


def _largest(block: Size) -> int:
    return BLOCK_MAXIMUM if block.name.startswith("BLOCK") else block.maximum


def _dtype(settings: Settings) -> None:
    st.segmented_control(
        "dtype",
        list(DTYPES),
        default=settings.request.problem.dtype,
        key=state.key("dtype"),
        on_change=state.typed,
        args=("dtype", KEPT),
        required=True,
    )


def _texts(preset: Preset, operator: str) -> dict[str, Any]:
    return {"operator": operator, **preset.sizes, **preset.blocks, "dtype": preset.dtype}


def _examples(settings: Settings) -> None:
    operator, request = settings.request.description, settings.request
    presets = {preset.title: preset for preset in operator.presets}
    here = (request.problem.sizes, request.tiling.blocks, request.problem.dtype)
    active = next((title for title, one in presets.items() if (one.sizes, one.blocks, one.dtype) == here), None)
    key = f"{state.key('example')}.{active}"  # what is typed elsewhere chooses and unchooses examples

    def chosen() -> None:
        if st.session_state[key]:
            state.start_over(_texts(presets[st.session_state[key]], operator.name))

    st.pills("Examples", list(presets), default=active, key=key, on_change=chosen)
    if active:
        st.caption(presets[active].lesson)


def _what_if(settings: Settings) -> None:
    request = settings.request
    possible = list(possible_what_ifs(request))
    active = request.what_if if request.what_if in possible else None
    key = state.key("what_if")
    st.pills("What if", possible, default=active, key=key, on_change=state.typed, args=("what_if", KEPT), format_func=SHORT.get)
    if active == "other":
        key = state.key("other")
        st.number_input("value of masked lanes", value=request.other, key=key, on_change=state.typed, args=("other", KEPT))
    if active:
        st.caption(WHAT_IFS[active][0].upper() + WHAT_IFS[active][1:] + ".")


def _more(settings: Settings) -> None:
    request = settings.request
    with st.expander("Warps, seed, memory layout"):
        first, second = st.columns(2, gap="small")
        _number(NUM_WARPS, request.tiling.num_warps, first, NUM_WARPS.maximum)
        _number(SEED, request.seed, second, SEED.maximum)
        layouts = list(possible_layouts(request.description))
        st.selectbox(
            "first input",
            layouts,
            index=layouts.index(request.layout),
            key=state.key("layout"),
            on_change=state.typed,
            args=("layout", KEPT),
            format_func=lambda name: f"{name}: {LAYOUTS[name]}",
        )
