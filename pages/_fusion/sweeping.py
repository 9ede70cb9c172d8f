"""A sweep as it is measured, or as it was recorded."""

from __future__ import annotations

import streamlit as st

from kernels.measure import runs, sweep, verdicts, ways
from kernels.measure.records import Point, Run, Timed
from kernels.measure.ways import WAYS
from pages._gpus import chosen_gpu
from pages._parts import chart, say, title
from viz.sweep import Curve, sweep_figure
from viz.theme import Style, plain
from viz.words import seconds_text

from . import found, running
from .state import Comparison, state, with_sizes, write

UNITS = ("speed", "time")


def draw(comparison: Comparison, style: Style) -> None:
    """The sweep along the chosen axis, or a word on how to get one."""
    axis = running.default_axis(comparison)
    if chosen_gpu() is None:
        axis = _choose(comparison, axis)
    there = found.sweep(comparison, axis)
    if there is None:
        say(f"No sweep over **{axis}** was measured or recorded of this operator, dtype, direction and the other settings.")
        _offer(comparison)
        return
    run, origin = there
    left, right = st.columns([5, 1.3], vertical_alignment="bottom")
    with right:
        unit = st.segmented_control(
            "unit", UNITS, default="speed", key="fusion.unit", required=True, label_visibility="collapsed"
        )
    with left:
        title(f"{axis}, swept", f"{origin}: {run.device.name}, {run.made[:10]}; {_unit_words(run, unit)}; click a point")
    _figure(comparison, run, axis, unit, style)
    _chosen_words(comparison, run, axis)


def _offer(comparison: Comparison) -> None:
    """The recorded sweeps of this operator, a click away."""
    for at, run in enumerate(runs.recorded()):
        if run.axis and run.points[0].operator == comparison.request.operator:
            first = run.points[0]
            request = first.request
            if run.axis in request.problem.sizes:
                request = sweep.at(request, run.axis, request.description.measured[run.axis])
            texts = write(Comparison(request, first.direction))
            st.button(f"Recorded: {run.title}", key=f"fusion.offer.{at}", on_click=state.start_over, args=(texts,))


def _choose(comparison: Comparison, axis: str) -> str:
    """Without a GPU: the axes that were recorded."""
    axes = [one for one in sweep.axes(comparison.request) if found.sweep(comparison, one)]
    if len(axes) > 1:
        if st.session_state.get("fusion.shown_axis") not in axes:
            st.session_state["fusion.shown_axis"] = axis if axis in axes else axes[0]
        return st.segmented_control("Sweep over", axes, key="fusion.shown_axis", required=True)
    return axes[0] if axes else axis


def _unit_words(run: Run, unit: str) -> str:
    if unit == "time":
        return "time on the GPU"
    return "TFLOP/s" if _tiles(run) else "bytes that the fused kernel needs, over each one's time"


def _tiles(run: Run) -> bool:
    return run.points[0].request.description.product is not None


def _figure(comparison: Comparison, run: Run, axis: str, unit: str, style: Style) -> None:
    titles = {one.way: one.title for point in run.points for one in point.timed}
    curves = [
        Curve(way, titles[way], [_at(point, axis, way, unit, run) for point in run.points]) for way in WAYS if way in titles
    ]
    reasons = [(sweep.value_at(point.request, axis), _reason(point, run)) for point in run.points]
    gaps = [(value, reason) for value, reason in reasons if reason]
    roof = None
    if unit == "speed" and not _tiles(run) and run.roofs.copy:
        roof = (run.roofs.copy / 1e12, f"copy: {run.roofs.copy / 1e12:.2f} TB/s")
    words = {"time": "seconds", "speed": "TFLOP/s" if _tiles(run) else "TB/s"}[unit]

    def clicked(custom: object) -> None:
        value = int(custom[0] if isinstance(custom, list) else custom)
        state.start_over(with_sizes(comparison, sweep.at(comparison.request, axis, value)))

    figure = sweep_figure(curves, axis, words, style, gaps=gaps, roof=roof, chosen=_rule(comparison, axis), log=unit == "time")
    chart(figure, "sweep", f"Every implementation over {axis}", clicked)


def _rule(comparison: Comparison, axis: str) -> tuple[float, str] | None:
    """Along a block or the warps: what the launch rule takes."""
    rule = comparison.request.description.tiling(comparison.request.problem)
    value = rule.num_warps if axis == "num_warps" else rule.blocks.get(axis)
    return (float(value), f"the launch rule: {value:,}") if value else None


def _at(point: Point, axis: str, way: str, unit: str, run: Run) -> tuple[float, float | None, str]:
    value, timed = sweep.value_at(point.request, axis), point.way(way)
    if timed is None or timed.kernel is None or timed.kernel.median <= 0:
        return float(value), None, ""
    seconds = timed.kernel.median
    drawn, words = (seconds, "") if unit == "time" else _speed(point, seconds, run)
    wrong = verdicts.invalid(timed, point, run.roofs, run.device)
    text = f"<b>{plain(timed.title)}</b>, {axis} {value:,}<br>{seconds_text(seconds)}{words}"
    return float(value), drawn, text + (f"<br>{wrong}" if wrong else "")


def _speed(point: Point, seconds: float, run: Run) -> tuple[float, str]:
    traffic = ways.traffic(point.request, point.direction)
    if _tiles(run):
        rate = traffic.operations / seconds / 1e12
        return rate, f", {rate:.3g} TFLOP/s"
    speed = sum(step.moved for step in traffic.fused) / seconds / 1e12
    return speed, f", {speed:.2f} TB/s"


def _reason(point: Point, run: Run) -> str:
    """Why the fused kernel has no time there, or none that can be."""
    ours: Timed | None = point.way("triton")
    if point.problem or ours is None:
        return point.problem or ""
    impossible = ours.kernel and ours.kernel.median <= 0
    return ours.problem or (verdicts.invalid(ours, point, run.roofs, run.device) or "" if impossible else "")


def _chosen_words(comparison: Comparison, run: Run, axis: str) -> None:
    """Of a sweep over blocks or warps: how far the rule's choice is from the best."""
    rule = _rule(comparison, axis)
    times = {sweep.value_at(point.request, axis): _ours(point) for point in run.points}
    known = {value: seconds for value, seconds in times.items() if seconds}
    if rule is None or not known or known.get(int(rule[0])) is None:
        return
    best, own = min(known, key=known.__getitem__), known[int(rule[0])]
    apart = own / known[best] - 1
    same = best == int(rule[0]) or apart < 0.01
    said = "no other value here is faster by 1 %" if same else f"{best:,} is {apart:.0%} faster ({seconds_text(known[best])})"
    say(f"The launch rule takes **{axis} {int(rule[0]):,}**: {seconds_text(own)}; {said}.")


def _ours(point: Point) -> float | None:
    ours = point.way("triton")
    return ours.kernel.median if ours and ours.kernel and ours.kernel.median > 0 else None
