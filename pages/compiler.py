"""The compiler page: how a kernel becomes machine code, for any target, with no GPU."""

import streamlit as st

from pages import _panel, _shell
from pages._compiler import compiling, controls, headline, more, panes
from pages._compiler.state import from_launch, state

_shell.guard()
if "compiler.settings" not in st.session_state and not st.query_params and "launch.settings" in st.session_state:
    state.start_over(from_launch(st.session_state["launch.settings"]))
settings = state.current()
style = _panel.frame()
st.session_state["drawn"] = {}

with st.sidebar:
    controls.controls(settings)
asked = [(settings.request, panes.target(settings))]
second = settings.second()
names = ("this launch",)
if second:
    asked.append(second)
    names = panes.names(settings)
built = tuple(
    panes.Built(request, compiling.stages(request, target), name) for (request, target), name in zip(asked, names, strict=True)
)
headline.headline(built[0], settings)
for one in built:
    headline.refusal(one, f"{one.name}: " if second else "")
with st.container(horizontal=True, vertical_alignment="bottom", gap="small", horizontal_alignment="distribute"):
    headline.figures(built)
    panes.picker(settings)
said = st.container()
panes.draw(settings, built, style)
more.tabs(settings, built, style)
state.write_url()
with said:
    headline.fitting(built[0])
    for one in built:
        headline.remarks(one, f"{one.name}: " if second else "")
