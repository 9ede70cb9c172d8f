"""A check that runs while the page stays alive: started, heard, cancelled; results are there as they come."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import streamlit as st

from kernels.check import history
from kernels.check.child import CancelledError
from kernels.check.session import Session
from kernels.check.values import Report
from kernels.language import MISSING
from kernels.runtime.device import Gpu
from kernels.runtime.workers import Workers
from kernels.storage.files import UnwritableError
from pages import _shell
from pages._gpus import gpus
from pages._html import caption, literal
from pages._public import public, refusal

from .state import MODES, Settings, state

POLL = 0.4
SETTLES = 0.5  # seconds in which the driver takes back the memory of a process that was ended


class Running:
    """A check in a thread of its own; `report` is there when it is done, `failure` where the check itself broke."""

    def __init__(self, workers: Workers, *, quick: bool) -> None:
        self.report: Report | None = None
        self.failure, self.kept, self.unkept = "", "", ""
        self.started = time.monotonic()
        self._workers = workers
        folder = history.default_folder()
        self.session = Session(quick=quick, turn=self._turn, earlier=lambda key: history.of_card(key, folder))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            report = self.session.run()
            if report.cards:
                self._keep(report)
            self.report = report
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"[:300]

    def _keep(self, report: Report) -> None:
        try:
            self.kept = history.save(report, history.default_folder()).name
        except UnwritableError as error:
            self.unkept = str(error)

    @contextlib.contextmanager
    def _turn(self, gpu: Gpu) -> Iterator[None]:
        """The card is nobody else's: launches of other pages wait, and its worker's process is ended."""
        with self._workers[gpu.worker].turn(self._go_on):
            time.sleep(SETTLES)
            yield

    def _go_on(self) -> None:
        """While the card is somebody else's: whether to wait for it any longer."""
        if self.session.cancelled:
            raise CancelledError

    @property
    def alive(self) -> bool:
        """Whether it goes on."""
        return self.report is None and not self.failure

    def shown(self) -> Report:
        """The report, or what there is of it."""
        return self.report or self.session.report()


def current() -> Running | None:
    """The check that this session started last."""
    return st.session_state.get("check.running")


def controls(settings: Settings) -> None:
    """The sidebar: how much, and the button."""
    st.markdown("#### Triton explorer")
    st.segmented_control(
        "check",
        list(MODES),
        default=settings.mode,
        **state.widget("mode"),
        format_func=lambda mode: MODES[mode],
        required=True,
        help="Quick, ten seconds: launches, right results, GB/s. Full, under a minute: everything, 15 seconds under load.",
    )
    running = current()
    busy = running is not None and running.alive
    found = gpus()
    where = f"on {len(found)} GPUs" if len(found) > 1 else f"on {found[0].name}" if found else "without a GPU"
    st.button(
        literal(f"Check {where}"),
        type="primary",
        width="stretch",
        key="check.go",
        disabled=busy or public(),
        on_click=_start,
        args=(settings.mode == "quick",),
    )
    if busy:
        st.button(
            "Cancel", key="check.cancel", width="stretch", on_click=running.session.cancel, help="What was measured stays."
        )
    if public():
        st.caption(refusal("check"))
    elif not found:
        reason = MISSING or "No GPU is attached that Triton can launch on."
        caption(
            f"{reason} The check says what is missing, compiles for an H200, and runs the operators in Triton's interpreter."
        )


def _start(quick: bool) -> None:
    st.session_state["check.running"] = Running(_shell.workers(), quick=quick)
    state.change({"report": None})


def chooser(settings: Settings, names: dict[str, str]) -> None:
    """Which report is shown: name in the URL to title."""
    shown = settings.report if settings.report in names else next(iter(names))
    st.selectbox(
        "report",
        list(names),
        index=list(names).index(shown),
        **state.widget("report"),
        format_func=lambda name: names.get(name, name),
    )
