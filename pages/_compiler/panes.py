"""The source and one stage of the compiler, linked line by line; with a second state three columns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from kernels.inside.differences import differing
from kernels.inside.lines import Listing, listing
from kernels.inside.stages import STAGES, Stages
from kernels.runtime.device import Target
from kernels.runtime.request import Request
from kernels.runtime.source import Source, source_of
from pages import _linked
from viz.listing import Pane, message_pane, source_pane, stage_pane, tints
from viz.theme import Style

from .state import CompilerSettings, find, state

TITLES = {"ttir": "TTIR", "ttgir": "TTGIR", "llir": "LLVM IR", "ptx": "PTX", "sass": "SASS", "amdgcn": "AMDGCN"}
HELP = {
    "ttir": "Triton's own language: blocks as values, nothing said of threads.",
    "ttgir": "The same with layouts: which thread holds which element.",
    "llir": "One thread's work, in the language of LLVM.",
    "ptx": "Assembly for every NVIDIA GPU, with any number of registers.",
    "sass": "The instructions that this kind of GPU runs.",
    "amdgcn": "The instructions that this kind of GPU runs.",
}


@dataclass(frozen=True)
class Built:
    """One state: what is compiled, what came of it, and how it is called where two are shown."""

    request: Request
    stages: Stages
    name: str


def target(settings: CompilerSettings) -> Target:
    """What is compiled for."""
    return find(settings.target)


def names(settings: CompilerSettings) -> tuple[str, str]:
    """How the two states are called: by what differs."""
    request, name = settings.request, settings.differs
    now = {**request.problem.sizes, **request.tiling.blocks, "num_warps": request.tiling.num_warps}.get(name)
    words = {"dtype": request.problem.dtype, "target": settings.target}.get(name)
    values = (words, settings.by) if now is None else (f"{now:,}", f"{int(settings.by):,}")
    return tuple(value if now is None else f"{name} {value}" for value in values)


def picker(settings: CompilerSettings) -> None:
    """The choice of stage, in the order of the compiler."""
    st.segmented_control(
        "stage",
        list(STAGES[find(settings.target).backend]),
        default=settings.stage,
        **state.widget("stage", ("line",)),
        format_func=TITLES.get,
        required=True,
        label_visibility="collapsed",
        width="content",
    )


def draw(settings: CompilerSettings, built: tuple[Built, ...], style: Style) -> None:
    """The columns; a click on a line keeps it lit, in the link too."""
    kernel = settings.request.launch().kernel
    source, file = source_of(kernel), kernel.fn.__code__.co_filename
    listings = [_listing(one.stages, _stage(settings, one), source, file) for one in built]
    panes = [_source(source, file, listings[0], built[0]), *_stages(settings, built, listings, source.first)]
    clicked = _linked.linked(panes, tints(style), settings.line, "compiler-panes")
    if clicked is not None and (clicked or None) != settings.line:
        state.change({"line": clicked or None})
        st.rerun()


def _stage(settings: CompilerSettings, built: Built) -> str:
    """The stage that is shown, or the last one where this target has no such stage."""
    return settings.stage if settings.stage in STAGES[built.stages.target.backend] else built.stages.last


def _listing(stages: Stages, stage: str, source: Source, file: str) -> Listing | None:
    return listing(stages, stage, source, file) if stage in stages.texts else None


def _source(source: Source, file: str, found: Listing | None, built: Built) -> Pane:
    made = Counter(place for place in found.places if place is not None) if found else Counter()
    return source_pane(source, Path(file).name, made, None if built.stages.texts else built.stages.verdict.line)


def _stages(settings: CompilerSettings, built: tuple[Built, ...], found: list[Listing | None], first: int) -> list[Pane]:
    stages = [_stage(settings, one) for one in built]
    if len(built) == 1:
        words = f"{len(found[0].lines):,} lines. {HELP[stages[0]]}" if found[0] else ""
        return [_pane(built[0], f"{TITLES[stages[0]]} for {settings.target}", words, found[0], stages[0], first)]
    titles = [f"{TITLES[stage]}, {one.name}" for stage, one in zip(stages, built, strict=True)]
    words = [f"{len(lines.lines):,} lines" if lines else "" for lines in found]
    only: tuple[frozenset[int], ...] = (frozenset(), frozenset())
    if found[0] and found[1] and stages[0] == stages[1]:
        only = differing(stages[0], found[0], found[1])
        words = [f"{len(differs):,} of {len(lines.lines):,} only here" for differs, lines in zip(only, found, strict=True)]
    parts = zip(built, titles, words, found, stages, strict=True)
    return [_pane(*part, first, differs, sign) for part, differs, sign in zip(parts, only, ("−", "+"), strict=True)]


def _pane(
    built: Built,
    title: str,
    words: str,
    lines: Listing | None,
    stage: str,
    first: int,
    differs: frozenset[int] = frozenset(),
    sign: str = "",
) -> Pane:
    if lines is not None:
        return stage_pane(title, words, lines, stage, first, differs, sign)
    missing = "Triton's installation has no disassembler here: PTX is as far as it goes."
    return message_pane(title, "", missing if built.stages.texts else f"Nothing was built: {built.stages.verdict.reason}")
