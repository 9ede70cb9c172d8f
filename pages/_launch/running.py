"""Launching: the button that says what it will launch, and the result beside what was drawn."""

from __future__ import annotations

from dataclasses import replace
from html import escape

import streamlit as st

from kernels.errors import joined
from kernels.inside.fits import HEAVY, elements, extents, lighter
from kernels.language import MISSING
from kernels.runtime.background import Background
from kernels.runtime.compare import Difference
from kernels.runtime.compile import NO_ANSWER, Verdict
from kernels.runtime.device import DEFAULT_TARGET, Gpu, Target, find_target
from kernels.runtime.jobs import launch_job
from kernels.runtime.launch import PROGRAM_SECONDS, Result, interpreter_bytes, largest, needed_bytes
from kernels.runtime.limits import illegal, legal_values
from kernels.runtime.picture import Picture
from kernels.runtime.request import Request
from kernels.runtime.settings import Settings
from pages import _public, _shell
from viz.words import bytes_text, grid_text, seconds_text

from . import interpreter, tracing

LAUNCH_SECONDS = 3600
POLL = 0.4
LONG = 3.0


def legal(request: Request, gpu: Gpu | None) -> Request:
    """What is launched: the request without its what-if, every block size and num_warps at the nearest value that is legal.

    Blocks that would not compile within the time that a page waits are smaller.
    """
    target = gpu.target if gpu else find_target(DEFAULT_TARGET)
    changed = legal_tiling(request.without_change(), target)
    return lighter(changed, target) if elements(changed, target) > HEAVY else changed


def legal_tiling(plain: Request, target: Target) -> Request:
    """Every block size and num_warps at the nearest value that Triton and the target take."""
    blocks = {name: legal_values(name, value, target)[-1] for name, value in extents(plain).items()}
    warps = legal_values("num_warps", plain.tiling.num_warps, target)[-1]
    changed = plain.with_blocks(**blocks)
    return replace(changed, tiling=replace(changed.tiling, num_warps=warps))


def explain(request: Request, gpu: Gpu | None, verdict: Verdict) -> None:
    """Why the launch as drawn is refused, and what is nearest."""
    if verdict.launchable:
        return
    target = gpu.target if gpu else find_target(DEFAULT_TARGET)
    found = illegal(extents(request), request.tiling.num_warps, target)
    found = _recommended(request, target, found)
    nearest = [f"{name} {' or '.join(f'<b>{option:,}</b>' for option in options)}" for name, options in found.items()]
    hint = f" Nearest: {', '.join(nearest)}." if nearest else ""
    where = f", line {verdict.line}" if verdict.line else ""
    says = f"{verdict.target if verdict.who == 'hardware' else 'Triton'} refuses this launch" if verdict.refused else NO_ANSWER
    st.html(f'<div class="say refusal"><b>{says}</b>{where}: {escape(joined(verdict.reason or ""))}{hint}</div>')


def _recommended(request: Request, target: Target, found: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """The nearest legal values, of a block too large to compile in time the one that does."""
    given = legal_tiling(request, target)
    quick = given if elements(given, target) <= HEAVY else lighter(given, target)
    smaller = {name: (value,) for name, value in quick.tiling.blocks.items() if value != given.tiling.blocks[name]}
    return {**found, **smaller}


def button(settings: Settings, picture: Picture, gpu: Gpu | None) -> None:
    """The launch button; while a launch runs, its progress and a way to cancel it."""
    if MISSING:
        st.button("Nothing to launch with", disabled=True, width="stretch", help=MISSING)
        return
    request = legal(settings.request, gpu)
    launch = request.launch()
    verdict = tracing.verdict(request, gpu)
    label = _label(settings.request, request, gpu)
    long = _estimate(request, picture, gpu)
    running: Background | None = st.session_state.get("running")
    busy = running is not None and running.state == "waiting"
    needed = needed_bytes(launch)
    fits = needed <= (gpu.memory_bytes or needed if gpu else interpreter_bytes()) * 0.9
    late = long is not None and long > LAUNCH_SECONDS
    open_to_try = verdict.launchable or (gpu is None and not verdict.refused)  # the interpreter needs no compiler
    limit = _public.too_large(max(tensor.numel for tensor in launch.tensors.values()))
    allowed = open_to_try and launch.programs > 0 and not busy and fits and not late and not limit
    about = f"{launch.programs:,} programs, {bytes_text(needed)} of tensors."
    st.button(
        label if launch.programs else "0 programs: nothing to launch",
        type="primary",
        width="stretch",
        key="launch.go",
        disabled=not allowed,
        help=about if open_to_try else verdict.reason,
        on_click=_start,
        args=(request, settings.request, gpu),
    )
    if not fits:
        most = gpu.memory_bytes if gpu else interpreter_bytes()
        where = "the GPU has" if gpu else "the interpreter takes at most a quarter of this machine's memory,"
        st.caption(f"The tensors need {bytes_text(needed)}; {where} {bytes_text(most)}.")
    elif limit or "launch.often" in st.session_state:
        st.caption(limit or st.session_state.pop("launch.often"))
    elif late:
        st.caption(_too_long(request, long))
    elif long:
        st.caption(f"About {seconds_text(long)} in the interpreter, by the time of the program traced.")
    if busy:
        _progress()


def _label(asked: Request, given: Request, gpu: Gpu | None) -> str:
    changed = [f"{name} {value:,}" for name, value in given.tiling.blocks.items() if value != asked.tiling.blocks[name]]
    if given.tiling.num_warps != asked.tiling.num_warps:
        changed.append(f"num_warps {given.tiling.num_warps}")
    if asked.what_if:
        changed.append("its mask" if asked.what_if == "no_mask" else "no what-if")
    where = f"on {gpu.name}" if gpu else "in the interpreter"
    return f"Launch {where}" + (f" with {', '.join(changed)}" if changed else "")


def _estimate(request: Request, picture: Picture, gpu: Gpu | None) -> float | None:
    """How long the interpreter will take, from the trace of one program; None where it is short or a GPU runs it.

    Where nothing was traced, the least that it takes for a program.
    """
    if gpu is not None:
        return None
    traced = picture.program_seconds if picture.shown and picture.origin == "traced" else 0.0
    seconds = max(traced, PROGRAM_SECONDS) * request.launch().programs
    return seconds if seconds > LONG else None


def _too_long(request: Request, seconds: float) -> str:
    """Why a launch is not offered that would not end within its limit, and the largest that would."""
    most = int(request.launch().programs * LAUNCH_SECONDS / seconds)
    size = largest(request, most)
    fits = f" {size[0]} up to {size[1]:,} would." if size else ""
    estimate = f"About {seconds_text(seconds)} in the interpreter, by the time of the program traced"
    return f"{estimate}: a launch may take {seconds_text(LAUNCH_SECONDS)}, so it is not offered.{fits}"


def _start(request: Request, asked: Request, gpu: Gpu | None) -> None:
    if often := _public.too_often():
        st.session_state["launch.often"] = often
        return
    seconds = _public.SECONDS if _public.public() else LAUNCH_SECONDS
    worker = _shell.workers()["interpret" if gpu is None else gpu.worker]
    device = "cpu" if gpu is None else "cuda"
    st.session_state["running"] = Background(worker, launch_job, request, device, seconds=seconds)
    st.session_state["launched"] = (request, asked)


@st.fragment(run_every=POLL)
def _progress() -> None:
    running: Background = st.session_state["running"]
    if running.state != "waiting":
        st.rerun()
    done = running.progress()
    if done and done[1]:
        st.progress(min(done[0] / done[1], 1.0), text=f"{done[0]:,} of {done[1]:,} programs, {running.seconds:.0f} s")
    else:
        st.progress(0.0, text=f"starting, {running.seconds:.0f} s")
    st.button("Cancel", key="launch.cancel", on_click=running.cancel, width="stretch")


def result(settings: Settings) -> None:
    """What the last launch of these settings gave; of other settings, nothing."""
    running: Background | None = st.session_state.get("running")
    if running is None or running.state == "waiting" or st.session_state["launched"][1] != settings.request:
        return
    if running.state == "done":
        _done(running.result, *st.session_state["launched"])
    else:
        said = "Cancelled." if running.state == "cancelled" else running.failure
        st.html(f'<div class="say fault"><b>No result.</b> {escape(said)}</div>')


def _done(found: Result, request: Request, asked: Request) -> None:
    drawn, launched = asked.launch().programs, request.launch().programs
    differs = ""
    if dict(asked.tiling.blocks) != dict(request.tiling.blocks) or drawn != launched:
        blocks = ", ".join(f"{value:,}" for value in request.tiling.blocks.values())
        differs = f" · {drawn:,} programs drawn; launched as {launched:,} program{'' if launched == 1 else 's'} of {blocks}"
    parts = [f"<b>Launched on {escape(found.device)}</b> as grid {grid_text(found.grid)}{differs}"]
    for one in found.differences:
        name = f"{escape(one.output)}: " if len(found.differences) > 1 else ""
        theirs, exact = _number(one.from_pytorch), _number(one.from_float64)
        tag = '<span class="tag measured">measured</span>'
        distances = f"from PyTorch <b>{theirs}</b>, from float64 <b>{exact}</b>{tag}"
        parts.append(f"{name}max |difference| {distances} {_verdict(one)}")
    if found.compile_seconds is not None:
        parts.append(f"{'from Triton’s cache in' if found.from_cache else 'compiled in'} {seconds_text(found.compile_seconds)}")
    parts += [escape(note) for note in found.notes]
    if found.engine == "interpreter":
        parts.append(interpreter.LIMITS)
    kind = "good" if found.within else "fault"
    versions = " · ".join(f"{name} {version}" for name, version in found.versions.items())
    printed = "".join(f"<pre>{escape(name)} = {escape(text)}</pre>" for name, text in found.printed.items())
    details = f"<details><summary>{versions}: the result as PyTorch prints it</summary>{printed}</details>"
    st.html(f'<div class="say {kind} result">{" · ".join(parts)}{details}</div>')


def _verdict(found: Difference) -> str:
    if found.within:
        return f"✓ within tolerance ({found.share:.0%} of it)"
    return f"✗ <b>outside the tolerance</b> ({found.words or f'{found.share:.1f} times'})"


def _number(value: float) -> str:
    return "0.0" if value == 0 else f"{value:.2g}"
