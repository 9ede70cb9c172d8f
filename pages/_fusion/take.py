"""What a person takes along from the fusion page: a link, the command that measures the same, the run as a file."""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from kernels.storage import codec
from pages._html import caption

from .found import Found
from .state import Comparison, write


def along(comparison: Comparison, found: Found | None) -> None:
    """A link to this state, the same measurement from a terminal, and the run with all its facts."""
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Link** to exactly this state")
        base = (st.context.url or "").split("?")[0]
        st.code(f"{base}?{urlencode(write(comparison))}", language=None, wrap_lines=True)
        st.markdown("**From a terminal**, on a machine with a GPU")
        st.code(command(comparison), language="bash", wrap_lines=True)
    if found is None:
        return
    with right:
        st.markdown(f"**The run**, {found.origin}: device, versions, method and every figure")
        data = codec.encoded(found.run)
        st.download_button("JSON", data, "run.json", "application/json", key="take.run", on_click="ignore")
        caption(found.about)


def command(comparison: Comparison) -> str:
    """The command line that measures the same."""
    request = comparison.request
    rule = request.description.tiling(request.problem)
    options = dict(request.problem.sizes)
    options |= {name: value for name, value in request.tiling.blocks.items() if value != rule.blocks[name]}
    flags = [f"--{name.lower().replace('_', '-')} {value}" for name, value in options.items()]
    flags.append(f"--dtype {request.problem.dtype}")
    if request.tiling.num_warps != rule.num_warps:
        flags.append(f"--num-warps {request.tiling.num_warps}")
    if comparison.direction != "forward":
        flags.append(f"--direction {comparison.direction}")
    return f"python -m kernels bench {request.operator} {' '.join(flags)}"
