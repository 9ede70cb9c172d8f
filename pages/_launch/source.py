"""The kernel with the chosen program's values, and the wrapper that launches it."""

from __future__ import annotations

import streamlit as st

from kernels.runtime.picture import Picture
from kernels.runtime.records import linear
from kernels.runtime.request import Request
from kernels.runtime.settings import Settings
from kernels.runtime.source import source_of
from pages import _panel
from pages._parts import missing, say
from viz.source import source_html
from viz.words import grid_text

from .state import state


def kernel(settings: Settings, picture: Picture) -> None:
    """The kernel's lines, this program's values beside them; a click on a line shows its step."""
    number = linear(picture.chosen, picture.grid)
    help_text = "? = undefined; click a line to step there" if picture.steps else "no values: not traced"
    st.html(f'<div class="title"><b>The kernel, with program {number:,}\'s values</b> <span>{help_text}</span></div>')
    source = source_of(settings.request.launch().kernel)
    here = picture.steps[picture.step].line if settings.step is not None and picture.steps else None
    done = frozenset(place.line for place in picture.steps[: picture.step + 1])
    html = source_html(
        source,
        picture.values,
        here=here,
        done=done if here is not None else None,
        steps=_steps_of_lines(picture),
        notes=_stores(picture),
    )
    clicked = _panel.panel(html, "kernel")
    if clicked is not None and clicked != settings.step:
        state.change({"step": clicked})
        st.rerun()


def _steps_of_lines(picture: Picture) -> dict[int, int]:
    """For every line the step to show when it is clicked: in the turn that is shown where the line runs in it."""
    turns = picture.steps[picture.step].turns if picture.steps else ()
    found: dict[int, int] = {}
    for number, place in enumerate(picture.steps):
        if place.line not in found or place.turns == turns:
            found[place.line] = number
    return found


def _stores(picture: Picture) -> dict[int, str]:
    """Beside a store: how many elements it wrote."""
    found = {}
    for access in picture.accesses_of(picture.chosen):
        if access.kind == "store" and access.line:
            found[access.line] = f"{int((access.live - access.out_of_bounds).sum()):,} written"
    return found


def wrapper(request: Request) -> None:
    """The wrapper and its grid function, with what the grid function gets and returns."""
    operator, launch = request.description, request.launch()
    left, right = st.columns([1.2, 1], gap="large")
    with left:
        if operator.wrapper:
            _panel.panel(source_html(source_of(operator.wrapper), {}), "wrapper")
        else:
            say(missing(operator, "wrapper", "the function that people call"))
    with right:
        meta = ", ".join(f"{name}={value}" for name, value in launch.constants.items())
        if operator.grid:
            _panel.panel(source_html(source_of(operator.grid), {}), "grid-function")
        st.markdown(f"The grid function gets `meta` = `{{{meta}}}` and returns `{grid_text(launch.grid)}`.")
        if operator.wrapper is None:
            return
        st.markdown(
            "The output is allocated *empty*, not with `zeros_like`: every element is written by exactly one program, so "
            "clearing it first would be one more kernel, a fill, and one more pass over the output, for nothing."
        )
