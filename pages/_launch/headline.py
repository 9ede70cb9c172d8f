"""The sentence over the launch page, the few figures under it, and the buttons that step through programs and statements."""

from __future__ import annotations

from html import escape

import streamlit as st

from kernels.language import triton
from kernels.launch import short
from kernels.runtime.masked import replaced, unfilled
from kernels.runtime.picture import Picture
from kernels.runtime.records import linear
from kernels.runtime.request import LAYOUTS, Request, first_input
from kernels.runtime.settings import Settings
from kernels.runtime.what_ifs import UNCOUNTED, lanes_of_launch, moved_bytes, story
from pages import _parts
from pages._gpus import device_name, gpus
from pages._numerics import numerics
from pages._parts import fact, facts
from viz.theme import Style
from viz.words import bytes_text, grid_text, large

from . import tracing
from .state import state


def headline(settings: Settings) -> None:
    """The sentence with its numbers, and what it runs on."""
    request = settings.request
    found = gpus()
    where = device_name(found[0]) if found else "no GPU: Triton's interpreter"
    _parts.headline(story(request), f"{where} · Triton {triton.__version__}", alive=bool(found))


def sentences(settings: Settings, picture: Picture, reason: str | None) -> None:
    """What was corrected, what cannot be traced, and what goes wrong in this launch, a line each."""
    for sentence in (*state.notices(), *([reason] if reason else [])):
        st.html(f'<div class="say">{escape(sentence)}</div>')
    if picture.faults:
        st.html(f'<div class="say fault faults">{_faults(picture.faults)}</div>')
    for sentence in _remarks(settings):
        st.html(f'<div class="say">{escape(sentence)}</div>')
    numerics(settings.request)
    if not picture.complete:
        said = "its first turns are shown while the kernel runs on to its end."
        if tracing.was_whole(settings):
            said = f"it was left after {tracing.ALL_SECONDS:.0f} s; only its first turns are shown."
        st.html(f'<div class="say">A long loop: {said}</div>')


def _remarks(settings: Settings) -> list[str]:
    """What the wrapper does before the launch, and what the interpreter does otherwise than a GPU."""
    request = settings.request
    launch, found = request.launch(), []
    if request.layout != "contiguous":
        name = first_input(launch)
        size = bytes_text(launch.tensors[name].nbytes)
        laid = f"{short(name)} is {LAYOUTS[request.layout]}"
        found.append(f"{laid}: the wrapper copies it first, {size} more each way; the kernel gets the copy.")
    if request.problem.dtype == "bfloat16":
        found.append(
            "Traced in float32 with 2-byte addresses: the interpreter has no bfloat16. What is stored is rounded to bfloat16."
        )
    found += unfilled(launch.kernel)
    return found + list(replaced(launch.kernel, request.other) if request.what_if == "other" else ())


def _faults(faults: tuple[str, ...]) -> str:
    """The first two sentences, and the others one click down."""
    first, rest = faults[:2], faults[2:]
    shown = f"<p>{' '.join(escape(sentence) for sentence in first)}</p>"
    if not rest:
        return shown
    lines = "".join(f"<p>{escape(sentence)}</p>" for sentence in rest)
    return f"{shown}<details><summary>{len(rest)} more</summary>{lines}</details>"


def figures(settings: Settings, picture: Picture, style: Style) -> None:
    """Grid, masked lanes, bytes moved, each with where it comes from; then the steppers."""
    html = facts(fact(*one) for one in _facts(settings, picture))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.html(html, width="content")
        if picture.shown:
            _programs(settings, picture, style)
            if picture.steps:
                _statements(settings, picture)


Fact = tuple[str, str, str, str, str]


def _facts(settings: Settings, picture: Picture) -> list[Fact]:
    request = settings.request
    shown = [("grid", grid_text(picture.grid), "", "formula", "")]
    if request.description.axes:
        shown.append(_masked(request))
    counted = sum(picture.counted) if picture.counted else None
    if not request.description.traffic and counted is None:
        return [
            *shown,
            ("bytes moved", "-", "", "", "Counted where all programs are traced; without `traffic` no formula tells."),
        ]
    moved = moved_bytes(request) if counted is None else counted
    if moved is None:
        return [*shown, ("bytes moved", "-", "", "", UNCOUNTED[request.what_if])]
    origin = "formula" if counted is None else "counted"
    shown.append(("bytes moved", bytes_text(moved), "", origin, ""))
    found = gpus()
    if found and found[0].l2_bytes:
        fits = "yes" if moved <= found[0].l2_bytes else "no"
        shown.append((f"fits in L2 ({bytes_text(found[0].l2_bytes)})", fits, "", origin, ""))
    return shown


def _masked(request: Request) -> Fact:
    counted = lanes_of_launch(request)
    if counted is None:
        return "lanes masked", "-", "", "", UNCOUNTED[request.what_if]
    lanes, live = counted
    share = f"{1 - live / lanes:.1%}" if lanes > 999 else ""
    masked = (f"{lanes - live:,} of {lanes:,}", share) if lanes < 10**7 else (share, f"of {large(lanes)}")
    return "lanes masked", *masked, "formula", ""


def _programs(settings: Settings, picture: Picture, style: Style) -> None:
    count, number = picture.grid[0] * picture.grid[1] * picture.grid[2], linear(picture.chosen, picture.grid)
    key = f"{state.key('program')}.{number}"

    def typed() -> None:
        state.change({"program": min(max(st.session_state[key], 0), count - 1)})

    help_text = f"The program that is shown, from 0 to {count - 1:,}. Up and down arrow keys go to its neighbours."
    width = round((62 + 9 * len(str(count))) * style.scale)
    st.number_input("program", value=number, step=1, key=key, on_change=typed, help=help_text, width=width)
    _step_button("▲", "Up", "program", (number - 1) % count)
    _step_button("▼", "Down", "program", (number + 1) % count)


def _statements(settings: Settings, picture: Picture) -> None:
    last = len(picture.steps) - 1
    now = settings.step
    before = last if now is None else max(now - 1, 0)
    after = 0 if now is None else min(now + 1, last)
    line = picture.steps[picture.step].line
    turns = "".join(f", turn {turn.index:,} of {turn.total:,}" for turn in picture.steps[picture.step].turns)
    where = "all lines done" if now is None else f"line {line}{turns}"
    name = "step" if now is None else f"step {picture.step + 1:,} of {last + 1:,}"
    html = f'<div class="figure"><div class="name">{name}</div><div class="where">{where}</div></div>'
    st.html(html, width="content")
    _step_button("◀", "Left", "step", before)
    _step_button("▶", "Right", "step", after)
    if now is not None:
        st.button(
            "all", key="launch.all", on_click=state.change, args=({"step": None},), help="Show the values after the last line."
        )


def _step_button(label: str, shortcut: str, name: str, value: int) -> None:
    st.button(label, key=f"launch.{shortcut}", shortcut=shortcut, on_click=state.change, args=({name: value},))
