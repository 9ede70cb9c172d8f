"""The sidebar of the compiler page: what to compile, for which target, and what to compare it with."""

from __future__ import annotations

from typing import Any

import streamlit as st

from kernels import operators
from kernels.runtime.device import attached
from kernels.runtime.settings import NUM_WARPS
from pages import _controls

from .state import CompilerSettings, choices_of, differences, kept, number_of, state, suggestion, targets

KNOWN_AS = {
    "sm_75": "Turing, T4",
    "sm_80": "Ampere, A100",
    "sm_86": "Ampere, RTX 30",
    "sm_89": "Ada, L4, RTX 40",
    "sm_90": "Hopper, H100",
    "sm_100": "Blackwell, B200",
    "sm_103": "Blackwell, B300",
    "sm_120": "Blackwell, RTX 50",
    "gfx90a": "AMD CDNA 2, MI250",
    "gfx942": "AMD CDNA 3, MI300",
    "gfx950": "AMD CDNA 4, MI355",
}
KEPT = ("line",)


def controls(settings: CompilerSettings) -> None:
    """Draws the sidebar; every change goes through the state."""
    request, stays = settings.request, kept(settings)
    st.markdown("#### Triton explorer")
    titles = {name: one.title for name, one in operators().items()}
    _controls.operator(state, titles, request.operator, stays)
    _target(settings)
    _controls.numbers(state, _controls.sizes_of(request) + _controls.blocks_of(request))
    _controls.parameters(state, request, KEPT)
    _controls.dtype(state, request, KEPT)
    _controls.number(state, NUM_WARPS, request.tiling.num_warps, st, NUM_WARPS.maximum)
    _compare(settings)
    _controls.examples(state, request, stays)


def _label(name: str) -> str:
    here = next((gpu.name for gpu in attached() if gpu.target.name == name), None)
    return f"{name} · {here or KNOWN_AS.get(name, 'GPU')}"


def _target(settings: CompilerSettings) -> None:
    names = list(targets())
    st.selectbox(
        "Target",
        names,
        index=names.index(settings.target),
        **state.widget("target", KEPT),
        format_func=_label,
        help="The kind of GPU to compile for. It need not be here: Triton compiles for any of them.",
    )


def _compare(settings: CompilerSettings) -> None:
    request = settings.request
    options, key = list(differences(request)), state.key("differs")

    def chosen() -> None:
        name = st.session_state[key]
        by = suggestion(request, settings.target, name) if name else None
        state.change({"differs": name, "by": by}, keep=KEPT)
        state.renew("by")

    first, second = st.columns([1.4, 1], gap="small")
    first.selectbox(
        "Compare with",
        options,
        index=options.index(settings.differs) if settings.differs else None,
        key=key,
        on_change=chosen,
        placeholder="nothing",
        help="A second state beside this one that differs in one thing.",
    )
    if settings.differs:
        _value(settings, second)


def _value(settings: CompilerSettings, place: Any) -> None:
    size = number_of(settings.request, settings.differs)
    options = state.widget("by", KEPT)
    if size:
        safe = _controls.SAFE
        help_text = f"{size.meaning} From {size.minimum:,} to {min(size.maximum, safe):,}."
        place.number_input("its value", -safe, safe, int(settings.by), 1, help=help_text, **options)
    else:
        values = list(choices_of(settings.differs))
        place.selectbox("its value", values, index=values.index(settings.by), **options)
