"""Runs as files: one self-describing JSON file each, written so that none is lost, read so that no bad one hurts."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from .. import find
from ..operator import DTYPES
from ..runtime.device import Gpu
from . import files
from .files import UnreadableError
from .records import DIRECTIONS, KIND, SCHEMA, Device, Point, Roofs, Run, built, plain
from .sweep import ALL_SIZES, axes
from .timing import METHOD

RECORDED = Path(__file__).parents[1] / "recorded" / "runs"


def default_folder() -> Path:
    """Where runs are kept: $TRITON_EXPLORER_RUNS, else the user's data folder."""
    chosen = os.environ.get("TRITON_EXPLORER_RUNS")
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(os.path.expanduser(chosen or os.path.join(base, "triton-explorer", "runs")))


def folder_of(text: str | None) -> Path:
    """The folder that a person typed, else the default one; the ~ of a user whom nobody knows stays as it is."""
    return Path(os.path.expanduser(text.strip())) if text and text.strip() else default_folder()


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
    """Writes the run into a new file of the folder; raises OSError where it cannot be written."""
    title = f"{run.made[:19].replace(':', '')}-{run.device.name}-{run.title}"
    return files.new_file(folder, title, json.dumps(plain(run), indent=1) + "\n")


def load(path: Path) -> Run:
    """The run in a file; raises UnreadableError, with its name and one reason, for anything else."""
    return files.load(path, "run", parsed)


def parsed(text: str, name: str) -> Run:
    """The run that a text describes; raises UnreadableError for anything else."""
    data = files.fields(text, name, KIND, SCHEMA, "run")
    try:
        run = built(Run, data)
        for point in run.points:
            _known(point)
            _on_axis(point, run)
    except (ValueError, OverflowError) as error:
        raise UnreadableError(f"{name}: damaged: {error}.") from None
    return run


def _known(point: Point) -> None:
    """Raises ValueError where a point is of an operator, a size or a direction that there is not."""
    operator = find(point.operator)
    names = {size.name for size in operator.sizes}, {block.name for block in operator.blocks}
    if (set(point.sizes), set(point.blocks)) != names:
        raise ValueError(f"sizes or blocks are not those of {operator.name}")
    if point.dtype not in DTYPES or point.direction not in DIRECTIONS:
        raise ValueError(f"{point.dtype[:20]}, {point.direction[:20]} is not measured here")


def _on_axis(point: Point, run: Run) -> None:
    """Raises ValueError where several points do not lie along an axis that there is."""
    if run.axis is None and len(run.points) > 1:
        raise ValueError("several points, and no axis that they lie on")
    if run.axis is not None and run.axis not in axes(point.request):
        raise ValueError(f"there is no axis {run.axis[:20]!r}")


def listed(folder: Path) -> tuple[list[tuple[Path, Run]], list[str]]:
    """Every run of a folder, newest first, and a line for every file that is not one; none where there is no folder."""
    return files.listed(folder, load)


@functools.cache
def recorded() -> tuple[Run, ...]:
    """The runs that ship with the explorer."""
    return tuple(run for _, run in listed(RECORDED)[0])
