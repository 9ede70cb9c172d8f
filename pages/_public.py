"""The switch for a copy that strangers use, `--public`, and what it takes away: folders, files, GPUs, and more than a share."""

from __future__ import annotations

import os
import time
from collections import deque

import streamlit as st

VARIABLE = "TRITON_EXPLORER_PUBLIC"
SESSIONS = 40  # browsers at once; one holds up to 5 MB
TASKS = 6  # launches in the interpreter that a session may start ...
SPAN = 60.0  # ... in so many seconds
ELEMENTS = 2**20  # of the largest tensor of such a launch
SECONDS = 60.0  # of such a launch
REFUSED = {
    "folder": "A public copy shows its own runs and reports only; folders are for a copy of your own.",
    "check": "A public copy checks no GPU; run `python -m kernels check` on your own machine.",
    "measure": "A public copy measures nothing; on a copy of your own this runs on your GPU.",
}


def public() -> bool:
    """Whether this server is for strangers: started with `--public`, or with TRITON_EXPLORER_PUBLIC=1."""
    return os.environ.get(VARIABLE, "0") not in ("", "0")


def refusal(what: str) -> str | None:
    """Why a public copy does not do that, in a sentence; None on any other."""
    return REFUSED[what] if public() else None


def too_large(elements: int) -> str | None:
    """Why a launch of that many elements is too large for a public copy, in a sentence; None where it is not."""
    if not public() or elements <= ELEMENTS:
        return None
    return f"A public copy launches up to {ELEMENTS:,} elements, and this has {elements:,}; the pictures stay."


def too_often() -> str | None:
    """Counts one more task of this session; a sentence where it has started as many as it may within a minute."""
    if not public():
        return None
    started: deque[float] = st.session_state.setdefault("public.started", deque(maxlen=TASKS))
    now = time.monotonic()
    if len(started) == TASKS and now - started[0] < SPAN:
        return f"A public copy starts {TASKS} launches a minute for one visitor; the next in {SPAN - now + started[0]:.0f} s."
    started.append(now)
    return None
