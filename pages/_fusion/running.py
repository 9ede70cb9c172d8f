"""Measuring from the page: one comparison or a sweep, its progress, stopping it, saving what it gave."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from kernels.inside.fits import extents
from kernels.language import MISSING
from kernels.measure import counters, memory, runs, sweep, ways
from kernels.measure.campaign import Campaign
from kernels.measure.point import Task
from kernels.runtime.device import DEFAULT_TARGET, Gpu, find_target
from kernels.runtime.limits import illegal, refusal
from pages import _shell
from pages._gpus import chosen_gpu, picker
from pages._html import caption, literal
from pages._parts import say
from pages._public import refusal as refusal_of
from viz.words import bytes_text, seconds_text

from . import arriving, found
from .state import Comparison, state, with_sizes

POLL = 0.5
BRIEF_WAYS = ("pytorch", "library", "triton")
SWEEP_HELP = (
    "Measures at many values of one size, block, or of the warps; without torch.compile, which compiles for seconds at each."
)


def buttons(comparison: Comparison) -> None:
    """What can be started here, or why nothing can."""
    gpu = chosen_gpu()
    if gpu is None:
        reason = refusal_of("measure") or MISSING or "No GPU is attached: recorded runs are shown."
        st.button("Measure", disabled=True, width="stretch", help=reason, key="fusion.none")
        st.caption(reason)
        return
    picker()
    if busy():
        _progress()
        return
    task = Task(comparison.request, comparison.direction)
    fits = _memory(comparison, gpu)
    label, count, refused = f"Measure on {gpu.name}", _counters(gpu), bool(refusals(comparison))
    st.button(
        label,
        type="primary",
        width="stretch",
        key="fusion.go",
        disabled=not fits or refused,
        on_click=_start,
        args=(gpu, (task,), None, count),
    )
    _sweeping(comparison, task, gpu, fits)
    _save()


def refusals(comparison: Comparison) -> list[str]:
    """Why Triton or the GPU would refuse the fused kernel, and what is nearest, a sentence each."""
    gpu, request = chosen_gpu(), comparison.request
    target, tiling = gpu.target if gpu else find_target(DEFAULT_TARGET), request.tiling
    given = {**tiling.blocks, "num_warps": tiling.num_warps}
    found = [
        f"{name} {given[name]:,} is refused: {target.name} and Triton take powers of two, the nearest "
        f"{' or '.join(f'**{option:,}**' for option in options)}."
        for name, options in illegal(extents(request), tiling.num_warps, target).items()
    ]
    beyond = refusal(ways.request_of(request, comparison.direction).launch(), target)
    return found or ([beyond] if beyond else [])


def busy() -> bool:
    """Whether this session is measuring."""
    current = found.campaign()
    return current is not None and current.state == "running"


def _counters(gpu: Gpu) -> bool:
    reason = counters.missing()
    help_text = reason or "Nsight Compute runs every kernel once more, in a process of its own; half a minute."
    return st.checkbox("with hardware counters", key="fusion.counters", disabled=bool(reason), help=help_text) and not reason


def _memory(comparison: Comparison, gpu: Gpu) -> bool:
    """Whether it fits into the GPU; if not, what would."""
    needed, there = memory.needed_bytes(comparison.request, comparison.direction), gpu.memory_bytes
    if there is None or needed <= there * 0.95:
        return True
    st.caption(f"It needs about {bytes_text(needed)}, and the GPU has {bytes_text(there)}.")
    smaller = arriving.fitting(comparison, int(there * 0.95))
    if smaller:
        changed = {name: value for name, value in smaller.problem.sizes.items() if value != comparison.request.problem[name]}
        words = ", ".join(f"{name} {value:,}" for name, value in changed.items())
        texts = with_sizes(comparison, smaller)
        st.button(f"Largest that fits: {words}", key="fusion.fit", on_click=state.start_over, args=(texts,), width="stretch")
    return False


def _sweeping(comparison: Comparison, task: Task, gpu: Gpu, fits: bool) -> None:
    axes = sweep.axes(task.request)
    if st.session_state.get("fusion.axis") not in axes:
        st.session_state["fusion.axis"] = default_axis(comparison)
    axis = st.selectbox("Sweep", axes, key="fusion.axis", help=SWEEP_HELP)
    wanted = sweep.tasks(replace(task, ways=BRIEF_WAYS), axis, gpu.target)
    about = f"{len(wanted)} points, about {seconds_text(sweep.seconds(wanted))}"
    st.button(
        f"Sweep: {about}",
        key="fusion.sweep",
        width="stretch",
        on_click=_start,
        args=(gpu, wanted, axis, False),
        disabled=not fits and axis not in task.request.problem.sizes,
    )


def default_axis(comparison: Comparison) -> str:
    """The axis that is swept or shown: what was chosen, else one that has a sweep, the last size before others; else that."""
    axes = sweep.axes(comparison.request)
    for key in ("fusion.axis", "fusion.shown_axis", "fusion.swept"):
        if st.session_state.get(key) in axes:
            return st.session_state[key]
    last = list(comparison.request.problem.sizes)[-1]
    preferred = [axis for axis in (sweep.ALL_SIZES, last, *axes) if axis in axes]
    return next((axis for axis in preferred if found.sweep(comparison, axis)), last)


def _start(gpu: Gpu, tasks: tuple[Task, ...], axis: str | None, count: bool) -> None:
    before = found.campaign()
    if before is not None and before.points:
        st.session_state["fusion.done"] = [before.run(), *st.session_state.get("fusion.done", [])]
    worker = _shell.workers()[gpu.worker]
    st.session_state["fusion.campaign"] = Campaign(worker, gpu, tasks, axis, counters=count)
    if axis:
        st.session_state.update({"fusion.tabs": "Sweep", "fusion.swept": axis})


@st.fragment(run_every=POLL)
def _progress() -> None:
    current = found.campaign()
    if current is None or current.state != "running":
        st.rerun()
    campaign, points = st.session_state.get("fusion.seen", (None, 0))
    if campaign is not current or points != len(current.points):
        st.session_state["fusion.seen"] = (current, len(current.points))
        if current.points:
            st.rerun()
    many = f", point {len(current.points) + 1} of {len(current.tasks)}" if len(current.tasks) > 1 else ""
    st.progress(current.share(), text=f"measuring{many}, {current.seconds:.0f} s")
    st.button("Stop and keep what is there", key="fusion.stop", on_click=current.stop, width="stretch")


def said(comparison: Comparison) -> None:
    """What would be refused, and how the last campaign ended, where that is not plain from its figures."""
    for line in refusals(comparison):
        say(line, "refusal")
    current = found.campaign()
    if current is None:
        return
    if current.state == "failed":
        say(f"Nothing was measured: {current.problem}", "fault")
    if current.state == "stopped":
        say(f"Stopped; {len(current.points)} of {len(current.tasks)} points are kept.")
    if current.uncounted:
        say(f"No hardware counters: {current.uncounted}", "refusal")


def _save() -> None:
    current = found.campaign()
    if current is None or not current.points:
        return
    saved, path, wrong = st.session_state.get("fusion.saved", (None, "", ""))
    if saved is current and path:
        caption(f"Saved as {path}")
        return
    what = current.run().title
    st.button("Save this run", key="fusion.save", on_click=_write, args=(current,), width="stretch", help=literal(what))
    if saved is current:
        caption(wrong)


def _write(current: Campaign) -> None:
    try:
        path = runs.keep(current.run(), runs.folder_of(st.session_state.get("runs.folder")))
        st.session_state["fusion.saved"] = (current, str(path), "")
    except OSError as error:
        wrong = f"Not saved. {error} The folder is chosen on the Runs page."
        st.session_state["fusion.saved"] = (current, "", wrong)
