"""What a worker works out for the fusion page after it is drawn: PyTorch's bytes at sizes whose count does not ship."""

from __future__ import annotations

import importlib.util

import streamlit as st

from kernels.errors import TaskError, joined
from kernels.measure import sweep, ways
from kernels.measure.jobs import fitting_job
from kernels.measure.point import Task
from kernels.runtime.request import Request
from kernels.traffic.jobs import count_job
from kernels.traffic.known import KNOWN, key
from pages import _shell
from pages._gpus import chosen_gpu
from pages._parts import say

from . import found, running
from .state import Comparison

SECONDS, MOST_OTHERS = 60.0, 400
UNCOUNTED, FITTING = "fusion.uncounted", "fusion.fitting"
NO_TORCH = "PyTorch is not installed here, and its steps are counted with it: the bytes of the examples alone are known"


def words(comparison: Comparison) -> None:
    """Why PyTorch's bytes are not there, or that they will be."""
    missing = [one for one in _shown(comparison) if KNOWN.get(one) is None]
    if not missing:
        return
    reasons = [reason for one in missing if (reason := _failures().get(key(one)))]
    say(joined(f"PyTorch’s steps are not counted: {reasons[0]}") if reasons else _expected())


def _expected() -> str:
    return "The bytes of PyTorch’s steps are being counted." if _able() else joined(NO_TORCH)


def arrive(comparison: Comparison) -> None:
    """Asks for what is shown and not known, after the page is drawn, and draws it again; a click meanwhile comes first."""
    failures = _failures()
    wanted = {key(one): one for one in _wanted(comparison) if KNOWN.get(one) is None and key(one) not in failures}
    if wanted and _able():
        st.session_state[UNCOUNTED] = failures | _counted(wanted)
        st.rerun()
    if _fits(comparison):
        st.rerun()


def fitting(comparison: Comparison, free: int) -> Request | None:
    """The largest size that fits; None where there is none, or where it is not worked out yet."""
    asked = (comparison.request, comparison.direction, free)
    known, smaller = st.session_state.get(FITTING, (None, None))
    if known != asked:
        st.session_state[FITTING] = (None, asked)
        return None
    return smaller


def _failures() -> dict[str, str]:
    """Why requests could not be counted, by their keys."""
    return st.session_state.get(UNCOUNTED, {})


def _able() -> bool:
    return importlib.util.find_spec("torch") is not None


def _shown(comparison: Comparison) -> tuple[Request, ...]:
    """Whose bytes are shown: none for a module, of which nothing is known."""
    if comparison.request.description.traffic is None or comparison.direction == "module":
        return ()
    return ways.passes(comparison.request, comparison.direction)


def _wanted(comparison: Comparison) -> list[Request]:
    """What is shown, the points of this session's runs, and those of the sweep that is offered."""
    pairs = [(point.request, point.direction) for run in found.measured() for point in run.points]
    gpu = chosen_gpu()
    if gpu is not None:
        axis = running.default_axis(comparison)
        tasks = sweep.tasks(Task(comparison.request, comparison.direction), axis, gpu.target)
        pairs += [(task.request, task.direction) for task in tasks]
    others = [part for request, direction in pairs for part in ways.passes(request, direction)]
    return [*_shown(comparison), *others[:MOST_OTHERS]]


def _counted(wanted: dict[str, Request]) -> dict[str, str]:
    """Counts all of them in one task, and keeps the counts; returns why there is none, by key."""
    try:
        counts = _shell.workers()["interpret"].call(
            count_job, tuple(wanted.values()), seconds=SECONDS, checkpoint=lambda: st.session_state.get("entered")
        )
    except TaskError as error:
        return dict.fromkeys(wanted, str(error))
    failures = {}
    for (name, request), count in zip(wanted.items(), counts, strict=True):
        if isinstance(count, str):
            failures[name] = count
        else:
            KNOWN.keep(request, count)
    return failures


def _fits(comparison: Comparison) -> bool:
    """Works out the largest size that fits, where the sidebar has asked for it; whether there is one now."""
    known, asked = st.session_state.get(FITTING, (None, None))
    if known is not None or asked is None or asked[:2] != (comparison.request, comparison.direction) or not _able():
        return False
    try:
        smaller = _shell.workers()["interpret"].call(
            fitting_job, *asked, seconds=SECONDS, checkpoint=lambda: st.session_state.get("entered")
        )
    except TaskError:  # it is asked for again when the page is drawn again
        return False
    st.session_state[FITTING] = (asked, smaller)
    return smaller is not None
