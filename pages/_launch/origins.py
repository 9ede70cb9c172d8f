"""Where an element that was clicked came from: its store, and the loads that fed it."""

from __future__ import annotations

from html import escape

import streamlit as st

from kernels.launch import short
from kernels.runtime.provenance import Origin, Touch
from kernels.runtime.settings import Settings
from viz.words import value_text

from . import tracing
from .state import state

SHOWN = 6


def find(settings: Settings) -> Origin | None:
    """The way of the clicked element, for the pictures to frame what fed it."""
    if settings.element is None:
        return None
    return tracing.origin(settings.request, *settings.element)


def show(settings: Settings, found: Origin | None) -> None:
    """The way of the clicked element, in words."""
    if settings.element is None:
        return
    argument, element = settings.element
    words, forget = st.columns([12, 1])
    words.html(f'<div class="way" data-element="{element}">{_words(found, argument, element)}</div>')
    with forget:
        st.button("×", key="launch.forget", on_click=state.change, args=({"element": None},), help="Forget the element.")


def _words(found: Origin | None, argument: str, element: int) -> str:
    name = f"<b>{escape(short(argument))}[{element:,}]</b>"
    if found is None:
        return f"{name}: its loads cannot be traced here."
    if found.store is None:
        read = f" First loaded by {_touch(found.loads[0])}." if found.loads else ""
        return f"{name} is an input, or no traced program stores it.{read}"
    fed = ", ".join(_load(touch) for touch in found.loads[:SHOWN])
    more = f" and {found.count - SHOWN:,} more" if found.count > SHOWN else ""
    return f"{name} = {_value(found.store)} was stored by {_touch(found.store)}. It was fed by {fed}{more}."


def _touch(touch: Touch) -> str:
    return f"program {touch.program:,}, lane {touch.lane:,}, line {touch.line}"


def _load(touch: Touch) -> str:
    name = short(touch.argument)
    what = f"{escape(name)}[{touch.element:,}] = {_value(touch)}"
    return f"<span class='load'>{what}</span> (line {touch.line}, lane {touch.lane:,})"


def _value(touch: Touch) -> str:
    return "?" if touch.value is None else value_text(touch.value, digits=5)
