"""What lies one click down on the launch page: costs, folding, the wrapper, past int32, and what to take along."""

from __future__ import annotations

import streamlit as st

from kernels.launch import short
from kernels.runtime.picture import Picture
from kernels.runtime.request import Request
from kernels.runtime.settings import Settings
from kernels.runtime.what_ifs import lanes_of_launch
from pages import _panel
from pages._gpus import gpus
from pages._parts import chart, missing, say, title
from viz import cost, fold
from viz.terms import terms_html
from viz.theme import Style
from viz.words import bytes_text

from . import source, take, tracing

BLOCKS = (32, 64, 128, 256, 512, 1024, 2048, 4096)
MULTIPROCESSORS = 132


def tabs(settings: Settings, picture: Picture, style: Style) -> None:
    """Tabs; only the open one is drawn."""
    operator = settings.request.description
    names = ["What the sizes cost"]
    if operator.fold:
        names.append("How lanes fold")
    if settings.request.launch().constants.get("OFFSET_TYPE") == "int64":
        names.append("Past int32")
    names += ["The wrapper", "The words", "Take it along"]
    opened = st.tabs(names, on_change="rerun", key="launch.tabs")
    draws = {
        "What the sizes cost": lambda: _costs(settings, style),
        "How lanes fold": lambda: _folds(settings, picture, style),
        "Past int32": lambda: _past_int32(settings),
        "The wrapper": lambda: source.wrapper(settings.request),
        "The words": lambda: _panel.panel(terms_html(), "terms"),
        "Take it along": lambda: take.along(settings, picture, style),
    }
    for name, tab in zip(names, opened, strict=True):
        if tab.open:
            with tab:
                draws[name]()


def _costs(settings: Settings, style: Style) -> None:
    request, operator = settings.request, settings.request.description
    if operator.axes is None:
        say(missing(operator, "axes", "the lanes that other blocks would waste"))
        return
    found = gpus()
    units = found[0].multiprocessors if found else None
    choices = [(label, one.launch().programs, _masked(one)) for label, one in _choices(request)]
    chosen = next((label for label, one in _choices(request) if one.tiling.blocks == request.tiling.blocks), "")
    known = units or MULTIPROCESSORS
    whose = "this GPU" if units else "an H200, for one"
    title("Would another block waste less?", f"programs against the {known} multiprocessors (SMs) of {whose}")
    chart(cost.cost_figure(choices, chosen, known, style), "cost", "Masked lanes over block sizes")
    programs = request.launch().programs
    if 0 < programs < known:
        one = "program" if programs == 1 else "programs"
        used = f"at most **{programs:,}** of {known} multiprocessors"
        st.markdown(f"**{programs:,}** {one} can use {used}; the others have nothing to do.")
    axes = operator.axes(request.problem, request.tiling)
    if operator.rowwise and len(axes) == 1 and axes[0].last == axes[0].live and request.problem.sizes.get("columns"):
        columns, lanes = request.problem["columns"], axes[0].lanes
        idle = f"**{lanes - columns:,}** of each program's lanes never hold an element"
        st.markdown(f"A row of **{columns:,}** is padded to **{lanes:,}** lanes: {idle}.")


def _choices(request: Request) -> list[tuple[str, Request]]:
    """Labelled requests with other blocks; the one at hand among them."""
    names = request.description.extents[: 2 if request.description.product else 1]
    own = (" × ".join(f"{request.tiling[name]:,}" for name in names), request)
    sides = (16, 32, 64, 128, 256) if len(names) > 1 else BLOCKS
    found = [(" × ".join([f"{side:,}"] * len(names)), request.with_blocks(**dict.fromkeys(names, side))) for side in sides]
    if own[0] not in dict(found):
        found.append(own)
    return sorted(found, key=lambda one: next(iter(one[1].tiling.blocks.values())))


def _masked(request: Request) -> float:
    lanes, live = lanes_of_launch(request) or lanes_of_launch(request.without_change())
    return 1 - live / lanes if lanes else 0.0


def _folds(settings: Settings, picture: Picture, style: Style) -> None:
    before, *between, after = settings.request.description.fold
    samples = {name: sample for line in picture.values.values() for name, sample in line.items()}
    if any(name not in samples for name in (before, *between, after)) or not samples[before].shape:
        st.caption("Nothing to show at this step: all lines must be done, and the row be in one block.")
        return
    title("The lanes fold into one number, which fans back", "numbers are the kernel's own; the tree shows the principle")
    live = settings.request.problem["columns"]
    figure = fold.fold_figure(
        (before, samples[before]), [(name, samples[name]) for name in between], (after, samples[after]), live, style
    )
    chart(figure, "fold", "A reduction tree")


def _past_int32(settings: Settings) -> None:
    request = settings.request
    launch = request.launch()
    needed = sum(tensor.nbytes for tensor in launch.tensors.values())
    wrap = tracing.wrap(request.without_change())
    title("Past int32", "a 32-bit offset counts to 2,147,483,647")
    if wrap is None:
        st.markdown("No lane in force has an offset past 2^31 here; only masked lanes would wrap.")
    else:
        where = "before its start" if wrap.wrong < 0 else "at another element"
        st.markdown(
            f"In 32 bits, **program {wrap.program:,}** would be the first to go wrong: its offset **{wrap.right:,}** of "
            f"{short(wrap.argument)} would wrap to **{wrap.wrong:,}**, {where}, and the mask lets it through. "
            f"The launch passes `OFFSET_TYPE = int64`; the what-if *int32 offsets* shows the other."
        )
    st.markdown(f"The tensors of this launch need **{bytes_text(needed)}**.")
