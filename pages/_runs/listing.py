"""The runs there are: saved in the folder, opened from files in this session, shipped with the explorer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import streamlit as st

from kernels.measure import runs
from kernels.measure.records import Run
from kernels.measure.summaries import Summary, summaries, summary_of
from kernels.storage import folders
from kernels.storage.codec import UnreadableError
from pages._html import caption
from pages._parts import say
from pages._public import public, refusal

KINDS = ("saved", "opened", "recorded")
MOST_SHOWN = 26  # one a letter


@dataclass(frozen=True)
class Entry:
    """A run in the list and where it is from: `path` is its file where it lies in the folder, else `run` is at hand."""

    summary: Summary
    kind: str
    path: Path | None = None
    run: Run | None = None

    @property
    def identity(self) -> tuple[str, str, str]:
        """What tells it from others in the list."""
        return self.kind, self.summary.made, self.path.name if self.path else self.summary.title


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
    if folders.missing(place):
        st.caption("There is no such folder yet; the first run that is saved makes it.")
    elif not runs.deletable(place / "run.json"):
        caption(f"Runs are listed from here and opened; deleted only in {runs.default_folder()}.")
    return place


def opened() -> list[Entry]:
    """What a person has opened from files; a file that is no run is told in a line."""
    files = st.file_uploader("Open run files", type="json", accept_multiple_files=True, key="runs.files") or []
    found = []
    for file in files:
        try:
            run = runs.parsed(file.getvalue(), file.name)
            found.append(Entry(summary_of(run), "opened", run=run))
        except UnreadableError as error:
            say(str(error), "fault")
    return found


def entries(place: Path, more: list[Entry]) -> tuple[list[Entry], list[str]]:
    """All runs, those of the folder first, and a line for every file of it that is none."""
    saved, wrong = summaries(place)
    return [
        *(Entry(summary, "saved", path) for path, summary in saved),
        *more,
        *(Entry(summary_of(run), "recorded", run=run) for run in runs.recorded()),
    ], wrong


def choose(found: list[Entry]) -> list[Entry]:
    """A table of the runs; those chosen in it, which stay chosen where others come and go."""
    table, names = pd.DataFrame([_row(entry) for entry in found]), [entry.identity for entry in found]
    places = {name: place for place, name in enumerate(names)}
    before = [places[name] for name in st.session_state.get("runs.chosen", []) if name in places]
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


def whole(picked: list[Entry]) -> list[Entry]:
    """The first of the chosen entries with their runs; a file that changed since it was listed is told in a line."""
    if len(picked) > MOST_SHOWN:
        say(f"{len(picked):,} runs are ticked; the first {MOST_SHOWN} are shown.", "refusal")
    found = []
    for entry in picked[:MOST_SHOWN]:
        try:
            found.append(entry if entry.run else replace(entry, run=runs.load(entry.path)))
        except UnreadableError as error:
            say(str(error), "fault")
    return found


def _row(entry: Entry) -> dict[str, object]:
    one = entry.summary
    return {
        "what": one.title,
        "GPU": one.gpu,
        "made": one.made[:16].replace("T", " "),
        "torch": one.torch,
        "Triton": one.triton,
        "points": one.points,
        "speed-up": f"{one.speed_up:.2f}×" if one.speed_up else "",
        "from": entry.kind,
    }
