"""Reports kept on this machine, found again by a card's UUID, and those that ship with the explorer."""

from __future__ import annotations

import functools
import os
import re
from dataclasses import replace
from pathlib import Path

from .values import Report, UnreadableError, from_json, to_json

RECORDED = Path(__file__).parents[1] / "recorded"
MOST_BYTES = 16 * 2**20


def default_folder() -> Path:
    """Where reports are kept: $TRITON_EXPLORER_CHECKS, else the user's data folder."""
    chosen = os.environ.get("TRITON_EXPLORER_CHECKS")
    base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return Path(chosen).expanduser() if chosen else base / "triton-explorer" / "checks"


def save(report: Report, folder: Path) -> Path:
    """Writes the report into a new file of the folder, which is made where it is missing; raises OSError where it cannot be."""
    folder.mkdir(parents=True, exist_ok=True)
    name = report.cards[0].name if report.cards else "no GPU"
    stem = re.sub(r"[^A-Za-z0-9.+=-]+", "-", f"{report.made[:19].replace(':', '')}-{name}").strip("-")
    for number in range(10_000):
        path = folder / f"{stem}{f'-{number}' if number else ''}.json"
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(to_json(report) + "\n")
            return path
        except FileExistsError:
            continue
    raise FileExistsError(f"{folder} has ten thousand files of that name")


def load(path: Path) -> Report:
    """The report in a file; raises UnreadableError, with its name and one reason, for anything else."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UnreadableError(f"{path.name}: larger than {MOST_BYTES // 2**20} MB, which no report is.")
        return from_json(path.read_text(encoding="utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{path.name}: cannot be read ({type(error).__name__}).") from None


def listed(folder: Path) -> tuple[list[tuple[Path, Report]], list[str]]:
    """Every report of a folder, newest first, and a line for every file that is not one."""
    found, wrong = [], []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        try:
            found.append((path, load(path)))
        except UnreadableError as error:
            wrong.append(str(error))
    return sorted(found, key=lambda one: one[1].made, reverse=True), wrong


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
