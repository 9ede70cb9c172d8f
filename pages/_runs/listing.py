"""The runs there are: saved in the folder, opened from files in this session, shipped with the explorer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from kernels.measure import runs, verdicts
from kernels.measure.records import Run
from pages._parts import say

KINDS = ("saved", "opened", "recorded")


@dataclass(frozen=True)
class Entry:
    """A run and where it is from; `path` is its file where it lies in the folder."""

    run: Run
    kind: str
    path: Path | None = None

    @property
    def speed_up(self) -> float | None:
        """The measured ratio of a run of one point."""
        return verdicts.ratio(self.run.points[0]) if len(self.run.points) == 1 else None


def folder() -> Path:
    """The folder that is looked into; a choice lasts for the session."""
    given = st.text_input(
        "Folder of saved runs",
        value=str(runs.folder_of(st.session_state.get("runs.folder"))),
        help="Where runs are saved and listed from; it is made when the first run is saved.",
    )
    st.session_state["runs.folder"] = given
    return runs.folder_of(given)


def opened() -> list[Entry]:
    """What a person has opened from files, and a line for each file that is no run."""
    files = st.file_uploader("Open run files", type="json", accept_multiple_files=True, key="runs.files") or []
    found = []
    for file in files:
        try:
            text = file.getvalue().decode("utf-8", "replace")
            found.append(Entry(runs.parsed(text, file.name), "opened"))
        except runs.UnreadableError as error:
            say(str(error), "fault")
    return found


def entries(place: Path, more: list[Entry]) -> tuple[list[Entry], list[str]]:
    """All runs, those of the folder first, and a line for every file of it that is none."""
    saved, wrong = runs.listed(place)
    return [
        *(Entry(run, "saved", path) for path, run in saved),
        *more,
        *(Entry(run, "recorded") for run in runs.recorded()),
    ], wrong


def choose(found: list[Entry]) -> list[Entry]:
    """A table of the runs; those chosen in it, in order."""
    table = pd.DataFrame([_row(entry) for entry in found])
    chosen = st.dataframe(
        table,
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        key="runs.table",
        height=min(36 * (len(found) + 1) + 2, 430),
    )
    return [found[row] for row in chosen.selection.rows if row < len(found)]


def _row(entry: Entry) -> dict[str, object]:
    run = entry.run
    return {
        "what": run.title,
        "GPU": run.device.name,
        "made": run.made[:16].replace("T", " "),
        "torch": run.versions.get("torch", ""),
        "Triton": run.versions.get("triton", ""),
        "points": len(run.points),
        "speed-up": f"{entry.speed_up:.2f}×" if entry.speed_up else "",
        "from": entry.kind,
    }
