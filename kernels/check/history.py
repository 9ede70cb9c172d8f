"""Reports kept on this machine, found again by a card's UUID, and those that ship with the explorer."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, replace
from pathlib import Path

from ..storage import codec, files, folders
from ..storage.codec import UnreadableError
from .values import Report, from_json

RECORDED = Path(__file__).parents[1] / "recorded"


def default_folder() -> Path:
    """Where reports are kept: $TRITON_EXPLORER_CHECKS, else the user's data folder."""
    return folders.own("TRITON_EXPLORER_CHECKS", "checks")


def save(report: Report, folder: Path) -> Path:
    """Writes the report into a new file of the folder; raises UnwritableError where it cannot be written."""
    name = report.cards[0].name if report.cards else "no GPU"
    return files.new_file(folder, f"{report.made[:19].replace(':', '')}-{name}", codec.encoded(report))


def load(path: Path) -> Report:
    """The report in a file; raises UnreadableError, with its name and one reason, for anything else."""
    return folders.load(path, from_json)


def listed(folder: Path) -> tuple[list[tuple[Path, Report]], list[str]]:
    """Every report of a folder, newest first, and a line for every file that is not one; none where there is no folder."""
    return folders.listed(folder, from_json)


@dataclass(frozen=True)
class Summary:
    """What a list shows of a report: when it was made, and the names and keys of its cards."""

    made: str
    names: tuple[str, ...]
    keys: tuple[str, ...]
    complete: bool


def _summary(content: bytes, name: str) -> Summary:
    report = from_json(content, name)
    cards = report.cards
    return Summary(report.made, tuple(card.name for card in cards), tuple(card.key for card in cards), report.complete)


def summaries(folder: Path) -> tuple[list[tuple[Path, Summary]], list[str]]:
    """What a list shows of every report of a folder, newest first, as `listed`; only files that changed are read again."""
    return folders.summaries(folder, _summary)


def of_card(key: str, folder: Path) -> list[Report]:
    """The complete reports of that card, newest first."""
    found = []
    for path, summary in summaries(folder)[0]:
        if summary.complete and key in summary.keys:
            with contextlib.suppress(UnreadableError):
                found.append(load(path))
    return found


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
