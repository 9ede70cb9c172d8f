"""What the page says of the model where the GPU's counters were read: the sums of the whole launch, or why there are none."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from .limits import PATIENCE


def beside(texts: dict[str, str]) -> str:
    def app() -> None:
        import streamlit as st

        from kernels.inside.sector_counters import Counts
        from kernels.runtime.device import find_target
        from kernels.runtime.settings import corrected
        from pages._hardware import look, sectors

        request = corrected(st.session_state["texts"])[0].request
        analysis = look.analysis(request, find_target("sm_90"))
        st.text(sectors._compared(Counts(7, 7, 7, 7), request, analysis))

    test = AppTest.from_function(app, default_timeout=PATIENCE)
    test.session_state["texts"] = texts
    test.session_state["entered"] = True
    test.run()
    assert not test.exception
    return test.text[0].value


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # Two inputs of 2^20 floats, 8 to a sector; each aligned block has sectors of its own.
        ({"n": "1048576", "b": "1024"}, {"loads": "262,144", "stores": "131,072"}),
        # 128 x 128 tiles, each stored once, 16 rows of 64 bytes.
        (
            {"operator": "matmul_relu", "m": "2048", "n": "2048", "k": "32", "BLOCK_M": "16", "BLOCK_N": "16", "BLOCK_K": "16"},
            {"stores": "524,288"},
        ),
    ],
    ids=["vector add", "matmul"],
)
def test_the_model_of_a_launch_of_more_programs_than_are_traced(texts, expected):
    said = beside(texts)
    for kind, sectors in expected.items():
        assert f"all {kind} asked for **7** sectors, the model says {sectors}" in said


def test_what_the_model_cannot_tell_is_said_with_how_much_was_traced():
    said = beside(
        {"operator": "matmul_relu", "m": "208", "n": "112", "k": "16", "GROUP_M": "8", "BLOCK_M": "16", "BLOCK_N": "16"}
    )
    assert "the model cannot tell (traced: " in said
    assert " of 91)" in said
