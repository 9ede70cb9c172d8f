"""The tab that draws the GPU to its numbers, with the launch on it; as a machine or as the tutorial's factory."""

from __future__ import annotations

import streamlit as st

from kernels.inside.analysis import Analysis
from kernels.inside.facts import Chip
from pages._html import caption
from pages._parts import chart, say, title
from viz import hardware_chip
from viz.theme import Style

from .headline import fits
from .state import PICTURES, SHOWN, Shown, state

FACTORY = (
    "**The tutorial's picture.** A core is a worker. A warp is a team of 32 who do the same step together. The teams of one "
    "program share a room, and wait for each other at lunch: a barrier. An SM is a floor, the GPU the factory. Where it limps: "
    "a thread has no worker of its own. Far more teams are on a floor than it has workers, and while one waits for its "
    "material another works; that is why many places are worth having."
)


def draw(shown: Shown, chip: Chip, analysis: Analysis, style: Style, *, narrow: bool = False) -> None:
    """Multiprocessors, one of them from near, caches and memory, by their sizes and speeds; narrow in half a page."""
    found, used, launch = fits(chip, analysis), analysis.resources, shown.request.launch()
    if narrow:
        title("The GPU, and this launch on it", f"{chip.name}: {hardware_chip.summary(chip)}")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.segmented_control(
            "picture",
            list(PICTURES),
            default=shown.picture,
            **state.widget("picture", SHOWN),
            format_func=PICTURES.get,
            label_visibility="collapsed",
            required=True,
        )
        if not narrow:
            title(chip.name, hardware_chip.summary(chip))
    if shown.picture == "factory":
        say(FACTORY)
    tensors = sum(tensor.nbytes for tensor in launch.tensors.values())
    args = (found, used.registers or 0, used.shared_bytes or 0, launch.programs, tensors)
    chart(hardware_chip.chip_figure(chip, *args, shown.picture, style, narrow=narrow), "chip", f"The {chip.name}")
    lit = "Yellow: taken by the first wave, dealt out evenly (modelled). Blue: cores, the launch's tensors."
    if found is None:
        lit = "Blue: the launch's tensors. How many programs run at once is not known here."
    if narrow and chip.multiprocessor:
        kind = chip.multiprocessor
        cores = f"{kind.schedulers} schedulers, each with {kind.cores // kind.schedulers} cores and a tensor core"
        lit = f"One SM: {cores}. {lit}"
    caption(f"{lit} Source of the numbers: {chip.source}.")
