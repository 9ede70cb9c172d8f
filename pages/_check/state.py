"""The settings of the check's page: how much to check, and which report is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pages._state import State

MODES = {"full": "Full", "quick": "Quick"}
LATEST, RECORDED = "latest", "recorded"
MOST_NAME = 160


@dataclass(frozen=True)
class Settings:
    """The mode of the next check, and the report shown: "latest" of this session, "recorded", or the name of a kept file."""

    mode: str = "full"
    report: str = LATEST


def read(texts: Mapping[str, str]) -> tuple[Settings, tuple[str, ...]]:
    """Legal settings from texts, and a sentence for every correction."""
    said = [f"{name[:24]}: there is no such setting here; it is ignored." for name in texts if name not in ("mode", "report")]
    mode, report = texts.get("mode", "full"), texts.get("report", LATEST)
    if mode not in MODES:
        said.append(f"mode: {mode[:24]!r} is not one of {', '.join(MODES)}; full is used.")
        mode = "full"
    if len(report) > MOST_NAME or "/" in report or "\\" in report:
        said.append(f"report: {report[:24]!r} is not the name of a report; the latest is shown.")
        report = LATEST
    return Settings(mode, report), tuple(said)


def write(settings: Settings) -> dict[str, str]:
    """The texts that `read` turns into these settings; the mode is always there, so that the page has an address of its own."""
    report = {"report": settings.report} if settings.report != LATEST else {}
    return {"mode": settings.mode, **report}


def _shows(settings: Settings) -> dict[str, Any]:
    return asdict(settings)


state = State("check", read, write, _shows)
