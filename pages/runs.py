"""The runs page: what was measured, here and elsewhere, side by side."""

import streamlit as st

from pages import _panel, _parts, _shell
from pages._gpus import chosen_gpu
from pages._runs import chosen, listing

MOST = 10  # lines about files that are no runs
_shell.guard()
style = _panel.frame()
st.session_state["drawn"] = {}

with st.sidebar:
    st.markdown("#### Triton explorer")
    folder = listing.folder()
    opened = listing.opened()
found, wrong = listing.entries(folder, opened)
counts = {kind: sum(entry.kind == kind for entry in found) for kind in listing.KINDS}
gpu = chosen_gpu()
here = f"this machine: {gpu.name if gpu else 'no GPU'}"
saved = f"**{counts['saved']}** run{'' if counts['saved'] == 1 else 's'} saved here"
_parts.headline(f"{saved}, {counts['opened']} opened, {counts['recorded']} recorded on other machines.", here, alive=bool(gpu))
more = [f"{len(wrong) - MOST:,} more files of that folder are no runs."] if len(wrong) > MOST else []
for line in (*wrong[:MOST], *more, *filter(None, [st.session_state.pop("runs.failed", None)])):
    _parts.say(line, "fault")
picked = listing.whole(listing.choose(found))
if picked:
    chosen.show(picked, style)
else:
    _parts.say("Tick runs in the first column: one to see it, several to see them side by side.")
