"""The hardware page: threads, warps and multiprocessors at work, from the compiled kernel and from real launches."""

import streamlit as st

from pages import _panel, _shell
from pages._hardware import controls, headline, launching, look, machine, more, pictures
from pages._hardware.state import state
from pages._html import Markup, show
from pages._launch import running

_shell.guard()
shown = state.current()
style = _panel.frame()
st.session_state["drawn"] = {}
chip, target, gpu = look.chip_of(shown), look.target_of(shown), look.gpu_of(shown)

with st.sidebar:
    controls.controls(shown)
    launching_here = st.container()
analysis = look.analysis(shown.request, target)
headline.headline(shown, chip, analysis, alive=gpu is not None)
running.explain(shown.request, gpu, analysis.verdict)
headline.figures(shown, chip, analysis)
left, right = st.columns([1, 1], gap="medium")
with right:
    told = pictures.who_ran(shown, chip, style)
    if not told:
        machine.draw(shown, chip, analysis, style, narrow=True)
        show(Markup('<div class="way">{}</div>').format(pictures.not_told(shown, chip)))
with left:
    pictures.who_owns(shown, analysis, style)
more.tabs(shown, chip, analysis, style, machine_above=not told)
state.write_url()
with launching_here:
    launching.button(shown, analysis)
