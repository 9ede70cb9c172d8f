"""The sidebar of the hardware page: the launch, and the GPU that it is looked at on."""

from __future__ import annotations

import streamlit as st

from kernels import operators
from kernels.inside.examples import EXAMPLES
from kernels.runtime.settings import NUM_WARPS
from pages._controls import blocks_of, dtype, left_out, number, parameters, sizes_of

from .state import KEPT, SHOWN, Shown, gpu_names, state


def controls(shown: Shown) -> None:
    """Draws the sidebar; every change goes through the state."""
    st.markdown("#### Triton explorer")
    _operator(shown)
    _sizes(shown)
    parameters(state, shown.request, KEPT)
    dtype(state, shown.request, KEPT)
    _examples(shown)
    names = gpu_names()
    st.selectbox(
        "GPU",
        names,
        index=names.index(shown.gpu),
        **state.widget("gpu", SHOWN),
        help="The GPU whose facts are used; the kernel is compiled for it. Without one attached nothing is launched.",
    )


def _operator(shown: Shown) -> None:
    titles = {name: operator.title for name, operator in operators().items()}
    names, key = list(titles), state.key("operator")

    def chosen() -> None:
        state.start_over({"operator": st.session_state[key], "gpu": shown.gpu})

    index = names.index(shown.request.operator)
    st.selectbox("Operator", names, index=index, key=key, on_change=chosen, format_func=titles.get)
    left_out()


def _sizes(shown: Shown) -> None:
    request = shown.request
    fields = [*sizes_of(request), *blocks_of(request), (NUM_WARPS, request.tiling.num_warps, NUM_WARPS.maximum)]
    wide = 1 if len(fields) == 3 else 2
    places = [column for start in range(0, len(fields), wide) for column in st.columns(wide, gap="small")]
    for (size, value, maximum), place in zip(fields, places, strict=False):
        number(state, size, value, place, maximum)


def _examples(shown: Shown) -> None:
    name = shown.request.operator
    found = {example.title: example for example in EXAMPLES.get(name, ())}
    active = next((title for title, one in found.items() if one.request(name) == shown.request), None)
    key = f"{state.key('example')}.{active}"  # what is typed elsewhere chooses and unchooses examples

    def chosen() -> None:
        if st.session_state[key]:
            state.start_over({"operator": name, **found[st.session_state[key]].texts, "gpu": shown.gpu})

    if found:
        st.pills("Examples", list(found), default=active, key=key, on_change=chosen)
    if active:
        st.caption(found[active].lesson)
