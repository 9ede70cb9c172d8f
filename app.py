"""The Triton explorer. `python app.py` starts it; so does `streamlit run app.py`."""

import streamlit as st
from starlette.middleware import Middleware
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages import _hosts, _shell

if get_script_run_ctx(suppress_warning=True) is None:  # the server; below, a run of a page
    if __name__ == "__main__":
        _shell.serve(__file__)
    before = [Middleware(_hosts.KnownHosts), Middleware(_hosts.BoundedSessions)]
    app = st.App(__file__, middleware=before, lifespan=_shell.started)
else:
    st.set_page_config(page_title="Triton explorer", page_icon=_shell.ICON, layout="wide")
    _shell.enter()
    st.navigation(_shell.pages(), position="top").run()
