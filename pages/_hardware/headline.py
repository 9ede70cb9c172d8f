"""The sentence over the hardware page, and the figures under it."""

from __future__ import annotations

import streamlit as st

from kernels.inside.analysis import Analysis
from kernels.inside.facts import Chip
from kernels.inside.layouts import owners, understood
from kernels.inside.occupancy import LIMITS, Occupancy, Waves, occupancy
from kernels.language import triton
from kernels.launch import short
from pages import _parts
from pages._parts import fact, facts
from viz.hardware_terms import TERMS
from viz.words import bytes_text

from .state import Shown, state

EXPLAINED = {"warps?": TERMS["warp"], "threads": TERMS["thread"], "waves?": TERMS["wave"]}


def fits(chip: Chip, analysis: Analysis) -> Occupancy | None:
    """How many programs fit on a multiprocessor; None where the chip's or the kernel's facts are not known."""
    used = analysis.resources
    if chip.multiprocessor is None or used.registers is None or not analysis.warps:
        return None
    return occupancy(chip.multiprocessor, analysis.warps, used.registers, used.shared_bytes or 0)


def waves(shown: Shown, chip: Chip, found: Occupancy | None) -> Waves | None:
    """The waves of this grid on that chip; None where not known."""
    if found is None or not chip.multiprocessors:
        return None
    return Waves(shown.request.launch().programs, chip.multiprocessors * found.programs)


def headline(shown: Shown, chip: Chip, analysis: Analysis, alive: bool) -> None:
    """The sentence with its numbers, and the GPU it speaks of."""
    where = f"{chip.name} · {chip.multiprocessors} {chip.unit}s" if chip.multiprocessors else chip.name
    badge = where if alive else f"{where} · not attached"
    title = f"Compiled by Triton {triton.__version__} for {analysis.target.name}."
    if not alive:
        title += " No such GPU is attached: nothing is launched."
    _parts.headline(_story(shown, chip, analysis), badge, alive=alive, title=title, terms=EXPLAINED)
    for sentence in state.notices():
        _parts.say(sentence)


def _story(shown: Shown, chip: Chip, analysis: Analysis) -> str:
    programs = shown.request.launch().programs
    many = f"**{programs:,}** program{'' if programs == 1 else 's'}"
    if not analysis.warps:
        return f"{many} of {shown.request.description.title}: nothing is compiled, so nothing is known of its threads."
    size = analysis.target.warp_size
    first = next((one for one in analysis.accesses if understood(one.layout)), None)
    each = ""
    if first is not None:
        holds, width = owners(first.layout, first.shape).registers, analysis.width(first)
        at_once = f", **{width}** bytes at a time" if width else ""
        each = f"; a thread holds **{holds:,}** element{'' if holds == 1 else 's'} of {_short(first.argument)}{at_once}"
    warps = f"**{analysis.warps}** warp{'' if analysis.warps == 1 else 's'} of {size} threads"
    return f"A program runs on {warps}{each}. {_places(many, programs, chip, waves(shown, chip, fits(chip, analysis)))}"


def _short(argument: str) -> str:
    return short(argument)


def _places(many: str, programs: int, chip: Chip, found: Waves | None) -> str:
    if found is None or not chip.multiprocessors or not found.at_once or not programs:
        return f"There are {many}."
    if programs <= found.at_once:
        return f"{many} {'makes' if programs == 1 else 'make'} one wave: the {chip.name} holds **{found.at_once:,}** at once."
    waves_made = f"**{_small(programs / found.at_once)}** waves"
    return f"{many} make {waves_made}: the {chip.name} holds **{found.at_once:,}** at once."


def figures(shown: Shown, chip: Chip, analysis: Analysis) -> None:
    """Registers, shared memory, occupancy, waves: each with where it comes from."""
    if not analysis.warps:
        return
    used, found = analysis.resources, fits(chip, analysis)
    binary = "Read from the compiled binary."
    spills = f"{used.spill_bytes:,} B spilled" if used.spill_bytes else ""
    shown_facts = [
        fact("registers a thread", _known(used.registers), spills, "counted", binary),
        fact("shared memory a program", bytes_text(used.shared_bytes or 0), "", "counted", binary),
    ]
    if found:
        by = " and ".join(LIMITS[name].partition(":")[0] for name in found.limiting)
        title = "Warps in place over warps that a multiprocessor has room for; by NVIDIA's occupancy rules."
        shown_facts.append(fact("programs on one SM", f"{found.programs}", f"limited by {by}", "formula", title))
        shown_facts.append(fact("occupancy", f"{found.share:.0%}", "", "formula", title))
        made = waves(shown, chip, found)
        if made and made.efficiency is not None:
            tail = "Programs over the places that all waves have, were all programs equally long."
            shown_facts.append(fact("waves", _small(made.programs / made.at_once), "", "formula", tail))
            shown_facts.append(fact("tail efficiency", f"{made.efficiency:.0%}", "", "formula", tail))
    st.html(facts(shown_facts))


def _small(number: float) -> str:
    if number >= 100:
        return f"{number:,.0f}"
    return f"{number:,.2f}" if number >= 0.01 else f"{number:.1g}"


def _known(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"
