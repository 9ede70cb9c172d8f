"""Runs as files: one self-describing JSON file each, written so that none is lost, read so that no bad one hurts."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from .. import find
from ..operator import DTYPES
from ..runtime.device import Gpu
from .records import DIRECTIONS, KIND, SCHEMA, Device, Point, Roofs, Run, built, plain
from .sweep import ALL_SIZES, axes
from .timing import METHOD

RECORDED = Path(__file__).parents[1] / "recorded" / "runs"
MOST_BYTES = 16 * 2**20


class UnreadableError(ValueError):
    """A file that is not a run; its text is one line that says what is wrong with it."""


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
    """Writes the run into a new file of the folder, which is made where it is missing; never over another file.

    Raises OSError where the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(plain(run), indent=1) + "\n"
    stem = re.sub(r"[^A-Za-z0-9.=-]+", "-", f"{run.made[:19].replace(':', '')}-{run.device.name}-{run.title}")[:120].strip("-")
    for number in range(10_000):
        path = folder / f"{stem}{f'-{number}' if number else ''}.json"
        with contextlib.suppress(FileExistsError):
            return _written(path, text)
    raise FileExistsError(f"{folder} has ten thousand files of that name")


def _written(path: Path, text: str) -> Path:
    """The new file with that text; none where not all of it could be written."""
    with path.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
        except OSError:
            path.unlink()
            raise
    return path


def load(path: Path) -> Run:
    """The run in a file; raises UnreadableError, with its name and one reason, for anything else."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UnreadableError(f"{path.name}: larger than {MOST_BYTES // 2**20} MB, which no run is.")
        return parsed(path.read_text(encoding="utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path.name}: cannot be read ({type(error).__name__}).") from None


def parsed(text: str, name: str) -> Run:
    """The run that a text describes; raises UnreadableError for anything else."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableError(f"{name}: not a JSON file, or cut short.") from None
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise UnreadableError(f"{name}: JSON, but not a run of this program.")
    if not isinstance(data.get("schema"), int) or data["schema"] > SCHEMA:
        raise UnreadableError(f"{name}: of schema {str(data.get('schema'))[:20]}, and this version reads up to {SCHEMA}.")
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
    """Every run of a folder, newest first, and a line for every file that is not one. A folder that is not there is empty."""
    found, wrong = [], []
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [f"{folder}: cannot be read ({error.strerror})."]
    for path in paths:
        try:
            found.append((path, load(path)))
        except UnreadableError as error:
            wrong.append(str(error))
    return sorted(found, key=lambda one: one[1].made, reverse=True), wrong


@functools.cache
def recorded() -> tuple[Run, ...]:
    """The runs that ship with the explorer."""
    return tuple(run for _, run in listed(RECORDED)[0])
