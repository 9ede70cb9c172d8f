"""The launch page: from sizes to programs, offsets, masks and values, and to a launch that is checked."""

import streamlit as st

from pages import _panel, _shell
from pages._gpus import chosen_gpu, picker
from pages._launch import controls, headline, more, origins, pictures, running, source, tracing
from pages._launch.state import state

_shell.guard()
settings = state.current()
style = _panel.frame()
st.session_state["drawn"] = {}

with st.sidebar:
    controls.controls(settings)
    launching = st.container()
picture, reason = tracing.picture(settings)
headline.headline(settings)
headline.figures(settings, picture, style)
said = st.container()
headline.sentences(settings, picture, reason)
if picture.shown:
    left, right = st.columns([1, 1], gap="medium")
    with left:
        origin = origins.find(settings)
        pictures.draw(settings, picture, origin, style)
    with right:
        source.kernel(settings, picture)
        origins.show(settings, origin)
        result = st.container()
else:
    result = st.container()
more.tabs(settings, picture, style)
state.write_url()

gpu = chosen_gpu()
verdict = tracing.verdict(settings.request, gpu)
with said:
    running.explain(settings.request, gpu, verdict)
with launching:
    picker()
    running.button(settings, picture, gpu)
with result:
    running.result(settings)
if not picture.complete and not tracing.was_whole(settings):
    tracing.finish(settings)
