"""The tab that shows which sectors of memory each warp's instructions touch."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from kernels.errors import TaskError
from kernels.inside.analysis import Analysis
from kernels.inside.asked import Asked
from kernels.inside.hardware_jobs import counts_job
from kernels.inside.held import Held
from kernels.inside.layouts import understood
from kernels.inside.sector_counters import Counts
from kernels.inside.sectors import Touched, patterns, touched
from kernels.launch import ITEMSIZE, short
from kernels.operator import Numbers
from kernels.runtime.background import Background
from kernels.runtime.device import Gpu
from kernels.runtime.request import Request
from pages import _shell
from pages._parts import chart, fact, facts, say, title
from viz import hardware_sectors
from viz.theme import Style

from . import look
from .pictures import tensor_of
from .state import Shown, state

COUNT_SECONDS, POLL = 180, 0.5
SHORT = {"launched": "as launched", "second": "every second", "transposed": "transposed", "column": "every 32nd"}


def draw(shown: Shown, analysis: Analysis, style: Style) -> None:
    """Sectors asked for and needed by one access of program 0, for every way that the tensor may lie in memory."""
    tensor = tensor_of(shown, analysis)
    if tensor is None or tensor.kind == "sum" or not understood(tensor.layout):
        say("Choose a tensor above that is loaded or stored in a layout that is understood: its addresses are known.")
        return
    launch = shown.request.launch()
    try:
        access = look.access(f"{shown.request!r} {tensor}", shown.request, 0, tensor) if launch.programs else None
    except TaskError as error:
        say(str(error), "fault")
        return
    if access is None:
        say("Program 0 does not come to this access: there is nothing to show.")
        return
    memory = launch.tensors[access.argument]
    width = analysis.width(tensor) or ITEMSIZE[memory.dtype]
    ways = {name: touched(access.offsets, access.mask, memory, tensor, width, name) for name in patterns(memory)}
    pattern = shown.pattern if shown.pattern in ways else "launched"
    one = ways[pattern]
    left, right = st.columns([1.45, 1], gap="medium")
    with left:
        _warp(shown, one, tensor, style)
    with right:
        _ways(ways, pattern, style)
        _facts(one)
        _scalar(shown, analysis, tensor, width, memory.dtype, pattern)
        _counted(shown, analysis)


def _warp(shown: Shown, one: Touched, tensor: Held, style: Style) -> None:
    warps = one.addresses.shape[0]
    warp = min(shown.warp, warps - 1)
    name = short(tensor.argument)
    title(f"What warp {warp} of program 0 asks of {name}", "a square is a sector of 32 bytes, a frame a line of 128")
    key = f"{state.key('warp')}.{warps}"
    if warps > 1:
        st.segmented_control(
            "warp",
            list(range(warps)),
            default=warp,
            key=key,
            on_change=_chosen,
            args=("warp", key),
            format_func=lambda number: f"warp {number}",
            label_visibility="collapsed",
            required=True,
        )
    figure = hardware_sectors.sectors_figure(one.addresses[warp], one.width, tensor.kind == "store", style)
    chart(figure, "sectors", f"Sectors that warp {warp} touches")


def _chosen(name: str, key: str) -> None:
    state.change({name: st.session_state[key]})


def _ways(ways: dict[str, Touched], pattern: str, style: Style) -> None:
    title("Were it laid out otherwise", "sectors of a program; framed: needed")
    key = f"{state.key('pattern')}.{len(ways)}.{'-'.join(ways)}"
    st.segmented_control(
        "pattern",
        list(ways),
        default=pattern,
        key=key,
        on_change=_chosen,
        args=("pattern", key),
        format_func=SHORT.get,
        label_visibility="collapsed",
        required=True,
    )
    choices = [(SHORT[name], way.asked, way.needed) for name, way in ways.items()]
    chart(hardware_sectors.asked_figure(choices, list(ways).index(pattern), style), "asked", "Sectors asked for and needed")


def _facts(one: Touched) -> None:
    ratio = f"{one.asked / one.needed:.2f} times what is needed" if one.needed else ""
    parts = [
        fact(
            "sectors asked for", f"{one.asked:,}", ratio, "modelled", "32-byte sectors, each instruction of a warp for itself."
        ),
        fact("instructions", f"{one.requests:,}", f"{one.width} bytes a lane", "modelled", "Of all warps of the program."),
    ]
    if one.efficiency is not None:
        parts.append(fact("of what is asked for, wanted", f"{one.efficiency:.0%}", "", "modelled"))
    st.html(facts(parts))


def _scalar(shown: Shown, analysis: Analysis, tensor: Held, width: int, dtype: str, pattern: str) -> None:
    """Why the instructions move one element at a time, where they do; shown by compiling the nearest sizes."""
    if pattern != "launched":
        say("Modelled: the same threads, one element at a time, since neighbours in the block are no neighbours in memory.")
        return
    request = shown.request.without_change()
    numbers = [value for value in request.launch().arguments.values() if isinstance(value, int)]
    odd = {name: size for name, size in request.problem.sizes.items() if size % 16 and size in numbers}
    if width > ITEMSIZE[dtype] or not odd:
        return
    near = {name: max(size // 16 * 16, 16) for name, size in odd.items()}
    other = replace(request, problem=replace(request.problem, sizes=Numbers(request.problem.sizes, near)))
    compiled = look.analysis(other, analysis.target)
    wider = max((compiled.width(one) for one in compiled.accesses if one.argument == tensor.argument), default=0)
    if wider > width:
        here, there = (", ".join(f"{name} = {size:,}" for name, size in sizes.items()) for sizes in (odd, near))
        say(
            f"**{here}**: not divisible by 16. Triton compiles divisibility in: without it, it cannot know that several "
            f"elements share an aligned address and a mask, and moves **one at a time**. Compiled for {there}: {wider} bytes."
        )


def _counted(shown: Shown, analysis: Analysis) -> None:
    """The hardware's own counters beside the model, where a GPU is attached and lets itself be read."""
    gpu, request = look.gpu_of(shown), shown.request.without_change()
    if gpu is None or analysis.target.backend != "cuda":
        return
    told: tuple[Request, Background] | None = st.session_state.get("hardware.counts")
    own = told[1] if told and told[0] == request else None
    if own is None or own.state != "done":
        busy = own is not None and own.state == "waiting"
        help_text = "Through Nsight Compute, which must be on the PATH and be let in by the driver; it takes some seconds."
        st.button(
            "Read the GPU's counters", key="hardware.count", on_click=_count, args=(request, gpu), disabled=busy, help=help_text
        )
        if busy:
            _counting()
        elif own is not None:
            say(own.failure or "Cancelled.", "fault")
        return
    found, reason = own.result
    say(_compared(found, request, analysis) if found else reason)


def _count(request: Request, gpu: Gpu) -> None:
    task = Background(_shell.workers()[gpu.worker], counts_job, request, gpu, seconds=COUNT_SECONDS)
    st.session_state["hardware.counts"] = (request, task)


@st.fragment(run_every=POLL)
def _counting() -> None:
    if st.session_state["hardware.counts"][1].state != "waiting":
        st.rerun()
    st.caption("Nsight Compute is counting.")


def _compared(found: Counts, request: Request, analysis: Analysis) -> str:
    tensors = tuple((one, analysis.width(one)) for one in analysis.accesses)
    try:
        model = look.asked_for(f"{request!r} {analysis.target}", request, tensors)
    except TaskError as error:
        model = Asked(why_not=str(error))
    parts = []
    for kind, counted in (("load", found.load_sectors), ("store", found.store_sectors)):
        told: Touched | None = getattr(model, kind)
        beside = f"the model says {told.asked:,}" if told else f"the model cannot tell ({model.why_not})"
        parts.append(f"all {kind}s asked for **{counted:,}** sectors, {beside}")
    return f"The GPU's counters, of the whole launch (measured): {'; '.join(parts)}."
