"""What a list shows of runs, kept while their files stay the same: thousands are listed at once, and few are looked at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..storage import folders
from .records import Run
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


def summary_of(run: Run) -> Summary:
    """What a list shows of a run."""
    ratio = speed_up(run.points[0], run.roofs, run.device) if len(run.points) == 1 else None
    torch, triton = (run.versions.get(name, "") for name in ("torch", "triton"))
    return Summary(run.title, run.device.name, run.made, torch, triton, len(run.points), ratio)


def _of_content(content: bytes, name: str) -> Summary:
    return summary_of(parsed(content, name))


def summaries(folder: Path) -> tuple[list[tuple[Path, Summary]], list[str]]:
    """What a list shows of every run of a folder, newest first, and a line for every file that is none."""
    return folders.summaries(folder, _of_content)
