"""Reports kept on this machine, found again by a card's UUID, and those that ship with the explorer."""

from __future__ import annotations

import functools
import os
from dataclasses import replace
from pathlib import Path

from ..measure import files
from ..measure.files import UnreadableError
from .values import Report, from_json, to_json

RECORDED = Path(__file__).parents[1] / "recorded"


def default_folder() -> Path:
    """Where reports are kept: $TRITON_EXPLORER_CHECKS, else the user's data folder."""
    chosen = os.environ.get("TRITON_EXPLORER_CHECKS")
    base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return Path(chosen).expanduser() if chosen else base / "triton-explorer" / "checks"


def save(report: Report, folder: Path) -> Path:
    """Writes the report into a new file of the folder; raises OSError where it cannot be written."""
    name = report.cards[0].name if report.cards else "no GPU"
    return files.new_file(folder, f"{report.made[:19].replace(':', '')}-{name}", to_json(report) + "\n")


def load(path: Path) -> Report:
    """The report in a file; raises UnreadableError, with its name and one reason, for anything else."""
    return files.load(path, "report", from_json)


def listed(folder: Path) -> tuple[list[tuple[Path, Report]], list[str]]:
    """Every report of a folder, newest first, and a line for every file that is not one; none where there is no folder."""
    return files.listed(folder, load)


def of_card(key: str, folder: Path) -> list[Report]:
    """The complete reports of that card, newest first."""
    return [report for _, report in listed(folder)[0] if report.complete and any(card.key == key for card in report.cards)]


@functools.cache
def recorded() -> tuple[Report, ...]:
    """The reports that ship with the explorer, those of fewer cards first."""
    found = []
    for path in sorted(RECORDED.glob("check-*.json")):
        try:
            found.append(replace(load(path), recorded=True))
        except UnreadableError:
            continue
    return tuple(sorted(found, key=lambda report: len(report.cards)))


def models() -> frozenset[str]:
    """The models of which a check ships."""
    return frozenset(card.name for report in recorded() for card in report.cards)
