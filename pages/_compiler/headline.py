"""The sentence over the compiler page, the figures under it, and why a target refuses a launch."""

from __future__ import annotations

from html import escape

import streamlit as st

from kernels.errors import TaskError, joined
from kernels.inside.interpreted import why
from kernels.inside.mix import Mix, mix
from kernels.inside.moved import grouped, loaded
from kernels.language import MISSING, triton
from kernels.runtime.compile import Verdict
from kernels.runtime.device import attached
from kernels.runtime.request import Request
from pages import _parts
from pages._parts import fact, facts, say
from viz.instructions import RESOURCES
from viz.words import bytes_text, seconds_text

from . import compiling
from .panes import Built
from .state import CompilerSettings, state

READABLE = (
    "Nothing can be compiled here; the kernel can be read all the same, and its limits that need no compiler are checked."
)
FROM_BINARY = "Read from the compiled binary, as the GPU's driver will."


def headline(built: Built, settings: CompilerSettings) -> None:
    """What was built, in a sentence with its numbers."""
    kernel = settings.request.launch().kernel.__name__
    here = next((gpu.name for gpu in attached() if gpu.target.name == settings.target), "")
    badge = f"{settings.target}{f', {here}' if here else ''} · Triton {triton.__version__}"
    title = "Compiled here; the GPU need not be attached."
    _parts.headline(_sentence(built, kernel), badge, alive=bool(here), title=title, terms=RESOURCES)
    for sentence in state.notices():
        say(sentence)


def _sentence(built: Built, kernel: str) -> str:
    stages = built.stages
    if not stages.texts and not stages.verdict.refused:
        return f"{kernel} is **not** compiled for **{stages.target.name}** yet."
    if not stages.texts:
        return f"{kernel} does **not** compile for **{stages.target.name}**."
    used = stages.resources
    spilled = f"**{used.spill_bytes:,}** bytes spilled" if used.spill_bytes else "nothing spilled"
    shared = f"**{bytes_text(used.shared_bytes)}** of shared memory" if used.shared_bytes else "no shared memory"
    return f"{kernel} takes **{used.registers}** registers a thread, {spilled}, {shared}{_loads(built)}."


def _loads(built: Built) -> str:
    """How wide loads are, argument by argument where these differ."""
    groups = grouped(loaded(built.stages, built.request.launch()))
    if len(groups) > 1:
        parts = [f"**{width}** bytes ({', '.join(names)})" for width, names in groups.items()]
        return f", loads of {', '.join(parts[:-1])} and {parts[-1]}"
    wide = max(mix(built.stages).loads, default=0)
    return f", loads of up to **{wide}** bytes" if wide else ""


def figures(built: tuple[Built, ...]) -> None:
    """The figures of the first state, those of the second behind an arrow; nothing where nothing was built."""
    rows = [_figures(one, mix(one.stages)) for one in built if one.stages.texts]
    if not rows:
        return
    shown = []
    for parts in list(zip(*rows, strict=True))[: 6 if len(built) == 1 else 5]:
        name, _, tag, title = parts[0]
        values = list(dict.fromkeys(part[1] for part in parts))
        shown.append(fact(name, " → ".join(values), "", tag, title))
    st.html(facts(shown), width="content")


def _figures(built: Built, counted: Mix) -> list[tuple[str, str, str, str]]:
    used, stages = built.stages.resources, built.stages

    def told(value: int | None, unit: str = "") -> str:
        return "-" if value is None else f"{value:,}{unit}"

    widths = " + ".join(f"{count} × {width or '?'} B" for width, count in counted.loads.items())
    took = sum(stages.seconds.values())
    how = "found in Triton's cache in" if stages.cached else "compiled in"
    return [
        ("registers a thread", told(used.registers), "counted", FROM_BINARY),
        ("spilled", told(used.spill_bytes, " B"), "counted", f"Values that found no register. {FROM_BINARY}"),
        ("shared memory", told(used.shared_bytes, " B"), "counted", "Of one program, as Triton asks for it at the launch."),
        ("instructions", told(counted.instructions), "counted", "In the text; a loop's body counts once."),
        ("loads", widths or "none", "counted", "Instructions that read GPU memory, by the bytes that one thread gets."),
        (how, seconds_text(took), "measured", "Triton's own time on this machine, once; more under “Compile time”."),
    ]


def refusal(built: Built, name: str = "") -> None:
    """Why the target refuses the launch, and whether the interpreter would run it all the same; `name` of the second state."""
    stages, request, verdict = built.stages, built.request, built.stages.verdict
    if verdict.launchable:
        return
    if not verdict.refused or MISSING:
        say(f"**{name}{verdict.who}.** {verdict.reason}" if not MISSING else f"**{MISSING}.** {READABLE}", "fault")
        return
    who = "Triton refuses this launch" if verdict.who == "Triton" else f"{stages.target.name} cannot run this launch"
    where = f", line {verdict.line}" if verdict.line else ""
    reason = escape(joined(verdict.reason or ""))
    st.html(f'<div class="say refusal"><b>{escape(name)}{who}</b>{where}: {reason} {_in_interpreter(request, verdict)}</div>')


def _in_interpreter(request: Request, verdict: Verdict) -> str:
    """Whether the interpreter runs what is refused, as HTML; nothing where that is not known."""
    try:
        words = compiling.interpreted(request)
    except TaskError:
        return ""
    if words is None:
        return f"<b>It runs in Triton's interpreter all the same.</b> {escape(why(verdict.reason or ''))}"
    its = "" if joined(words) == joined(verdict.reason or "") else f": {words}"
    return escape(joined(f"Triton's interpreter refuses it too{its}"))


def remarks(built: Built, name: str = "") -> None:
    """What is worth a warning, a line each, apart from a refusal; `name` of the second state."""
    if not built.stages.texts:
        return
    for words in compiling.remarks(built.request, built.stages.target):
        if words != built.stages.verdict.reason:
            say(f"{name}{words}")


def fitting(built: Built) -> None:
    """The nearest launches that the target takes, each a button where the page can set it."""
    stages, request = built.stages, built.request
    if MISSING or not stages.verdict.refused:
        return
    with st.spinner("Looking for what would fit …"):
        found = compiling.fits(request, stages.target)
    if not found:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html("<b>What would fit</b>, found by compiling:", width="content")
        for number, one in enumerate(found):
            tiling = one.request.tiling
            texts = {**tiling.blocks, "num_warps": tiling.num_warps}
            here = tiling.num_stages == request.tiling.num_stages
            told = None if here else "In code: the launch rule of the operator chooses the stages of the pipeline."
            key = f"compiler.fit.{number}"
            st.button(one.change, key=key, on_click=_take, args=(texts,), disabled=not here, help=told)


def _take(texts: dict[str, int]) -> None:
    state.change(texts, keep=("line",))
    state.renew()
