"""Whose the address is that comes with an event: a person's, or an echo of one that this session wrote."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from urllib.parse import parse_qsl

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

MOST = 1000  # addresses on their way; Streamlit drops a browser that has 500 messages waiting


class Trail:
    """The addresses that a browser may hold, in the order in which it gets them.

    Messages reach the browser in the order in which they were sent, and its events come back in order, each with the address
    that the browser held: so an echo is never older than the echo before it. An address that is not among those sent since
    then was set by a person, by Back, Forward or a link. Where an address was sent twice, the earlier one is taken for the
    echo: an address may be taken for an echo wrongly, never for a person's.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._sent: list[dict[str, str]] = []
        self._event: object = None
        self.version = 0

    def is_all(self, address: Mapping[str, str]) -> bool:
        """Whether no other address may be on its way to the browser."""
        return all(one == address for one in self._sent)

    def send(self, address: Mapping[str, str]) -> None:
        """Notes an address before it is sent."""
        with self._lock:
            self._sent = [*self._sent, dict(address)][-MOST:]

    def is_new(self, event: object) -> bool:
        """Whether nothing has been asked about that event."""
        return event is None or event is not self._event

    def is_echo(self, address: Mapping[str, str]) -> bool:
        """Whether the browser may have that address from this session."""
        return address in self._sent

    def follow(self, event: object, address: Mapping[str, str], version: int) -> bool:
        """Notes what came with an event; False where another event was followed since that version, which changes nothing."""
        with self._lock:
            if version != self.version:
                return False
            self._event, self.version = event, version + 1
            if address in self._sent:
                self._sent = self._sent[self._sent.index(address) :]
            elif address:
                self._sent = [*self._sent, dict(address)]
            return True


def trail() -> Trail:
    """The trail of this session."""
    return st.session_state.setdefault("address.trail", Trail())


def given() -> dict[str, str]:
    """The parameters that came with this event, without Streamlit's own."""
    pairs = parse_qsl(get_script_run_ctx().query_string, keep_blank_values=True)
    return {name: value for name, value in pairs if not name.startswith("embed")}


def brought() -> dict[str, str] | None:
    """The address that a person set, once for every event; None where it is an echo, or says nothing.

    A browser tells Back and Forward by a flag. An event that overtakes that one loses the flag and keeps the address, which
    the trail knows. The event is known by what the browser sent about itself, an object of its own in every message.
    """
    context = get_script_run_ctx()
    event, address = context.context_info, given()
    while True:
        known = trail()
        version = known.version
        if not known.is_new(event):
            return None
        person = address if context.is_history_navigation or (address and not known.is_echo(address)) else None
        _checkpoint()
        if known.follow(event, address, version):
            return person


def write(address: Mapping[str, str]) -> None:
    """Puts an address into the browser, unless it holds that one and no other is on its way."""
    known = trail()
    if given() == address and known.is_all(address):
        return
    known.send(address)
    st.query_params.from_dict(dict(address))


def _checkpoint() -> None:
    """Ends this run where a newer event has come: reading the session's state is where Streamlit stops a stale run."""
    st.session_state.get("address.trail")
