"""The settings of a page: kept in the session, carried by the URL, changed only through what makes them legal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from kernels.runtime.settings import number_text
from pages import _address

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class State(Generic[Settings]):
    """One page's settings in this session.

    `read` makes legal settings of texts, with a sentence for every correction; `write` makes the texts again; `shows` tells
    what the widgets have to show, by name; `shown` names what of a request is shown, which means nothing in another request.
    """

    page: str
    read: Callable[[Mapping[str, str]], tuple[Settings, tuple[str, ...]]]
    write: Callable[[Settings], dict[str, str]]
    shows: Callable[[Settings], dict[str, Any]]
    shown: tuple[str, ...] = ()

    def current(self) -> Settings:
        """The settings of this session; read from the URL at first, and whenever a person changed the URL."""
        self._follow()
        st.session_state[f"{self.page}.shown"] = self.shows(self.settings)
        return self.settings

    @property
    def settings(self) -> Settings:
        """The settings as they stand."""
        return st.session_state[f"{self.page}.settings"]

    def notices(self) -> tuple[str, ...]:
        """What had to be corrected of the last change, a sentence each."""
        return st.session_state.get(f"{self.page}.notices", ())

    def write_url(self) -> None:
        """Puts the settings into the URL.

        Not in answer to the first event where the URL has no parameters: that would be an entry of its own in the browser's
        history, since the page's script, which completes such an entry, has not arrived there.
        """
        if _address.given() or _address.trail().version > 1:
            _address.write(self.write(self.settings))

    def change(self, texts: Mapping[str, Any], *, keep: tuple[str, ...] = ()) -> None:
        """Changes some settings, given as a link gives them; None takes one back to its default.

        What is shown of the request is kept only where it is named in `keep`, or where nothing else changes.
        """
        self._follow()
        before = self.write(self.settings)
        shown_only = all(name in self.shown for name in texts)
        after = {name: value for name, value in before.items() if shown_only or name not in self.shown or name in keep}
        after |= {name: str(value) for name, value in texts.items() if value is not None}
        self._take({name: value for name, value in after.items() if not (name in texts and texts[name] is None)})

    def widget(self, name: str, keep: tuple[str, ...] = ()) -> dict[str, Any]:
        """What the widget of that name is made with: its key, and the callback that takes over what a person chose in it.

        The callback is told the key: while a page is on its way that makes its widgets anew, events still come from the old
        ones.
        """
        key = self.key(name)
        return {"key": key, "on_change": self._typed, "args": (name, key, keep)}

    def _typed(self, name: str, key: str, keep: tuple[str, ...]) -> None:
        """Takes over what a person typed or chose in the widget of that name and key.

        Where something else became of it, or something followed from it, the widgets that do not show what is true are made
        anew; the others are left alone, since the person may be typing on.
        """
        value = st.session_state[key]
        expected = {**st.session_state[f"{self.page}.shown"], name: value}
        self.change({name: value}, keep=keep)
        for shown, now in self.shows(self.settings).items():
            if now != expected.get(shown):
                self.renew(shown)
        if key != self.key(name):
            self.renew(name)

    def start_over(self, texts: Mapping[str, Any]) -> None:
        """Takes settings from nothing but these texts: another operator, an example."""
        self._follow()
        self._take({name: str(value) for name, value in texts.items()})
        self.renew()

    def key(self, name: str) -> str:
        """The key of the widget of that name; another one after `renew`, which makes it a new widget."""
        made = st.session_state.get(f"{self.page}.generations", {})
        return f"{self.page}.{name}.{made.get('', 0)}.{made.get(name, 0)}"

    def renew(self, name: str = "") -> None:
        """Makes the widget of that name anew, or all of the page."""
        made = st.session_state.setdefault(f"{self.page}.generations", {})
        made[name] = made.get(name, 0) + 1

    def _follow(self) -> None:
        """Takes over the URL where a person set it: before anything else that came with the same event."""
        address = _address.brought()
        if address is not None or f"{self.page}.settings" not in st.session_state:
            self._take(address or {})
            self.renew()

    def _take(self, texts: Mapping[str, str]) -> None:
        settings, said = self.read(texts)
        st.session_state[f"{self.page}.settings"], st.session_state[f"{self.page}.notices"] = settings, said


def request_shows(settings: Any) -> dict[str, Any]:
    """What widgets show of a request: operator, sizes, blocks and the rest."""
    request = settings.request
    return {
        "operator": request.operator,
        **request.problem.sizes,
        **request.tiling.blocks,
        **{name: number_text(value) for name, value in request.description.values(request.problem).items()},
        "dtype": request.problem.dtype,
        "num_warps": request.tiling.num_warps,
        "seed": request.seed,
    }
