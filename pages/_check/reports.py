"""Which reports there are, and the one that is shown."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from kernels.check import history
from kernels.check.values import Report
from kernels.storage.codec import UnreadableError
from pages._parts import headline, say

from . import running
from .state import LATEST, RECORDED, Settings, state

MOST = 20


def names() -> dict[str, str]:
    """The names of reports as they stand in the URL, with what a person reads."""
    # Always the same words: Streamlit tells options apart by what is shown of them.
    found = {LATEST: "this session's, or recorded"}
    for name, one in _recorded().items():
        count = f"{len(one.cards)} × " if len(one.cards) > 1 else ""
        found[name] = f"recorded: {count}{one.cards[0].name.removeprefix('NVIDIA ')}, {one.made[:10]}" if one.cards else name
    for path, summary in history.summaries(history.default_folder())[0][:MOST]:
        title = f"{summary.made[:16].replace('T', ' ')} {summary.names[0] if summary.names else ''}"
        found[path.name] = title if title not in found.values() else f"{title}, {path.stem}"
    if (kept := state.settings.report) not in found:
        found[kept] = kept
    return found


def _recorded() -> dict[str, Report]:
    """The shipped reports by their names in the URL: recorded, recorded-2, ..."""
    return {f"{RECORDED}-{place}" if place > 1 else RECORDED: one for place, one in enumerate(history.recorded(), 1)}


def shown(settings: Settings) -> Report | None:
    """The report that is chosen: this session's, else a recorded one; None where there is neither."""
    if settings.report == LATEST:
        now = running.current()
        return now.shown() if now else next(iter(history.recorded()), None)
    if settings.report in _recorded():
        return _recorded()[settings.report]
    try:
        return history.load(history.default_folder() / settings.report)
    except UnreadableError as error:
        say(str(error), "refusal")
        return None


def empty() -> Report:
    """A report of nothing."""
    return Report("", (), ())


def introduction() -> None:
    """What the page is for, before anything was checked."""
    headline(
        "**Does Triton work on this machine**, is it right, and is it as fast as it should be?", "not checked yet", alive=False
    )
    say(
        "Press the button on the left: every stage is tried, from the driver to fifteen seconds under load, "
        "and the first line says what it amounts to."
    )
    say("Or paste an error message below: known failures are recognised, each with its cause and what to do.")


def live(show: Callable[[], None]) -> None:
    """Draws, and while a check runs draws again and again; when it ends the whole page once."""
    now = running.current()
    if now is None or not now.alive:
        show()
        return

    @st.fragment(run_every=running.POLL)
    def again() -> None:
        if not now.alive:
            st.rerun()
        show()

    again()
