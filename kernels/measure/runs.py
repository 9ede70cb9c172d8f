"""Runs as files: one self-describing JSON file each, written so that none is lost, read so that no bad one hurts."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from .. import find, operators
from ..launch import DTYPES
from ..operator import Parameter
from ..runtime.device import Gpu
from ..runtime.settings import BLOCK_MAXIMUM, NUM_WARPS
from ..storage import codec, files, folders
from ..storage.codec import UnreadableError
from ..storage.files import UnwritableError
from . import ways
from .records import Device, Point, Roofs, Run
from .sweep import ALL_SIZES, axes
from .timing import METHOD

SHIPPED = Path(__file__).parents[1] / "recorded"
RECORDED = SHIPPED / "runs"


def default_folder() -> Path:
    """Where runs are kept: $TRITON_EXPLORER_RUNS, else the user's data folder."""
    return folders.own("TRITON_EXPLORER_RUNS", "runs")


def folder_of(text: str | None) -> Path:
    """The folder that a person typed, else the default one."""
    return files.place(text) if text and text.strip() else default_folder()


def now() -> str:
    """The time as runs have it: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def run_of(
    points: Sequence[Point], gpu: Gpu, roofs: Roofs, versions: Mapping[str, str], axis: str | None = None, made: str = ""
) -> Run:
    """Points as a run, made now unless told when; the driver's version is among `versions`."""
    return Run(made or now(), device_of(gpu), dict(versions), METHOD, tuple(points), roofs, axis, title_of(points, axis))


def device_of(gpu: Gpu) -> Device:
    """What a run keeps of a GPU."""
    return Device(gpu.name, gpu.uuid, gpu.target.name, gpu.multiprocessors, gpu.memory_bytes, gpu.l2_bytes)


def title_of(points: Sequence[Point], axis: str | None) -> str:
    """What a run measured, in a few words."""
    if not points:
        return "nothing"
    first = points[0]
    fixed = [f"{name} {value:,}" for name, value in first.sizes.items() if name != axis and axis != ALL_SIZES]
    what = [find(first.operator).title, first.direction, first.dtype, *([f"{axis} swept"] if axis else [])]
    return ", ".join(what + fixed)


def save(run: Run, folder: Path) -> Path:
    """Writes the run into a new file of the folder; raises UnwritableError where it cannot be written."""
    title = f"{run.made[:19].replace(':', '')}-{run.device.name}-{run.title}"
    return files.new_file(folder, title, codec.encoded(run))


def keep(run: Run, folder: Path) -> Path:
    """Saves a run for a person of the app, whose runs never mix with those that ship; raises UnwritableError."""
    if folders.within(folder, SHIPPED):
        raise UnwritableError(f"{files.shown(folder)} holds what ships with the explorer: choose another folder.")
    return save(run, folder)


def deletable(path: Path) -> bool:
    """Whether the app may delete the file: it lies in this person's own folder of runs, and does not ship."""
    return folders.within(path.parent, default_folder()) and not folders.within(path.parent, SHIPPED)


def load(path: Path) -> Run:
    """The run in a file; raises UnreadableError, with its name and one reason, for anything else."""
    return folders.load(path, parsed)


def parsed(content: bytes | str, name: str) -> Run:
    """The run that a file's content describes; raises UnreadableError for anything else."""
    run = codec.record(Run, content, name, "run")
    for at, point in enumerate(run.points):
        problem = _unknown(point)
        if problem:
            raise UnreadableError(f"{name}: damaged: $.points[{at}]: {problem}.")
    problem = _off_axis(run)
    if problem:
        raise UnreadableError(f"{name}: damaged: $.axis: {problem}.")
    return run


@dataclass(frozen=True)
class _Known:
    """What can be measured of an operator: its sizes and blocks with their bounds, its directions, its parameters."""

    numbers: tuple[tuple[str, Mapping[str, tuple[int, int]]], ...]
    directions: tuple[str, ...]
    parameters: Mapping[str, Parameter]


@functools.cache
def _known(name: str) -> _Known:
    operator = find(name)
    return _Known(
        numbers=(
            ("sizes", {size.name: (size.minimum, size.maximum) for size in operator.sizes}),
            ("blocks", {block.name: (block.minimum, max(block.maximum, BLOCK_MAXIMUM)) for block in operator.blocks}),
        ),
        directions=ways.directions_of(operator),
        parameters={parameter.name: parameter for parameter in operator.parameters},
    )


def _unknown(point: Point) -> str | None:
    """What a point has that no measurement here has: an operator, a size, a direction, an implementation; else None."""
    if point.operator not in operators():
        return f"there is no operator {point.operator[:40]!r}"
    known = _known(point.operator)
    for kind, bounds in known.numbers:
        given = getattr(point, kind)
        if given.keys() != bounds.keys():
            return f"sizes or blocks are not those of {point.operator}"
        for name, (least, most) in bounds.items():
            if not least <= given[name] <= most:
                return f"{name} is {given[name]:,}, and at most {most:,} is measured"
    if point.dtype not in DTYPES or point.direction not in known.directions:
        return f"{point.dtype[:20]}, {point.direction[:20]} is not measured of {point.operator}"
    for name, value in point.parameters.items():
        parameter = known.parameters.get(name)
        if parameter is None:
            return f"{name[:40]!r} is no parameter of {point.operator}"
        if not parameter.minimum <= value <= parameter.maximum:
            return f"{name} is {value:g}, and {parameter.minimum:g} to {parameter.maximum:g} is measured"
    if not 1 <= point.num_warps <= NUM_WARPS.maximum:
        return f"num_warps is {point.num_warps:,}, and 1 to {NUM_WARPS.maximum:,} can be launched"
    names = [timed.way for timed in point.timed]
    if not set(names) <= set(ways.WAYS) or len(set(names)) < len(names):
        return f"implementations are {', '.join(name[:20] for name in names)}, and each of {', '.join(ways.WAYS)} is there once"
    return None


def _off_axis(run: Run) -> str | None:
    """Why the points of a run do not lie on an axis together; None where they do, or where there is only one."""
    if len({point.operator for point in run.points}) > 1:
        return "points of several operators lie on none"
    if run.axis is None:
        return "several points, and no axis that they lie on" if len(run.points) > 1 else None
    known = axes(run.points[0].request) if run.points else ()
    return None if run.axis in known else f"there is no axis {run.axis[:20]!r}"


def listed(folder: Path) -> tuple[list[tuple[Path, Run]], list[str]]:
    """Every run of a folder, newest first, and a line for every file that is not one; none where there is no folder."""
    return folders.listed(folder, parsed)


@functools.cache
def recorded() -> tuple[Run, ...]:
    """The runs that ship with the explorer."""
    return tuple(run for _, run in listed(RECORDED)[0])
