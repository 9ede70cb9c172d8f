"""The sentence over the fusion page, and the figures under it, each with where it comes from."""

from __future__ import annotations

from html import escape

import streamlit as st

from kernels.measure import verdicts, ways
from kernels.measure.records import Point, Timed
from kernels.operator import Traffic
from pages import _parts
from pages._gpus import chosen_gpu
from pages._parts import fact, facts
from viz.words import bytes_text, seconds_text, seconds_texts

from .found import Found
from .state import Comparison, state

HELP = {
    "speed-up": "Time of PyTorch's kernels over time of the fused ones, on the GPU.",
    "predicted from bytes": "Bytes of PyTorch's operations, counted, over those of the fused kernel: the speed-up if time were "
    "bytes alone.",
    "counters": "DRAM bytes as the GPU itself counted them, unfused and fused.",
    "of copy speed": "Bytes the fused kernels need, over their time, against a device-to-device copy of as many bytes. "
    "A copy writes as much as it reads; what reads more than it writes may be a little faster.",
    "bound by": "Which limit alone would need most of the fused kernel's time: memory, compute, or the overhead of launching.",
    "working set": "All tensors of the fused launch. What fits into the L2 cache need not come from DRAM.",
    "peak memory": "The most that one call allocates at once, results included: unfused and fused.",
}


def headline(comparison: Comparison, found: Found | None) -> None:
    """The sentence, and whose figures these are."""
    gpu = chosen_gpu()
    if found:
        badge, title = found.badge, found.about
    else:
        badge, title = (f"{gpu.name} · not measured yet" if gpu else "no GPU · nothing recorded of this"), ""
    _parts.headline(sentence(comparison, found), badge, alive=bool(found and found.origin == "measured"), title=title)
    for notice in state.notices():
        _parts.say(notice)


def sentence(comparison: Comparison, found: Found | None) -> str:
    """What fusion gives here, in one sentence, its numbers between double asterisks."""
    traffic = ways.traffic(comparison.request, comparison.direction)
    theirs, ours = (found.point.way(name) if found else None for name in ("pytorch", "triton"))
    times = seconds_texts(theirs.kernel.median, ours.kernel.median) if _timed(found, theirs, ours) else []
    if comparison.direction == "module":
        return _module(theirs, ours, times) if times else "A layer with a matmul and this norm inside, forward and back."
    fused = bytes_text(verdicts.total(traffic.fused))
    if times and ours.host and verdicts.launch_bound(ours, found.point, found.run.roofs):
        host = seconds_text(ours.host.median)
        return f"**Launching** takes {host}, the GPU **{times[1]}**: launching decides here, so no speed-up is given."
    if traffic.unfused is None:
        return f"**{fused}** in **{times[1]}**; {times[0]} by PyTorch." if times else f"**{fused}** in one kernel."
    unfused = bytes_text(verdicts.total(traffic.unfused))
    if len(traffic.unfused) == len(traffic.fused):
        said = f"Nothing to fuse: one kernel, **{fused}**, either way"
        return f"{said}; **{times[1]}**, and {times[0]} by PyTorch." if times else f"{said}."
    if not times:
        return f"**{fused}** instead of {unfused}: what fusion saves in bytes."
    return f"**{fused}** instead of {unfused}, in **{times[1]}** instead of {times[0]}."


def _timed(found: Found | None, theirs: Timed | None, ours: Timed | None) -> bool:
    """Whether both have a time, and one that can be true."""
    known = theirs and theirs.kernel and ours and ours.kernel
    return bool(known) and not any(_wrong(found, one) for one in (theirs, ours))


def _module(theirs: Timed, ours: Timed, times: list[str]) -> str:
    peaks = [bytes_text(one.peak_bytes or 0) for one in (ours, theirs)]
    return (
        f"A layer with this norm inside, forward and back: **{times[1]}** instead of {times[0]}, "
        f"**{peaks[0]}** of memory instead of {peaks[1]}."
    )


def figures(comparison: Comparison, found: Found | None) -> None:
    """The figures in a row."""
    traffic = ways.traffic(comparison.request, comparison.direction)
    shown = []
    if found:
        shown += _measured(found, traffic)
    if traffic and traffic.unfused is not None and len(traffic.unfused) != len(traffic.fused):
        ratio = verdicts.predicted(traffic)
        place = 1 if shown else 0
        shown.insert(place, ("predicted from bytes", f"{ratio:.1f}×" if ratio else "-", "", "counted"))
    if found:
        shown += _sizes(found)
    st.html(facts(fact(name, value, more, tag, HELP.get(name, "")) for name, value, more, tag in shown))


def _measured(found: Found, traffic: Traffic | None) -> list[tuple[str, str, str, str]]:
    point, roofs = found.point, found.run.roofs
    theirs, ours = point.way("pytorch"), point.way("triton")
    shown, ratio = [], verdicts.speed_up(point, roofs, found.run.device)
    if ratio:
        shown.append(("speed-up", f"{ratio:.2f}×" if ratio < 10 else f"{ratio:.0f}×", "", found.origin))
    if theirs and ours and theirs.dram and ours.dram:
        sums = [bytes_text(sum(one.read + one.written for one in way.dram)) for way in (theirs, ours)]
        shown.append(("counters", f"{sums[0]} → {sums[1]}", "", found.origin))
    copy = verdicts.copy_speed(point)
    if ours and ours.kernel and traffic and copy and not _wrong(found, ours):
        share = verdicts.moved_by(ours, traffic) / ours.kernel.median / copy
        shown.append(("of copy speed", f"{share:.0%}", "", found.origin))
    bound = verdicts.binding(ours, point, roofs) if ours else None
    if bound:
        shown.append(("bound by", bound.binds, "", found.origin))
    return shown


def _sizes(found: Found) -> list[tuple[str, str, str, str]]:
    point, l2 = found.point, found.run.device.l2_bytes
    shown = []
    theirs, ours = point.way("pytorch"), point.way("triton")
    if point.direction != "forward" and theirs and ours and theirs.peak_bytes and ours.peak_bytes:
        shown.append(("peak memory", f"{bytes_text(theirs.peak_bytes)} → {bytes_text(ours.peak_bytes)}", "", found.origin))
    if l2 and point.direction == "forward":
        size = verdicts.working_set(point)
        times = size / l2
        fits = "fits into L2" if times <= 1 else f"{times:,.0f} times L2" if times >= 10 else f"{times:.1f} times L2"
        shown.append(("working set", bytes_text(size), fits, "formula"))
    return shown


def _wrong(found: Found, timed: Timed) -> str | None:
    return verdicts.invalid(timed, found.point, found.run.roofs, found.run.device)


def _gradients(point: Point) -> None:
    """How far the gradients are from float64: of the Triton kernels, and of PyTorch's own steps."""
    known = [(one, point.way(one)) for one in ("triton", "pytorch")]
    shares = {name: timed.share for name, timed in known if timed and timed.share is not None}
    if "triton" in shares:
        theirs = f"; PyTorch's own steps take {_times(shares['pytorch'])} that" if "pytorch" in shares else ""
        whose = "the furthest of them as a whole takes" if point.direction == "module" else "the worst element takes"
        text = f"Gradients compared with float64: {whose} **{_times(shares['triton'])}** what rounding allows"
        _parts.say(f"{text}{theirs}.", "good" if shares["triton"] <= 1 else "fault")


def _times(share: float) -> str:
    if share < 0.005:
        return "under 1% of"
    return f"{share:.0%} of" if share < 2 else f"{share:.1f} times"


def remarks(found: Found | None) -> None:
    """What makes the figures doubtful, and why the ratio is not the one that bytes predict."""
    if not found:
        return
    point: Point = found.point
    if point.problem:
        _parts.say(f"Not measured: {point.problem}", "fault")
    for timed in point.timed:
        wrong = timed.problem or _wrong(found, timed)
        if wrong:
            _parts.say(f"{timed.title}: {wrong}", "fault")
    if point.direction != "forward":
        _gradients(point)
    for note in point.notes:
        _parts.say(f"Disturbed: {note}", "refusal")
    _why(found)


def _why(found: Found) -> None:
    """Why the measured ratio is not the predicted one, or why none is given."""
    point, roofs = found.point, found.run.roofs
    why, traffic = verdicts.explanation(point, roofs), ways.traffic(point.request, point.direction)
    predicted = verdicts.predicted(traffic) if traffic else None
    if why and predicted and len(traffic.unfused or ()) != len(traffic.fused):
        ratio = verdicts.speed_up(point, roofs, found.run.device)
        asked = f"Why {ratio:.2f}× and not {predicted:.2f}×?" if ratio else "Why no speed-up?"
        st.html(f'<div class="say"><b>{asked}</b> {escape(" ".join(why))}</div>')
