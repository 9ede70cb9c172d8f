"""What lies one click down on the compiler page: what differs, the mix, limits, new compiles, times, what to take along."""

from __future__ import annotations

import os
from html import escape
from statistics import median
from urllib.parse import urlencode

import streamlit as st

from kernels.commands.options import arguments_of
from kernels.inside.checks import checks
from kernels.inside.mix import KINDS, Mix, mix
from kernels.inside.moved import in_words, loaded
from kernels.inside.stages import STAGES
from kernels.inside.variants import arguments
from kernels.runtime.device import attached
from pages._parts import bold, chart, title
from viz import compiler
from viz.theme import Style
from viz.words import seconds_text

from . import compiling
from .panes import TITLES, Built
from .state import CompilerSettings, write

NO_MIX = Mix({}, {}, {}, {})
MARKS = {True: "✓", False: "✗", None: "!"}


def tabs(settings: CompilerSettings, built: tuple[Built, ...], style: Style) -> None:
    """Tabs; only the open one is drawn."""
    names = ["What the instructions do", "Limits", "When it compiles anew", "Compile time", "Take it along"]
    if len(built) > 1:
        names.insert(0, "What differs")
    opened = st.tabs(names, on_change="rerun", key=f"compiler.tabs.{len(built)}")
    draws = {
        "What differs": lambda: _differs(built),
        "What the instructions do": lambda: _instructions(built, style),
        "Limits": lambda: _limits(built),
        "When it compiles anew": lambda: _anew(settings, built[0]),
        "Compile time": lambda: _times(built[0], style),
        "Take it along": lambda: _along(settings, built[0]),
    }
    for name, tab in zip(names, opened, strict=True):
        if tab.open:
            with tab:
                draws[name]()


def table(head: tuple[str, ...], rows: list[tuple[str, ...]], marked: frozenset[int] = frozenset()) -> str:
    """A table as HTML, its texts escaped; rows numbered in `marked` stand out."""
    cells = "".join(f"<th>{escape(one)}</th>" for one in head)
    lines = "".join(
        f'<tr class="{"marked" if number in marked else ""}">{"".join(f"<td>{bold(one)}</td>" for one in row)}</tr>'
        for number, row in enumerate(rows)
    )
    return f'<table class="facts"><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>'


def _differs(built: tuple[Built, ...]) -> None:
    one, other = built
    pairs = list(zip(_metadata(one), _metadata(other), strict=True))
    rows = sorted(((name, first, second) for (name, first), (_, second) in pairs), key=lambda row: row[1] == row[2])
    differing = frozenset(number for number, (_, first, second) in enumerate(rows) if first != second)
    same = one.stages.metadata.get("hash") == other.stages.metadata.get("hash") and one.stages.texts
    words = "both launches run one and the same kernel: nothing is compiled anew" if same else "two kernels"
    title("What differs", f"{words}; rows that differ are marked and come first")
    st.html(table(("", one.name, other.name), rows, differing))


def _metadata(built: Built) -> list[tuple[str, str]]:
    stages, launch = built.stages, built.request.launch()
    counted = mix(stages) if stages.texts else NO_MIX
    used = stages.resources

    def told(value: int | None) -> str:
        return "-" if value is None else f"{value:,}"

    layout = next((line for line in stages.texts.get("ttgir", "").split("\n") if line.startswith("#blocked =")), "-")
    shown = [
        ("accepted", "yes" if stages.verdict.launchable else f"no: {stages.verdict.reason}"),
        ("kernel", stages.metadata.get("hash", "-")[:12]),
        ("target", stages.target.name),
        ("grid", " × ".join(f"{one:,}" for one in launch.grid)),
        ("threads of a program", f"{launch.num_warps * stages.target.warp_size:,}"),
        ("registers a thread", told(used.registers)),
        ("spilled, bytes a thread", told(used.spill_bytes)),
        ("shared memory, bytes", told(used.shared_bytes)),
        ("loads", _widths(counted.loads)),
        ("a load, by argument", in_words(loaded(stages, launch)) or "-"),
        ("stores", _widths(counted.stores)),
        ("matrix instructions", ", ".join(f"{count} × {name}" for name, count in counted.matrix.items()) or "none"),
        ("instructions", told(counted.instructions if stages.texts else None)),
        ("layout of the loads", layout.partition("= ")[2].removeprefix("#ttg.") or "-"),
    ]
    became = {one.name: f"{one.value}: {one.became}" for one in arguments(built.request, stages.target)}
    return shown + [(f"argument {name}", words) for name, words in became.items()]


def _widths(found: dict[int, int]) -> str:
    return " + ".join(f"{count} × {width or '?'} B" for width, count in found.items()) or "none"


def _instructions(built: tuple[Built, ...], style: Style) -> None:
    states = [(one.name, mix(one.stages).kinds) for one in built if one.stages.texts]
    if not states:
        st.caption("Nothing was built, so there is nothing to count.")
        return
    last = TITLES[built[0].stages.last]
    title("What the instructions do", f"counted in the {last}; a loop's body counts once; hover a bar for words")
    chart(compiler.mix_figure(states, KINDS, style), "mix", "Instructions by what they do")


def _limits(built: tuple[Built, ...]) -> None:
    for one in built:
        counted = mix(one.stages) if one.stages.texts else NO_MIX
        found = checks(one.stages, one.request.launch(), counted)
        target = one.stages.target.name
        whose = "its driver" if any(gpu.target.name == target for gpu in attached()) else "its maker's guides"
        title(
            f"Limits of {target}", f"{one.name}, checked before a launch; needs from the compiled kernel, limits from {whose}"
        )
        rows = [(MARKS[check.fits], check.name, check.needed, check.limit, check.words) for check in found]
        wrong = frozenset(number for number, check in enumerate(found) if not check.fits)
        st.html(table(("", "", "this launch", target, ""), rows, wrong))


def _anew(settings: CompilerSettings, built: Built) -> None:
    left, right = st.columns([1, 1.15], gap="large")
    with left:
        title("What the kernel was told", "when it was compiled")
        alike: dict[tuple[str, str, str], list[str]] = {}
        for one in arguments(settings.request, built.stages.target):
            alike.setdefault((one.value, one.became, one.because), []).append(one.name)
        rows = [(", ".join(names), *told) for told, names in alike.items()]
        st.html(table(("argument", "value", "became", ""), rows))
    with right:
        title("Which launches need another kernel", "each was compiled just now")
        with st.spinner("Compiling the launch with other sizes …", show_time=True):
            found = compiling.variants(settings.request, built.stages.target)
        if isinstance(found, str):
            st.html(f'<div class="say fault">{escape(found)}</div>')
            return
        rows, marked, letters = [], set(), {}
        for number, one in enumerate(found):
            if one.refused:
                rows.append((one.change, f"refused: {one.refused}", "", "", ""))
                continue
            letter = letters.setdefault(one.kernel, chr(ord("A") + len(letters)))
            verdict = f"{letter}, the same" if one.same else f"**{letter}**, another"
            rows.append((one.change, verdict, f"{one.registers}", one.loads or "?", f"{one.instructions:,}"))
            if not one.same:
                marked.add(number)
        st.html(table(("launch", "kernel", "registers", "a load", "instructions"), rows, frozenset(marked)))


def _times(built: Built, style: Style) -> None:
    request, target = built.request, built.stages.target
    with st.spinner("Compiling afresh, to time it …", show_time=True):
        found = compiling.times(request, target)
    if isinstance(found, str) or not found[0][0].seconds:
        st.caption(found if isinstance(found, str) else "Nothing was built, so there is nothing to time.")
        return
    cold, cached = found
    parts = [(name, median(one.seconds.get(name, 0.0) for one in cold)) for name in cold[0].seconds]
    looked = median(sum(one.seconds.values()) for one in cached)
    compiles = f"medians of {len(cold)} compiles" if len(cold) > 1 else "one compile, since it is a long one,"
    turns = f"{compiles} and {len(cached)} looks into the cache"
    title("What compiling takes", f"measured on this machine ({os.cpu_count()} cores): {turns}")
    names = {
        **TITLES,
        "source": "Python",
        "cubin": "SASS (ptxas)",
        "hsaco": "binary",
        "store": "to disk",
        "ttir": "TTIR",
    }
    chart(
        compiler.times_figure([(names.get(name, name), took) for name, took in parts], looked, style), "times", "Compile times"
    )
    total = sum(took for _, took in parts)
    ratio = f"**{total / looked:,.0f} times** as long as" if looked else "longer than"
    st.markdown(
        f"The first launch with such arguments compiles for **{seconds_text(total)}**, {ratio} a look into Triton's cache on "
        "disk takes. Later launches in the same process find the kernel in memory, in microseconds."
    )


def _along(settings: CompilerSettings, built: Built) -> None:
    stages = built.stages
    left, right = st.columns([1, 1.2], gap="large")
    with left:
        st.markdown(f"**Every stage** for {stages.target.name}, whole, as the compiler wrote it")
        with st.container(horizontal=True, gap="small"):
            for name in STAGES[stages.target.backend]:
                if name in stages.texts:
                    file = f"{stages.kernel}.{stages.target.name}.{name}"
                    key = f"compiler.take.{name}"
                    st.download_button(TITLES[name], stages.texts[name], file, "text/plain", key=key, on_click="ignore")
            if stages.binary:
                kind = "cubin" if stages.target.backend == "cuda" else "hsaco"
                file = f"{stages.kernel}.{stages.target.name}.{kind}"
                st.download_button("binary", stages.binary, file, key="compiler.take.binary", on_click="ignore")
        st.markdown("**Link** to exactly this state")
        base = (st.context.url or "").split("?")[0]
        st.code(f"{base}?{urlencode(write(settings))}", language=None, wrap_lines=True)
    with right:
        st.markdown("**Command line**: the same figures, or a stage, without a browser")
        command = f"python -m kernels compile {' '.join(arguments_of(settings.request))} --target {settings.target}"
        st.code(f"{command} --json\n{command} --emit {settings.stage}", language=None, wrap_lines=True)
