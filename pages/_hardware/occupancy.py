"""The tab that shows how many programs fit on a multiprocessor, what limits them, and what other sizes would give."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from kernels.inside.analysis import Analysis
from kernels.inside.facts import MULTIPROCESSOR_SOURCE, Chip
from kernels.inside.hardware_jobs import variants_job
from kernels.inside.occupancy import LIMITS
from kernels.runtime.background import Background
from kernels.runtime.device import Target
from kernels.runtime.request import Request, is_of_vectors
from pages import _shell
from pages._html import caption
from pages._parts import chart, say, title
from viz import hardware_occupancy
from viz.theme import Style

from . import look
from .headline import fits, waves
from .state import Shown

WARPS = (1, 2, 4, 8, 16, 32)
LENGTHS, SIDES = (128, 256, 512, 1024, 2048, 4096, 8192), (16, 32, 64, 128, 256)
POLL, SECONDS = 0.4, 180
NAMES = {"warps": "warps", "registers": "registers", "shared": "shared memory", "blocks": "programs"}


def draw(shown: Shown, chip: Chip, analysis: Analysis, style: Style) -> None:
    """What fits of this launch, then curves over num_warps and a block size, each point compiled."""
    found = fits(chip, analysis)
    if found is None:
        say("Not known: the kernel was not compiled, or how this GPU hands out its resources is not known here.")
        return
    left, right = st.columns([1, 1], gap="medium")
    with left:
        title("The places of one SM", f"{found.programs} programs of {found.warps} warps on {found.slots} places")
        chart(hardware_occupancy.places_figure(found.programs, found.warps, found.slots, style), "places", "Warps on one SM")
    with right:
        title("What limits", "programs that each allows; the shortest decides")
        limits = [(NAMES[name], limit) for name, limit in found.limits.items()]
        chart(hardware_occupancy.limits_figure(limits, style), "limits", "What limits the programs on one SM")
    made = waves(shown, chip, found)
    why = " and ".join(LIMITS[name] for name in found.limiting)
    words = f"**{found.programs}** programs fit on one SM. What stops one more: {why}."
    if made and made.at_once:
        last = f", the last one with {made.last:,} of {made.at_once:,} programs" if made.last else ", full to the last place"
        words += (
            f" {chip.multiprocessors} SMs hold **{made.at_once:,}**: {made.count:,} wave{'' if made.count == 1 else 's'}{last}."
        )
    say(words)
    caption(f"By formula. {MULTIPROCESSOR_SOURCE}. {chip.name}: {chip.source}.")
    _curves(shown, chip, style)


def choices(request: Request) -> dict[str, dict[int, Request]]:
    """By the size that changes: its values and the requests with them, the present one among them."""
    tiling = request.tiling
    found = {
        "num_warps": {
            warps: replace(request, tiling=replace(tiling, num_warps=warps)) for warps in sorted({*WARPS, tiling.num_warps})
        }
    }
    operator = request.description
    sizes = SIDES if operator.product else LENGTHS if is_of_vectors(operator) else ()
    for name in operator.extents[:1] if sizes else ():
        found[name] = {size: request.with_blocks(**{name: size}) for size in sorted({*sizes, tiling.blocks[name]})}
    return found


def _curves(shown: Shown, chip: Chip, style: Style) -> None:
    wanted = choices(shown.request.without_change())
    flat = tuple(dict.fromkeys(one for values in wanted.values() for one in values.values()))
    known = _variants(flat, look.target_of(shown))
    if known is None:
        return
    columns = st.columns(len(wanted), gap="medium")
    for (name, values), column in zip(wanted.items(), columns, strict=True):
        with column:
            title(f"Occupancy over {name}", "every point compiled; hover for registers and waves")
            points = [(value, *_point(one, known.get(one), chip)) for value, one in values.items()]
            now = {"num_warps": shown.request.tiling.num_warps, **shown.request.tiling.blocks}[name]
            chart(hardware_occupancy.curve_figure(name, points, now, style), f"curve-{name}", f"Occupancy over {name}")


def _point(request: Request, analysis: Analysis | None, chip: Chip) -> tuple[float | None, str]:
    found = fits(chip, analysis) if analysis and analysis.verdict.launchable else None
    if analysis is None or found is None:
        return None, "refused"
    used = analysis.resources
    spills = f", {used.spill_bytes:,} B spilled" if used.spill_bytes else ""
    made = chip.multiprocessors and request.launch().programs / max(chip.multiprocessors * found.programs, 1)
    words = f"{used.registers} registers a thread{spills}<br>{found.programs} programs on one SM"
    return found.share, f"{words}<br>{made:.2f} waves" if made else words


def _variants(requests: tuple[Request, ...], target: Target) -> dict[Request, Analysis] | None:
    """Every request compiled; None while that goes on, with a line that says how far it is."""
    asked = f"{requests!r} {target}"
    job: tuple[str, Background] | None = st.session_state.get("hardware.variants")
    if job is None or job[0] != asked:
        if job is not None:
            job[1].cancel()
        task = Background(_shell.workers()["compile"], variants_job, requests, target, seconds=SECONDS)
        job = st.session_state["hardware.variants"] = (asked, task)
    task = job[1]
    if task.state == "waiting":
        _progress(len(requests))
        return None
    if task.state != "done":
        say(task.failure or "Compiling the other sizes was given up.", "fault")
        return None
    return dict(zip(requests, task.result, strict=True))


@st.fragment(run_every=POLL)
def _progress(count: int) -> None:
    _, task = st.session_state["hardware.variants"]
    if task.state != "waiting":
        st.rerun()
    done = task.progress() or (0, count)
    st.progress(done[0] / max(done[1], 1), text=f"compiling {done[0] + 1} of {done[1]} variants, {task.seconds:.0f} s")
