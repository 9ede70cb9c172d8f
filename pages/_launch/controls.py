"""The sidebar of the launch page: what to launch, in the order a person decides it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from kernels import DTYPES, operators
from kernels.operator import Preset, Size
from kernels.runtime.request import LAYOUTS, WHAT_IFS, possible_layouts, possible_what_ifs
from kernels.runtime.settings import BLOCK_MAXIMUM, NUM_WARPS, SEED, Settings

from . import state

SHORT = {
    "no_mask": "no mask",
    "floor_grid": "floor grid",
    "other": "other value",
    "stride": "wrong stride",
    "int32": "int32 offsets",
}
SAFE = 2**53 - 1  # the largest whole number that a browser holds exactly


def controls(settings: Settings) -> None:
    """Draws the sidebar; every change goes through the state."""
    st.markdown("#### Triton explorer")
    _operator(settings)
    _sizes(settings)
    _dtype(settings)
    _examples(settings)
    _what_if(settings)
    _more(settings)


def _choice(kind: Any, label: str, name: str, options: list[str], value: str | None, change: Any, **more: Any) -> None:
    """A widget whose value is the state's, whatever the browser held before."""
    key = f"launch.{name}"
    st.session_state[key] = value

    def changed() -> None:
        change(st.session_state[key])

    kind(label, options, key=key, on_change=changed, **more)


def _operator(settings: Settings) -> None:
    titles = {name: operator.title for name, operator in operators().items()}

    def chosen(name: str | None) -> None:
        if name:
            state.start_over({"operator": name})

    _choice(st.selectbox, "Operator", "operator", list(titles), settings.request.operator, chosen, format_func=titles.get)


def _number(size: Size, value: int, place: Any = st, *, maximum: int | None = None) -> None:
    key = f"launch.{size.name}"
    st.session_state[key] = value

    def changed() -> None:
        state.change({size.name: st.session_state[key]})

    place.number_input(
        size.name,
        min_value=-SAFE,
        max_value=SAFE,
        step=1,
        key=key,
        on_change=changed,
        help=f"{size.meaning} From {size.minimum:,} to {maximum or size.maximum:,}.",
    )


def _sizes(settings: Settings) -> None:
    operator, request = settings.request.description, settings.request
    fields = [(size, request.problem[size.name], size.maximum) for size in operator.sizes]
    fields += [(block, request.tiling[block.name], _largest(block)) for block in operator.blocks]
    wide = 1 if len(fields) == 2 else 2
    places = [column for start in range(0, len(fields), wide) for column in st.columns(wide, gap="small")]
    for (size, value, maximum), place in zip(fields, places, strict=False):
        _number(size, value, place, maximum=maximum)


def _largest(block: Size) -> int:
    return BLOCK_MAXIMUM if block.name.startswith("BLOCK") else block.maximum


def _dtype(settings: Settings) -> None:
    def chosen(name: str | None) -> None:
        state.change({"dtype": name}, keep=("program", "step"))

    _choice(st.segmented_control, "dtype", "dtype", list(DTYPES), settings.request.problem.dtype, chosen, required=True)


def _texts(preset: Preset, operator: str) -> dict[str, Any]:
    return {"operator": operator, **preset.sizes, **preset.blocks, "dtype": preset.dtype}


def _examples(settings: Settings) -> None:
    operator, request = settings.request.description, settings.request
    presets = {preset.title: preset for preset in operator.presets}
    here = (request.problem.sizes, request.tiling.blocks, request.problem.dtype)
    active = next((title for title, one in presets.items() if (one.sizes, one.blocks, one.dtype) == here), None)

    def chosen(title: str | None) -> None:
        if title:
            state.start_over(_texts(presets[title], operator.name))

    _choice(st.pills, "Examples", "example", list(presets), active, chosen)
    if active:
        st.caption(presets[active].lesson)


def _what_if(settings: Settings) -> None:
    request = settings.request

    def chosen(name: str | None) -> None:
        state.change({"what_if": name}, keep=("program", "step"))

    possible = list(possible_what_ifs(request))
    active = request.what_if if request.what_if in possible else None
    _choice(st.pills, "What if", "what_if", possible, active, chosen, format_func=SHORT.get)
    if active == "other":
        key = "launch.other"
        st.session_state[key] = request.other
        st.number_input(
            "value of masked lanes",
            key=key,
            on_change=lambda: state.change({"other": st.session_state[key]}, keep=("program", "step")),
        )
    if active:
        st.caption(WHAT_IFS[active][0].upper() + WHAT_IFS[active][1:] + ".")


def _more(settings: Settings) -> None:
    request = settings.request
    with st.expander("Warps, seed, memory layout"):
        first, second = st.columns(2, gap="small")
        _number(NUM_WARPS, request.tiling.num_warps, first)
        _number(SEED, request.seed, second)

        def chosen(name: str | None) -> None:
            state.change({"layout": name}, keep=("program", "step"))

        layouts = list(possible_layouts(request.description))
        _choice(
            st.selectbox,
            "first input",
            "layout",
            layouts,
            request.layout,
            chosen,
            format_func=lambda name: f"{name}: {LAYOUTS[name]}",
        )
