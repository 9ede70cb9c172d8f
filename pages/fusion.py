"""The fusion page: what one kernel instead of several gives, in bytes, time and memory."""

import streamlit as st

from pages import _panel, _shell
from pages._fusion import arriving, controls, found, headline, more, pictures, running
from pages._fusion.state import state
from pages._numerics import numerics

_shell.guard()
comparison = state.current()
style = _panel.frame()
st.session_state["drawn"] = {}

with st.sidebar:
    controls.controls(comparison)
    controls.recorded(comparison)
    running.buttons(comparison)
there = found.find(comparison)
headline.headline(comparison, there)
headline.figures(comparison, there)
running.said(comparison)
place = pictures.draw(comparison, there, style)
headline.remarks(there)
arriving.words(comparison)
numerics(comparison.request)
more.tabs(comparison, there, style)
state.write_url()
arriving.arrive(comparison)
pictures.count(comparison, place)
