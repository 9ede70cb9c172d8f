"""Where the figures on the page come from: measured here in this session, saved by it, or a recorded run that ships."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import streamlit as st

from kernels.measure import runs
from kernels.measure.campaign import Campaign
from kernels.measure.records import Point, Run
from kernels.measure.sweep import ALL_SIZES
from kernels.operator import Numbers

from .state import Comparison


@dataclass(frozen=True)
class Found:
    """A point and the run it is of; `origin` is "measured" on this machine just now, or "recorded"."""

    point: Point
    run: Run
    origin: str

    @property
    def badge(self) -> str:
        """What the page says beside its sentence."""
        when = self.run.made[:10] if self.origin == "recorded" else self.run.made[11:16] + " UTC"
        return f"{self.run.device.name} · {self.origin} {when}"

    @property
    def about(self) -> str:
        """Device, date, versions and method, for whoever asks."""
        versions = ", ".join(f"{name} {version}" for name, version in self.run.versions.items())
        return f"{self.run.device.name}, {self.run.made}, {versions}. {self.run.method}"


def campaign() -> Campaign | None:
    """The campaign of this session, whatever its state."""
    return st.session_state.get("fusion.campaign")


def measured() -> list[Run]:
    """What this session has measured, the latest first."""
    current = campaign()
    done = st.session_state.get("fusion.done", [])
    return ([current.run()] if current and current.points else []) + done


def find(comparison: Comparison) -> Found | None:
    """The figures of exactly this comparison: the latest measured, else recorded; whole ones before a sweep's."""
    for origin, among in (("measured", measured()), ("recorded", runs.recorded())):
        points = [(point, run) for point, run in _points(among) if _same(point, comparison)]
        whole = [one for one in points if any(timed.kernels for timed in one[0].timed)]
        if points:
            return Found(*(whole or points)[0], origin)
    return None


def sweep(comparison: Comparison, axis: str) -> tuple[Run, str] | None:
    """The sweep along an axis that the comparison lies on: measured, else recorded."""
    for origin, among in (("measured", measured()), ("recorded", runs.recorded())):
        for run in among:
            if run.axis == axis and run.points and _along(run.points[0], comparison, axis):
                return run, origin
    return None


def recorded_points() -> list[tuple[Point, Run]]:
    """The recorded points that are no sweep's: what can be looked at without a GPU."""
    return [(point, run) for point, run in _points(runs.recorded()) if run.axis is None]


def _points(among: Iterable[Run]) -> Iterator[tuple[Point, Run]]:
    return ((point, run) for run in among for point in run.points)


def _same(point: Point, comparison: Comparison) -> bool:
    request = comparison.request
    return (
        (point.operator, point.dtype, point.direction) == (request.operator, request.problem.dtype, comparison.direction)
        and Numbers(point.sizes) == request.problem.sizes
        and Numbers(point.blocks) == request.tiling.blocks
        and point.num_warps == request.tiling.num_warps
        and Numbers(point.parameters) == request.problem.parameters
    )


def _along(point: Point, comparison: Comparison, axis: str) -> bool:
    """Whether only the axis differs, and along a size what the launch rule makes of it."""
    request = comparison.request
    alike = (point.operator, point.dtype, point.direction) == (request.operator, request.problem.dtype, comparison.direction)
    alike = alike and Numbers(point.parameters) == request.problem.parameters
    if not alike or axis == ALL_SIZES:
        return alike
    ours = request.problem.sizes
    theirs = dict(point.sizes)
    if axis not in ours:
        ours = {**ours, **request.tiling.blocks, "num_warps": request.tiling.num_warps}
        theirs |= {**point.blocks, "num_warps": point.num_warps}
    return all(value == ours[name] for name, value in theirs.items() if name != axis)
