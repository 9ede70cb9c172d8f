"""The runs there are: saved in the folder, opened from files in this session, shipped with the explorer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import streamlit as st

from kernels.measure import runs, verdicts
from kernels.measure.records import Run
from pages._parts import say
from pages._public import public, refusal

KINDS = ("saved", "opened", "recorded")


@dataclass(frozen=True)
class Entry:
    """A run and where it is from; `path` is its file where it lies in the folder."""

    run: Run
    kind: str
    path: Path | None = None

    @property
    def identity(self) -> tuple[str, str, str]:
        """What tells it from others in the list."""
        return self.kind, self.run.made, self.path.name if self.path else self.run.title

    @property
    def speed_up(self) -> float | None:
        """The speed-up of a run of one point, where one can be given."""
        run = self.run
        return verdicts.speed_up(run.points[0], run.roofs, run.device) if len(run.points) == 1 else None


def folder() -> Path:
    """The folder that is looked into; a choice lasts for the session. On a public copy nobody chooses."""
    if public():
        st.caption(refusal("folder"))
        return runs.folder_of(None)
    st.session_state.setdefault("runs.typed", str(runs.folder_of(st.session_state.get("runs.folder"))))
    given = st.text_input(
        "Folder of saved runs",
        key="runs.typed",
        help="Where runs are saved and listed from; it is made when the first run is saved.",
    )
    st.session_state["runs.folder"] = given
    place = runs.folder_of(given)
    if not place.exists():
        st.caption("There is no such folder yet; the first run that is saved makes it.")
    return place


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
    """A table of the runs; those chosen in it, which stay chosen where others come and go."""
    table, names = pd.DataFrame([_row(entry) for entry in found]), [entry.identity for entry in found]
    before = [names.index(name) for name in st.session_state.get("runs.chosen", []) if name in names]
    chosen = st.dataframe(
        table,
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        key=f"runs.table.{hash(tuple(names))}",
        selection_default={"selection": {"rows": before}},
        height=min(36 * (len(found) + 1) + 2, 430),
    )
    picked = [found[row] for row in chosen.selection.rows if row < len(found)]
    st.session_state["runs.chosen"] = [entry.identity for entry in picked]
    return picked


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
