"""The Triton explorer. `python app.py` starts it; so does `streamlit run app.py`."""

import streamlit as st
from streamlit import runtime

from pages import _shell

if runtime.exists():
    st.set_page_config(page_title="Triton explorer", page_icon=_shell.ICON, layout="wide")
    _shell.enter()
    st.navigation(_shell.pages()).run()
elif __name__ == "__main__":
    _shell.serve(__file__)
