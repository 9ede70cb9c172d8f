"""Fields of the sidebar that pages share: whole numbers with their bounds, dtype, operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from kernels import DTYPES, broken
from kernels.errors import joined
from kernels.operator import Parameter, Size
from kernels.runtime.request import Request
from kernels.runtime.settings import NUM_WARPS, SEED, block_size, number_text

from ._html import caption
from ._state import State

SAFE = 2**53 - 1  # the largest whole number that a browser holds exactly
NOTHING: Mapping[str, Any] = {}


def operator(state: State, titles: Mapping[str, str], chosen: str, kept: Mapping[str, Any] = NOTHING) -> None:
    """The choice of an operator; another one starts over, with what is in `kept`, the page's own settings."""
    names, key = list(titles), state.key("operator")

    def changed() -> None:
        state.start_over({**kept, "operator": st.session_state[key]})

    st.selectbox("Operator", names, index=names.index(chosen), key=key, on_change=changed, format_func=titles.get)
    left_out()


def left_out() -> None:
    """A line for every operator's file that cannot be loaded; the others work all the same."""
    for file, reason in broken().items():
        caption(joined(f"Left out: {Path(file).name}", reason))


def number(state: State, size: Size, value: int, place: Any, maximum: int) -> None:
    """A whole number; what is typed out of its bounds is corrected, and that is said."""
    help_text = f"{size.meaning} From {size.minimum:,} to {maximum:,}."
    place.number_input(size.name, -SAFE, SAFE, value, 1, help=help_text, **state.widget(size.name))


def numbers(state: State, fields: Sequence[tuple[Size, int, int]]) -> None:
    """Several (size, value, maximum), two in a row unless there are just two."""
    wide = 1 if len(fields) <= 2 else 2
    places = [column for start in range(0, len(fields), wide) for column in st.columns(wide, gap="small")]
    for (size, value, maximum), place in zip(fields, places, strict=False):
        number(state, size, value, place, maximum)


def parameters(state: State, request: Request, keep: tuple[str, ...] = ()) -> None:
    """The real numbers of the formula, a field each, under the formula; nothing where it has none."""
    values = request.description.values(request.problem)
    if not values:
        return
    caption(request.description.formula)
    for parameter, place in zip(request.description.parameters, st.columns(max(len(values), 2), gap="small"), strict=False):
        _parameter(state, parameter, values[parameter.name], place, keep)


def _parameter(state: State, parameter: Parameter, value: float, place: Any, keep: tuple[str, ...]) -> None:
    """A text, since a browser's field of numbers steps by hundredths and shows 1e-06 as 0."""
    bounds = f"From {number_text(parameter.minimum)} to {number_text(parameter.maximum)}."
    place.text_input(
        parameter.name,
        number_text(value),
        max_chars=40,
        **state.widget(parameter.name, keep),
        help=f"{parameter.meaning} {bounds}",
    )


def sizes_of(request: Request) -> list[tuple[Size, int, int]]:
    """The sizes of a request as fields."""
    return [(size, request.problem[size.name], size.maximum) for size in request.description.sizes]


def blocks_of(request: Request) -> list[tuple[Size, int, int]]:
    """The blocks of a request as fields; Triton's own limits are not bounds here, they are explained."""
    typed = [block_size(block, request.tiling[block.name]) for block in request.description.blocks]
    return [(block, request.tiling[block.name], block.maximum) for block in typed]


def warps_and_seed(state: State, request: Request) -> None:
    """Two fields that few people change."""
    first, second = st.columns(2, gap="small")
    number(state, NUM_WARPS, request.tiling.num_warps, first, NUM_WARPS.maximum)
    number(state, SEED, request.seed, second, SEED.maximum)


def dtype(state: State, request: Request, keep: tuple[str, ...] = ()) -> None:
    """The choice of a dtype."""
    st.segmented_control(
        "dtype",
        list(DTYPES),
        default=request.problem.dtype,
        **state.widget("dtype", keep),
        required=True,
    )


def examples(state: State, request: Request, kept: Mapping[str, Any] = NOTHING) -> None:
    """The operator's examples, and what the one at hand shows; `kept` are the page's own settings, which stay."""
    presets = {preset.title: preset for preset in request.description.presets}
    here = (request.problem.sizes, request.tiling.blocks, request.problem.dtype)
    active = next((title for title, one in presets.items() if (one.sizes, one.blocks, one.dtype) == here), None)
    key = f"{state.key('example')}.{active}"  # what is typed elsewhere chooses and unchooses examples

    def chosen() -> None:
        if st.session_state[key]:
            one = presets[st.session_state[key]]
            texts = {"operator": request.operator, **one.sizes, **one.blocks, "dtype": one.dtype}
            state.start_over({**kept, **texts})

    st.pills("Examples", list(presets), default=active, key=key, on_change=chosen)
    if active:
        st.caption(presets[active].lesson)
