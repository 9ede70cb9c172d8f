"""What lies one click down: an error to paste, the cards' facts, earlier reports, files to take along."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

import streamlit as st

from kernels.check import history
from kernels.check.failures import MOST as MOST_MESSAGE
from kernels.check.failures import THEMES, Failure, Recipe, explain
from kernels.check.page import html
from kernels.check.plan import DEVICE
from kernels.check.text import markdown
from kernels.check.values import STAGES, Report, to_json, verdict
from kernels.storage.codec import UnreadableError
from pages._html import Markup, caption, joined, show
from pages._parts import say, title

from . import results
from .reports import MOST


def tabs(report: Report) -> None:
    """Tabs; only the open one is drawn."""
    draws = {
        "Paste an error": _paste,
        "The card": lambda: _facts(report),
        "What is checked": plan,
        "Earlier reports": _earlier,
        "Take it along": lambda: _along(report),
    }
    opened = st.tabs(list(draws), on_change="rerun", key="check.tabs")
    for draw, tab in zip(draws.values(), opened, strict=True):
        if tab.open:
            with tab:
                draw()


def _paste() -> None:
    text = st.text_area(
        "An error message of torch, Triton, ptxas or a driver",
        key="check.message",
        height=120,
        max_chars=MOST_MESSAGE,
        placeholder="RuntimeError: Triton Error [CUDA]: device kernel image is invalid",
    )
    found = explain(text) if text.strip() else ()
    for failure in found:
        show(failure_html(failure))
    if text.strip() and not found:
        say("None of the known failures has this message. Run the check: it tries every stage, and names the one that fails.")
    if not text.strip():
        title("Known failures", "recognised by their messages, on the command line too: python -m kernels explain")
        show(joined(Markup("<b>{}</b>{}").format(theme, titles(recipes)) for theme, recipes in THEMES.items()))


def titles(recipes: Iterable[Recipe]) -> Markup:
    """The titles of recipes as a list."""
    rows = joined(Markup("<li>{}</li>").format(recipe.told().title) for recipe in recipes)
    return Markup('<ul class="known">{}</ul>').format(rows)


def failure_html(failure: Failure) -> Markup:
    """A failure: the line it was recognised by, why, what to do, where it was reported."""
    link = Markup('<a href="{}" target="_blank" rel="noreferrer">{}</a>')
    links = joined((link.format(source, _short(source)) for source in failure.sources), ", ")
    layout = (
        '<div class="say refusal"><b>{}.</b> {}<br><b>Do:</b> {}'
        "<br><small>By line {}: <code>{}</code></small><br><small>Reported in {}</small></div>"
    )
    return Markup(layout).format(failure.title, failure.cause, failure.fix, failure.line_number, failure.line, links)


def _short(address: str) -> str:
    """An address in few letters: owner/name#number of a GitHub issue, the host's name of any other."""
    issue = re.fullmatch(r"https://github\.com/([^/]+/[^/]+)/issues/(\d+)", address)
    return f"{issue[1]}#{issue[2]}" if issue else urlsplit(address).netloc


def _facts(report: Report) -> None:
    if not report.cards:
        st.caption("This report is of a machine without a GPU.")
    for card in report.cards:
        title(f"GPU {card.index}: {card.name}", "from its driver, or by the formula shown")
        row = Markup("<tr><td>{}</td><td><b>{}</b></td><td class='limit'>{}</td></tr>")
        _table(row.format(one.name, one.value, one.source) for one in card.facts)


def plan() -> None:
    """Every stage with its checks."""
    title("What is checked, in order", "each can fail alone; what builds on a failure is not measured, and never passes")
    machine = "driver, NVML, torch build, torch and Triton, variables, C compiler, headers, libcuda, ptxas, cache folder"
    health = "slices, other users, memory errors and repairs, limits that were lowered"
    names = {"bring-up": [machine], "health": [health]}
    for check in DEVICE:
        names.setdefault(check.stage, []).append(check.title)
    names["several GPUs"] = ["launch on the last card, copies from each to each, each against the best"]
    names["history"] = ["each speed against the same card's last report: 5 % slower warns, 10 % fails"]
    _table(Markup("<tr><td>{}</td><td>{}</td></tr>").format(stage, "; ".join(names.get(stage, ()))) for stage in STAGES)
    quick = "; ".join(check.title for check in DEVICE if check.quick and check.stage != "bring-up")
    st.caption(f"Quick: bring-up and health, then: {quick}.")


def _earlier() -> None:
    found, wrong = history.summaries(history.default_folder())
    title("Reports kept on this machine", "chosen in the sidebar; each card is compared with its own last one")
    if not found:
        st.caption("None yet: a check of a GPU keeps one.")
    shown = []
    for path, _ in found[:MOST]:
        with contextlib.suppress(UnreadableError):
            shown.append(history.load(path))
    _table(_line(report) for report in [*shown, *history.recorded()])
    for line in wrong[:MOST]:
        caption(line)
    if len(wrong) > MOST:
        caption(f"{len(wrong) - MOST:,} more files of that folder are no reports.")


def _table(rows: Iterable[Markup]) -> None:
    show(Markup('<table class="plain">{}</table>').format(joined(rows)))


def _line(report: Report) -> Markup:
    name = report.cards[0].name if report.cards else "no GPU"
    speeds = [report.find(check) for check in ("dram copy", "matmul")]
    told = ", ".join(f"{one.value:,.4g} {one.unit}" for one in speeds if one and one.value)
    tag = Markup('<span class="tag recorded">recorded</span>') if report.recorded else ""
    made, text = report.made[:16].replace("T", " "), verdict(report).replace("**", "")
    return Markup("<tr><td>{}{}</td><td>{}</td><td>{}</td><td>{}</td></tr>").format(made, tag, name, told, text)


def _along(report: Report) -> None:
    title("Files of this report", "the markdown and the page name no host, user or path")
    kinds = {
        "Markdown, to paste into an issue": (markdown(report), "check.md", "text/markdown"),
        "HTML with the plots": (html(report), "check.html", "text/html"),
        "JSON, to merge with other hosts'": (to_json(report), "check.json", "application/json"),
    }
    for column, (label, (content, name, kind)) in zip(st.columns(3, gap="small"), kinds.items(), strict=True):
        column.download_button(label, content, name, kind, key=f"check.save.{name}", width="stretch", on_click="ignore")
    st.code(
        "python -m kernels check --json host.json --markdown check.md --html check.html\npython -m kernels merge host-*.json",
        language="bash",
    )
    st.caption(f"The command ends with exit code {results.code(report)}.")
