"""What lies one click down on the fusion page: other ways, kernels, roofline, what binds, sweeps."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from kernels.measure import verdicts, ways
from kernels.measure.records import Timed
from pages._html import caption
from pages._parts import chart, say, table, title
from viz.roofline import Dot, Roof, roofline_figure
from viz.theme import Style
from viz.ways import Way, binding_figure, timeline_figure, ways_figure
from viz.words import bytes_text, seconds_text

from . import sweeping, take
from .found import Found
from .state import Comparison

BINDS = {
    "memory": "moving its bytes at the speed of a large copy would take {part} of the time",
    "compute": "the arithmetic alone, at the GPU's rate for it, would take {part} of the time",
    "overhead": "launching kernels takes {part} of the time: the GPU waits for the CPU, or a kernel for its start",
}
GHOSTS = {"twice the compute": (1.0, 2.0), "twice the bandwidth": (2.0, 1.0)}


def tabs(comparison: Comparison, found: Found | None, style: Style) -> None:
    """Tabs; only the open one is drawn."""
    draws: dict[str, Callable[[], None]] = {}
    if found and not found.point.problem:
        draws["Other ways"] = lambda: _ways(found, style)
        if any(one.kernels for one in found.point.timed):
            draws["Kernels on a time axis"] = lambda: _timeline(found, style)
        if ways.traffic(comparison.request, comparison.direction):
            draws["What binds"] = lambda: _binding(found, style)
            draws["Roofline"] = lambda: _roofline(found, style)
    draws["Sweep"] = lambda: sweeping.draw(comparison, style)
    draws["Take it along"] = lambda: take.along(comparison, found)
    _keep_open(tuple(draws))
    opened = st.tabs(list(draws), on_change="rerun", key="fusion.tabs")
    for draw, tab in zip(draws.values(), opened, strict=True):
        if tab.open:
            with tab:
                draw()


def _keep_open(names: tuple[str, ...]) -> None:
    """Keeps the open tab where the list of tabs changes: for Streamlit that is another widget, which opens its first."""
    before = st.session_state.get("fusion.tab_names")
    st.session_state["fusion.tab_names"] = names
    if before not in (None, names) and st.session_state.get("fusion.tabs") in names:
        st.session_state["fusion.tabs"] = st.session_state["fusion.tabs"]


def way(found: Found, timed: Timed) -> Way:
    """An implementation's kernel time as the figures want it."""
    spread = timed.kernel
    wrong = timed.problem or verdicts.invalid(timed, found.point, found.run.roofs, found.run.device) or ""
    if spread is None:
        return Way(timed.way, timed.title, None, problem=wrong or "not measured")
    return Way(timed.way, timed.title, spread.median, spread.low, spread.high, spread.n, wrong)


def _ways(found: Found, style: Style) -> None:
    point = found.point
    traffic = ways.traffic(point.request, point.direction)
    moved = sum(step.moved for step in traffic.fused) if traffic else 0
    floor = point.copy.median if point.copy and moved else None
    said = f"dashed: {seconds_text(floor)}, about the floor: a copy that moves the same {bytes_text(moved)}" if floor else ""
    title("Time on the GPU", f"{found.origin}; median, the line spans 60 % of the samples; L2 cleared before each")
    chart(ways_figure([way(found, one) for one in point.timed], floor, said, style), "ways", "Time of every implementation")
    rows = [_row(found, one) for one in point.timed]
    heads = (
        "",
        "on the GPU",
        "60 % of samples",
        "by events",
        "in a graph",
        "host",
        "first call",
        "kernels",
        "peak memory",
        "rounding",
    )
    st.html(table(heads, rows))
    st.caption(
        "On the GPU: by events, below 100 µs in a graph, where gaps between launches do not count. Host: until the call "
        "returns on the CPU. First call: with what is compiled. Rounding: the worst element's part of what float64 allows; "
        "PyTorch rounds after every step and may exceed what one fused kernel may."
    )


def _row(found: Found, timed: Timed) -> tuple[str, ...]:
    spread = timed.kernel
    if spread is None:
        return (timed.title, "-", timed.problem or "")
    between = f"{seconds_text(spread.low)} to {seconds_text(spread.high)}"
    return (
        timed.title,
        seconds_text(spread.median),
        f"{between}, n = {spread.n}",
        seconds_text(timed.events.median) if timed.events else "-",
        seconds_text(timed.graph.median) if timed.graph else "-",
        seconds_text(timed.host.median) if timed.host else "-",
        seconds_text(timed.compile_seconds) if timed.compile_seconds is not None else "-",
        str(len(timed.launched)) if timed.launched else "-",
        bytes_text(timed.peak_bytes) if timed.peak_bytes is not None else "-",
        f"{timed.share:.0%}"
        if timed.share is not None and timed.share < 10
        else f"{timed.share:.0f} times"
        if timed.share
        else "-",
    )


def _timeline(found: Found, style: Style) -> None:
    ran = [one for one in found.point.timed if one.launched]
    rows = [(way(found, one), [(k.name, k.start, k.duration) for k in one.launched]) for one in ran]
    title("Every kernel, when it ran and how long", f"{found.origin} by the profiler; t1 starts the axis")
    chart(timeline_figure(rows, style), "timeline", "Kernels of every implementation on one time axis")
    lines = [
        (one.title, f"t{at + 1}", kernel.name, seconds_text(kernel.duration))
        for one in found.point.timed
        for at, kernel in enumerate(one.launched)
    ]
    with st.expander(f"All {len(lines)} kernels by name"):
        st.html(table(("", "", "kernel", "ran"), lines))


def _binding(found: Found, style: Style) -> None:
    point, roofs = found.point, found.run.roofs
    rows, words = [], []
    for timed in point.timed:
        bound = verdicts.binding(timed, point, roofs)
        if bound:
            shares = {"memory": bound.memory, "compute": bound.compute, "overhead": bound.overhead}
            rows.append((way(found, timed), shares, bound.binds))
            words.append((timed.title, bound))
    title("What takes the time?", "what each limit alone would need, as a part of the measured time; the largest binds")
    chart(binding_figure(rows, style), "binding", "Shares of memory, compute and overhead")
    ours = next((bound for name, bound in words if name == "Triton"), None)
    if ours and ours.binds in BINDS:
        part = f"{getattr(ours, ours.binds):.0%}"
        say(f"The fused kernel is bound by **{ours.binds}**: {BINDS[ours.binds].format(part=part)}.")
    elif ours:
        say("Nothing alone explains the fused kernel's time: it waits, for memory to answer or for its own instructions.")
    others = "; ".join(f"**{name}**: {meaning.format(part='that part')}" for name, meaning in BINDS.items())
    st.caption(
        f"{others}. That rate is cuBLAS's for matrix products, and elsewhere that of float32, in which sums are made. "
        "What reads more than it writes may be a little faster than a copy: then memory is above 100 %."
    )


def _roofline(found: Found, style: Style) -> None:
    point, roofs = found.point, found.run.roofs
    traffic = ways.traffic(point.request, point.direction)
    ghost = st.pills("And if the GPU had", list(GHOSTS), key="fusion.ghost")
    ran = [one for one in point.timed if one.kernel and one.kernel.median > 0 and traffic.operations]
    moved = [(one, verdicts.moved_by(one, traffic)) for one in ran]
    dots = [dot(one, size, traffic.operations) for one, size in moved if size]
    dtype = verdicts.compute_dtype(point)
    shown, theory = [], roofs.operations.get(dtype)
    if roofs.bandwidth:
        shown.append(Roof("theoretical", roofs.bandwidth, theory))
    if roofs.copy:
        shown.append(Roof("measured", roofs.copy, roofs.operations_measured.get(dtype), "dash"))
    if not shown or not dots:
        say("No roofline can be drawn: the limits of that GPU are not known, or nothing is moved or computed.")
        return
    if ghost:
        bandwidth, compute = GHOSTS[ghost]
        shown.append(Roof(ghost, shown[0].bandwidth * bandwidth, theory * compute if theory else None, "dot"))
    title(
        "Under the roofs of this GPU",
        f"{found.run.device.name}, arithmetic in {dtype}; what is below the slope waits for more than memory",
    )
    chart(roofline_figure(dots, shown, style), "roofline", "Operations a second over operations a byte")
    if ghost:
        say(_ghost_words(ghost, found))
    if roofs.formula:
        caption(f"Theoretical, from the driver's clocks and widths: {roofs.formula}. Measured: a copy, and cuBLAS.")


def dot(timed: Timed, moved: int, operations: int) -> Dot:
    """An implementation under the roofs."""
    seconds = timed.kernel.median
    words = (
        f"{operations:,} operations / {bytes_text(moved)} = {operations / moved:.3g} a byte<br>"
        f"{operations:,} / {seconds_text(seconds)} = {operations / seconds / 1e12:.3g} TFLOP/s<br>"
        f"{bytes_text(moved)} / {seconds_text(seconds)} = {moved / seconds / 1e12:.2f} TB/s"
    )
    return Dot(timed.way, timed.title, operations / moved, operations / seconds, words)


def _ghost_words(ghost: str, found: Found) -> str:
    ours = found.point.way("triton")
    bound = verdicts.binding(ours, found.point, found.run.roofs) if ours else None
    helps = {"twice the compute": "compute", "twice the bandwidth": "memory"}[ghost]
    if bound is None or bound.binds == "neither":
        return f"Whether {ghost} helps cannot be said: no limit alone explains the time."
    if bound.binds == helps:
        share = bound.memory if helps == "memory" else bound.compute
        saved = (share or 0) / 2
        return f"With **{ghost}** the fused kernel could take about {saved:.0%} less time: {helps} binds it."
    return f"**{ghost[0].upper()}{ghost[1:]}** changes nothing for the fused kernel: {bound.binds} binds it, not {helps}."
