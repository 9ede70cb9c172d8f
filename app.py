"""The Triton explorer. `python app.py` starts it; so does `streamlit run app.py`."""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages import _shell

if get_script_run_ctx(suppress_warning=True) is None:
    _shell.serve(__file__)
st.set_page_config(page_title="Triton explorer", page_icon=_shell.ICON, layout="wide")
_shell.enter()
st.navigation(_shell.pages(), position="top").run()
