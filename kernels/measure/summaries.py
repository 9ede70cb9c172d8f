"""What a list shows of runs, kept while their files stay the same: thousands are listed at once, and few are looked at.

Of a run of several points the list shows none, so they are read when the run is opened: of the runs that ship a file takes
0.15 ms in place of 0.31 ms on average (2 cores).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Raw

from ..storage import codec, folders
from ..storage.bounds import Name, Whole, most
from .records import KIND, MOST_FEW, MOST_POINTS, SCHEMA, Device, Run
from .runs import parsed
from .verdicts import speed_up


@dataclass(frozen=True)
class Summary:
    """A run in a line of a list; `speed_up` is that of a run of one point, None where none can be given."""

    title: str
    gpu: str
    made: str
    torch: str
    triton: str
    points: int
    speed_up: float | None


@dataclass(frozen=True)
class Heading:
    """What of a run's file is read for the list."""

    made: Name
    device: Device
    versions: Annotated[Mapping[Name, Name], most(MOST_FEW)]
    points: Annotated[tuple[Raw, ...], most(MOST_POINTS)]
    title: Name = ""
    schema: Whole = SCHEMA
    kind: Literal["triton-explorer run"] = KIND


def summary_of(run: Run) -> Summary:
    """What a list shows of a run."""
    ratio = speed_up(run.points[0], run.roofs, run.device) if len(run.points) == 1 else None
    return _summary(run, ratio)


def _summary(run: Run | Heading, ratio: float | None) -> Summary:
    torch, triton = (run.versions.get(name, "") for name in ("torch", "triton"))
    return Summary(run.title, run.device.name, run.made, torch, triton, len(run.points), ratio)


def _of_content(content: bytes, name: str) -> Summary:
    heading = codec.record(Heading, content, name, "run")
    return summary_of(parsed(content, name)) if len(heading.points) == 1 else _summary(heading, None)


def summaries(folder: Path) -> tuple[list[tuple[Path, Summary]], list[str]]:
    """What a list shows of every run of a folder, newest first, and a line for every file that is none."""
    return folders.summaries(folder, _of_content)
