"""Questions that ran into their time limit: a session does not ask them again at once, or every click would wait anew."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from kernels.runtime.workers import NoAnswerError

SECONDS, MOST = 60.0, 8
Answer = TypeVar("Answer")


def once(key: str, ask: Callable[[], Answer]) -> Answer:
    """What `ask` gives. Raises its NoAnswerError, and for a minute the same one again; other failures are asked anew."""
    kept: dict[str, tuple[str, float]] = st.session_state.setdefault("unanswered", {})
    words, when = kept.get(key, ("", 0.0))
    if words and time.monotonic() - when < SECONDS:
        raise NoAnswerError(words)
    try:
        return ask()
    except NoAnswerError as error:
        newest = list(kept.items())[-MOST + 1 :]
        st.session_state["unanswered"] = {**dict(newest), key: (str(error), time.monotonic())}
        raise
