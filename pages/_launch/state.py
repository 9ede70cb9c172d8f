"""The settings of the launch page: kept in the session, carried by the URL, changed only through `corrected`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import streamlit as st

from kernels.runtime.settings import Settings, corrected, link

# What is shown of a launch means nothing in another launch.
SHOWN = ("program", "step", "lane", "element")
ECHO = 3.0  # seconds; a browser under load sends an event with the URL of some changes ago


def current() -> Settings:
    """The settings of this session; read from the URL at first, and whenever the URL was changed from outside."""
    given = {name: value for name, value in st.query_params.items() if not name.startswith("embed")}
    own = st.session_state.pop("own", False)
    if "settings" not in st.session_state or (given and not own and not _written(given)):
        _take(given)
        renew()
    st.session_state["shown"] = values()
    return st.session_state["settings"]


def notices() -> tuple[str, ...]:
    """What had to be corrected of the last change, a sentence each."""
    return st.session_state.get("notices", ())


def _written(given: dict[str, str]) -> bool:
    """Whether this page wrote that URL: last, or so shortly ago that the browser sent it before it heard of the last one."""
    written = st.session_state.get("written", [])
    return any(given == texts for texts, when in written if when == written[-1][1] or time.monotonic() - when < ECHO)


def write_url() -> None:
    """Puts the settings into the URL."""
    texts = link(st.session_state["settings"])
    written = [one for one in st.session_state.get("written", []) if time.monotonic() - one[1] < ECHO]
    st.session_state["written"] = [*written, (texts, time.monotonic())]
    if dict(st.query_params) != texts:
        st.query_params.from_dict(texts)


def change(texts: Mapping[str, Any], *, keep: tuple[str, ...] = ()) -> None:
    """Changes some settings, given as a link gives them; None takes one back to its default.

    What is shown of the launch is kept only where it is named in `keep`, or where nothing else changes.
    """
    before = link(st.session_state["settings"])
    shown_only = all(name in SHOWN for name in texts)
    after = {name: value for name, value in before.items() if shown_only or name not in SHOWN or name in keep}
    after |= {name: str(value) for name, value in texts.items() if value is not None}
    _own({name: value for name, value in after.items() if not (name in texts and texts[name] is None)})


def typed(name: str, keep: tuple[str, ...] = ()) -> None:
    """Takes over what a person typed or chose in the widget of that name.

    Where something else became of it, or something followed from it, the widgets that do not show what is true are made anew;
    the others are left alone, since the person may be typing on.
    """
    value = st.session_state[key(name)]
    expected = {**st.session_state["shown"], name: value}
    change({name: value}, keep=keep)
    for one, now in values().items():
        if now != expected.get(one):
            renew(one)


def start_over(texts: Mapping[str, Any]) -> None:
    """Takes settings from nothing but these texts: another operator, an example."""
    _own({name: str(value) for name, value in texts.items()})
    renew()


def key(name: str) -> str:
    """The key of the widget of that name; another one after `renew`, which makes it a new widget."""
    made = st.session_state.get("generations", {})
    return f"launch.{name}.{made.get('', 0)}.{made.get(name, 0)}"


def renew(name: str = "") -> None:
    """Makes the widget of that name anew, or all of the page."""
    made = st.session_state.setdefault("generations", {})
    made[name] = made.get(name, 0) + 1


def values() -> dict[str, Any]:
    """What the widgets of the sidebar have to show, by name."""
    request = st.session_state["settings"].request
    return {
        "operator": request.operator,
        **request.problem.sizes,
        **request.tiling.blocks,
        "dtype": request.problem.dtype,
        "what_if": request.what_if or None,
        "other": request.other,
        "num_warps": request.tiling.num_warps,
        "seed": request.seed,
        "layout": request.layout,
    }


def _own(texts: Mapping[str, str]) -> None:
    """Takes a change made on the page, whatever the URL says that comes with it."""
    _take(texts)
    st.session_state["own"] = True


def _take(texts: Mapping[str, str]) -> None:
    settings, said = corrected(texts)
    st.session_state["settings"], st.session_state["notices"] = settings, said
