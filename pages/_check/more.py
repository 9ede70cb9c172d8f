"""What lies one click down: an error to paste, the cards' facts, earlier reports, files to take along."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from urllib.parse import urlsplit

import streamlit as st

from kernels.check import history
from kernels.check.failures import MOST, THEMES, Failure, Recipe, explain
from kernels.check.page import html
from kernels.check.plan import DEVICE
from kernels.check.text import markdown
from kernels.check.values import STAGES, Report, to_json, verdict
from pages._parts import say, title

from . import results


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
        max_chars=MOST,
        placeholder="RuntimeError: Triton Error [CUDA]: device kernel image is invalid",
    )
    found = explain(text) if text.strip() else ()
    for failure in found:
        st.html(failure_html(failure))
    if text.strip() and not found:
        say("None of the known failures has this message. Run the check: it tries every stage, and names the one that fails.")
    if not text.strip():
        title("Known failures", "recognised by their messages, on the command line too: python -m kernels explain")
        st.html("".join(f"<b>{escape(theme)}</b>{titles(recipes)}" for theme, recipes in THEMES.items()))


def titles(recipes: Iterable[Recipe]) -> str:
    """The titles of recipes as a list."""
    return '<ul class="known">' + "".join(f"<li>{escape(recipe.told().title)}</li>" for recipe in recipes) + "</ul>"


def failure_html(failure: Failure) -> str:
    """A failure: the line it was recognised by, why, what to do, where it was reported."""
    links = ", ".join(
        f'<a href="{escape(source)}" target="_blank" rel="noreferrer">{escape(_short(source))}</a>'
        for source in failure.sources
    )
    return (
        f'<div class="say refusal"><b>{escape(failure.title)}.</b> {escape(failure.cause)}'
        f"<br><b>Do:</b> {escape(failure.fix)}"
        f"<br><small>By line {failure.line_number}: <code>{escape(failure.line)}</code></small>"
        f"<br><small>Reported in {links}</small></div>"
    )


def _short(address: str) -> str:
    """An address in few letters: owner/name#number of a GitHub issue, the host's name of any other."""
    issue = re.fullmatch(r"https://github\.com/([^/]+/[^/]+)/issues/(\d+)", address)
    return f"{issue[1]}#{issue[2]}" if issue else urlsplit(address).netloc


def _facts(report: Report) -> None:
    if not report.cards:
        st.caption("This report is of a machine without a GPU.")
    for card in report.cards:
        title(f"GPU {card.index}: {card.name}", "from its driver, or by the formula shown")
        rows = "".join(
            f"<tr><td>{escape(one.name)}</td><td><b>{escape(one.value)}</b></td>"
            f"<td class='limit'>{escape(one.source)}</td></tr>"
            for one in card.facts
        )
        st.html(f'<table class="plain">{rows}</table>')


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
    rows = "".join(f"<tr><td>{stage}</td><td>{escape('; '.join(names.get(stage, ())))}</td></tr>" for stage in STAGES)
    st.html(f'<table class="plain">{rows}</table>')
    quick = "; ".join(check.title for check in DEVICE if check.quick and check.stage != "bring-up")
    st.caption(f"Quick: bring-up and health, then: {quick}.")


def _earlier() -> None:
    found, wrong = history.listed(history.default_folder())
    title("Reports kept on this machine", "chosen in the sidebar; each card is compared with its own last one")
    if not found:
        st.caption("None yet: a check of a GPU keeps one.")
    shown = [*(report for _, report in found[:20]), *history.recorded()]
    rows = "".join(_line(report) for report in shown)
    st.html(f'<table class="plain">{rows}</table>')
    for line in wrong:
        st.caption(line)


def _line(report: Report) -> str:
    name = report.cards[0].name if report.cards else "no GPU"
    speeds = [report.find(check) for check in ("dram copy", "matmul")]
    told = ", ".join(f"{one.value:,.4g} {one.unit}" for one in speeds if one and one.value)
    tag = '<span class="tag recorded">recorded</span>' if report.recorded else ""
    text = escape(verdict(report).replace("**", ""))
    return f"<tr><td>{report.made[:16].replace('T', ' ')}{tag}</td><td>{escape(name)}</td><td>{told}</td><td>{text}</td></tr>"


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
