"""The two pictures of the fusion page: bytes on one axis, and the time they take between DRAM and chip."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kernels.measure import verdicts, ways
from kernels.measure.records import Timed
from kernels.operator import Step, Traffic
from pages import _parts
from pages._html import joined
from pages._parts import chart, title
from viz.humps import Hump, Line, humps_figure
from viz.theme import Style
from viz.traffic import Moved, traffic_figure

from . import counted
from .found import Found
from .state import Comparison

BYTES = "every element once per kernel: PyTorch’s counted, the fused kernel’s by the formula"


def draw(comparison: Comparison, found: Found | None, style: Style) -> DeltaGenerator:
    """Bytes, then time. Returns the place of the first title, for `count` to complete."""
    place = st.empty()
    traffic = ways.traffic(comparison.request, comparison.direction)
    theirs, ours = (found.point.way(name) if found else None for name in ("pytorch", "triton"))
    if traffic:
        with place:
            title("Bytes", BYTES)
        chart(traffic_figure(_rows(traffic, theirs, ours), style), "bytes", "Bytes moved, unfused over fused, on one axis")
    if theirs and ours and theirs.kernels and ours.kernels:
        steps = (traffic.unfused or (), traffic.fused) if traffic else ((), ())
        lines = [line(one, one_steps) for one, one_steps in zip((theirs, ours), steps, strict=True)]
        thick = ", thickness = bytes" if any(hump.read is not None for one in lines for hump in one.humps) else ""
        title("Time", f"{found.origin}, one launch each; up = read, down = written{thick}")
        launching = found and verdicts.launch_bound(ours, found.point, found.run.roofs)
        figure = humps_figure(lines, None if launching else _given_back(theirs, ours), style)
        chart(figure, "humps", "Every kernel's way from DRAM to the chip and back, over time")
    elif not found:
        _parts.say("No times: nothing was measured or recorded of exactly this. Bytes need no GPU.")
    return place


def _rows(traffic: Traffic, theirs: Timed | None, ours: Timed | None) -> list[Moved]:
    """PyTorch's steps where they are counted, over the fused kernel's."""
    fused = Moved(_label(traffic.fused), traffic.fused, _dram(ours))
    if traffic.unfused is None:
        return [fused]
    return [Moved(_label(traffic.unfused), traffic.unfused, _dram(theirs), "counted"), fused]


def count(comparison: Comparison, place: DeltaGenerator) -> None:
    """Says beside the formula what the count of the kernel's own accesses says: last, since it may wait for a worker."""
    said = counted.words(comparison)
    if said:
        with place:
            title("Bytes", joined((BYTES, said)))


def _given_back(theirs: Timed, ours: Timed) -> float | None:
    """The time that the fused kernel leaves free; nothing where the samples overlap."""
    if theirs.kernel is None or ours.kernel is None or theirs.kernel.low <= ours.kernel.high:
        return None
    return theirs.kernel.median - ours.kernel.median


def _label(steps: tuple[Step, ...]) -> str:
    return f"{len(steps)} kernels" if len(steps) != 1 else "<b>1 kernel</b>"


def _dram(timed: Timed | None) -> tuple[float, float] | None:
    if timed is None or not timed.dram:
        return None
    return sum(one.read for one in timed.dram), sum(one.written for one in timed.dram)


def line(timed: Timed, steps: tuple[Step, ...]) -> Line:
    """An implementation's kernels as humps, with the formula's steps where there are as many."""
    matched = steps if len(steps) == len(timed.launched) else (None,) * len(timed.launched)
    humps = [
        Hump(step.name if step else kernel.name, kernel.start, kernel.duration, *((step.read, step.written) if step else ()))
        for kernel, step in zip(timed.launched, matched, strict=True)
    ]
    count = len(humps)
    return Line("1 kernel" if count == 1 else f"{count} kernels", humps)
