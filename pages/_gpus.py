"""The GPUs that pages launch on, and which one a person picked."""

from __future__ import annotations

import streamlit as st

from kernels.language import MISSING
from kernels.runtime.device import Gpu, attached, idle_first

from ._public import public


def gpus() -> tuple[Gpu, ...]:
    """The GPUs that Triton can launch on from here; none on a public copy."""
    return () if MISSING or public() else attached()


def chosen_gpu() -> Gpu | None:
    """The GPU to launch on: the one that was picked, else an idle one; None without any."""
    found = gpus()
    if not found:
        return None
    picked = st.session_state.get("picked_gpu")
    return next((gpu for gpu in found if gpu.index == picked), None) or idle_first(found)[0]


def picker() -> None:
    """A choice of GPU where there are several, idle ones first."""
    found = gpus()
    if len(found) > 1:
        order = {gpu.index: gpu for gpu in idle_first(found)}
        st.selectbox("GPU", list(order), key="picked_gpu", format_func=lambda index: f"{index}: {order[index].name}")


def device_name(gpu: Gpu) -> str:
    """A GPU in a few words."""
    return f"{gpu.name} · {gpu.multiprocessors} SMs" if gpu.multiprocessors else gpu.name
