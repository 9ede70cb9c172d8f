"""The runs that were chosen: side by side, each with its facts, to download or delete."""

from __future__ import annotations

import streamlit as st

from kernels.measure import runs, sweep, verdicts
from kernels.measure.records import Point, Run
from kernels.storage import codec
from pages._html import caption, literal
from pages._html import show as show_html
from pages._parts import chart, say, table, title
from pages._public import public
from viz.compare import Side, compare_figure
from viz.sweep import Curve, sweep_figure
from viz.theme import Style
from viz.words import bytes_text, seconds_text

from .listing import Entry

CURVES = ("triton", "compiled", "library", "pytorch")


def show(chosen: list[Entry], style: Style) -> None:
    """Pictures of what can be compared, then the facts, then what can be done."""
    lettered = {_letter(at): entry for at, entry in enumerate(chosen)}
    single = {letter: entry for letter, entry in lettered.items() if len(entry.run.points) == 1}
    swept = {letter: entry for letter, entry in lettered.items() if len(entry.run.points) > 1}
    if single:
        _times(single, style)
    for axis in dict.fromkeys(entry.run.axis for entry in swept.values()):
        _sweeps({letter: entry for letter, entry in swept.items() if entry.run.axis == axis}, axis, style)
    title("The facts", "of each run")
    _facts(lettered)
    _actions(lettered)


def _letter(at: int) -> str:
    """A, B, ..., Z, A1, B1, ..."""
    return f"{chr(65 + at % 26)}{at // 26 or ''}"


def _times(entries: dict[str, Entry], style: Style) -> None:
    points = [entry.run.points[0] for entry in entries.values()]
    alike = {(point.operator, str(dict(point.sizes)), point.dtype, point.direction) for point in points}
    if len(alike) > 1:
        say("These runs measured different things; their times stand side by side, but no ratio between them means anything.")
    ratios = len(entries) > 1 and len(alike) == 1
    against = f"; per cent against {next(iter(entries))}" if ratios else ""
    title("Time on the GPU", f"median; the line spans 60 % of the samples{against}")
    sides = [Side(letter, _name(entry.run), _spreads(entry.run.points[0])) for letter, entry in entries.items()]
    chart(compare_figure(sides, style, ratios=ratios), "compare", "Times of the chosen runs side by side")
    caption(" · ".join(f"{side.letter}: {side.label}" for side in sides))


def _name(run: Run) -> str:
    return f"{run.title}, {run.device.name}, {run.made[:10]}"


def _spreads(point: Point) -> list[tuple[str, float, float, float]]:
    timed = [one for one in point.timed if one.kernel and one.kernel.median > 0]
    return [(one.title, one.kernel.median, one.kernel.low, one.kernel.high) for one in timed]


def _sweeps(entries: dict[str, Entry], axis: str, style: Style) -> None:
    """The Triton kernels of sweeps along the same axis, a curve a run."""
    title(f"{axis}, swept", "time on the GPU of the Triton kernel, a curve a run")
    curves = []
    for at, (letter, entry) in enumerate(entries.items()):
        points = [
            (float(sweep.value_at(point.request, axis)), one.kernel.median, f"{letter}: {seconds_text(one.kernel.median)}")
            for point in entry.run.points
            for one in (point.way("triton"),)
            if one and one.kernel and one.kernel.median > 0
        ]
        curves.append(Curve(CURVES[at % len(CURVES)], f"{letter}: {entry.run.title.partition(',')[0]}", points))
    chart(sweep_figure(curves, axis, "seconds", style, log=True), f"sweep.{axis}", f"Sweeps over {axis}")


def _facts(chosen: dict[str, Entry]) -> None:
    rows = []
    for letter, entry in chosen.items():
        run, roofs = entry.run, entry.run.roofs
        ratio = entry.summary.speed_up
        rows.append(
            (
                f"{letter}  {run.title}",
                run.device.name,
                run.made[:16].replace("T", " "),
                ", ".join(f"{name} {version}" for name, version in run.versions.items()),
                f"{roofs.copy / 1e12:.2f} TB/s" if roofs.copy else "-",
                f"{ratio:.2f}×" if ratio else "-",
                _doubts(run),
            )
        )
    show_html(table(("run", "GPU", "made", "versions", "copy", "speed-up", "doubts"), rows))


def _doubts(run: Run) -> str:
    said = [note for point in run.points for note in point.notes] + [point.problem for point in run.points if point.problem]
    wrong = [verdicts.invalid(one, point, run.roofs, run.device) for point in run.points for one in point.timed]
    found = list(dict.fromkeys([*said, *(one for one in wrong if one)]))
    return " ".join(found[:2]) + (f" and {len(found) - 2} more" if len(found) > 2 else "") if found else "none"


def _actions(chosen: dict[str, Entry]) -> None:
    for letter, entry in chosen.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            data = codec.encoded(entry.run)
            name = entry.path.name if entry.path else f"run-{entry.run.made[:10]}.json"
            label = f"Download {letter} ({bytes_text(len(data))})"
            st.download_button(literal(label), data, name, "application/json", key=f"runs.take.{letter}", on_click="ignore")
            if entry.path and runs.deletable(entry.path) and not public():
                _delete(entry, letter)


def _delete(entry: Entry, letter: str) -> None:
    """Deleting takes a second click; what cannot be deleted says why."""
    key = f"runs.sure.{entry.path}"
    if not st.session_state.get(key):
        st.button(f"Delete {letter}", key=f"runs.delete.{letter}", on_click=st.session_state.update, args=({key: True},))
        return
    st.button(literal(f"Really delete {entry.path.name}"), key=f"runs.really.{letter}", on_click=_unlink, args=(entry, key))


def _unlink(entry: Entry, key: str) -> None:
    st.session_state[key] = False
    if not runs.deletable(entry.path):
        st.session_state["runs.failed"] = f"{entry.path.name} is not in {runs.default_folder()}: only runs there are deleted."
        return
    try:
        entry.path.unlink(missing_ok=True)
    except OSError as error:
        st.session_state["runs.failed"] = f"{entry.path.name} cannot be deleted: {error.strerror or error}."
