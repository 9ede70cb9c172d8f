"""The button that launches instrumented copies of the kernel, and its progress."""

from __future__ import annotations

import streamlit as st

from kernels.inside.analysis import Analysis
from kernels.inside.schedule import refuse
from kernels.runtime.launch import needed_bytes

from . import look
from .state import Shown

POLL = 0.4


def button(shown: Shown, analysis: Analysis) -> None:
    """Asks the attached GPU; where none is attached, says so."""
    gpu = look.gpu_of(shown)
    if gpu is None:
        st.caption("No such GPU is attached: the kernel is compiled for it, and nothing is launched.")
        return
    reason = _refused(shown, analysis)
    told = look.asked(shown)
    st.button(
        f"Ask the {gpu.name}",
        type="primary",
        width="stretch",
        key="hardware.go",
        disabled=bool(reason) or bool(told and told.waiting),
        help=reason or "Launches copies of the kernel that read the thread number, the multiprocessor and the clock.",
        on_click=look.ask,
        args=(shown, gpu),
    )
    if told and told.waiting:
        _progress(shown)


def _refused(shown: Shown, analysis: Analysis) -> str:
    if not analysis.verdict.launchable:
        return analysis.verdict.reason or "This launch is refused."
    gpu, launch = look.gpu_of(shown), shown.request.launch()
    try:
        refuse(launch.programs, analysis.target)
    except ValueError as error:
        return str(error)
    if gpu and gpu.memory_bytes and needed_bytes(launch) > 0.9 * gpu.memory_bytes:
        return "The tensors do not fit into this GPU's memory."
    return ""


@st.fragment(run_every=POLL)
def _progress(shown: Shown) -> None:
    told = look.asked(shown)
    if told is None or not told.waiting:
        st.rerun()
    st.progress(0.5 if told.threads.state == "done" else 0.0, text=f"asking the GPU, {told.schedule.seconds:.0f} s")
