"""The new-GPU check: a verdict, what to do, the figures behind it; and the answer to a pasted error."""

import streamlit as st

from pages import _panel, _shell
from pages._check import figures, more, reports, results, running
from pages._check.state import state
from pages._html import caption
from pages._parts import say

_shell.guard()
settings = state.current()
style = _panel.frame()
st.session_state["drawn"] = {}
st.html(_shell.HERE / "_check" / "style.css")

with st.sidebar:
    running.controls(settings)
    running.chooser(settings, reports.names())
for notice in state.notices():
    caption(notice)


def show() -> None:
    """The report that is chosen; of a check that runs, what there is."""
    now = running.current()
    busy = now is not None and now.alive and settings.report == "latest"
    report = reports.shown(settings)
    if report is None:
        reports.introduction()
        more.plan()
    else:
        results.head(report, running=now.session.report().seconds if busy else None, doing=now.session.doing if busy else "")
        if now is not None and now.failure:
            say(f"**The check broke.** {now.failure}", "fault")
        if now is not None and now.unkept:
            say(f"**This report is not kept.** {now.unkept}", "refusal")
        results.numbers(report)
        left, right = st.columns([1, 1], gap="medium") if report.cards else (st.container(), st.container())
        with left, st.container(height=round(570 * style.scale), border=False):
            results.advice(report)
            results.table(report)
        with right:
            figures.draw(report, style)


reports.live(show)
more.tabs(reports.shown(settings) or reports.empty())
state.write_url()
