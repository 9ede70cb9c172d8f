"""The compiler page's logic, through Streamlit's AppTest: settings, a second state, refusals, tabs; no traceback ever."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from streamlit.testing.v1 import AppTest

from kernels import operators
from kernels.runtime.settings import corrected
from pages._compiler import compiling, state
from viz import compiler, theme
from viz.listing import TINTS, message_pane

from .limits import PATIENCE
from .test_pages import ROOT, checked, words
from .test_viz import contrast


def page(**texts: object) -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages" / "compiler.py"), default_timeout=PATIENCE)
    app.session_state["entered"] = True
    for name, value in texts.items():
        app.query_params[name] = str(value)
    return checked(app.run())


def widget(app: AppTest, kind: str, name: str):
    return next(one for one in getattr(app, kind) if one.key and one.key.startswith(f"compiler.{name}."))


def test_the_page_tells_registers_spills_memory_and_loads():
    text = words(page(n_elements=98432))
    assert "add_kernel takes 26 registers a thread, nothing spilled, no shared memory, loads of up to 16 bytes." in text
    assert "4 × 16 B" in text


@pytest.mark.parametrize("operator", operators())
def test_every_operator_for_nvidia_and_amd(operator):
    app = page(operator=operator)
    checked(widget(app, "selectbox", "target").set_value("gfx942").run())
    assert app.session_state["compiler.settings"].stage == "amdgcn"
    assert app.query_params["target"] in ("gfx942", ["gfx942"])
    checked(widget(app, "segmented_control", "stage").set_value("ttgir").run())
    assert app.session_state["compiler.settings"].stage == "ttgir"


def test_a_second_state_differs_in_one_thing():
    app = page(n_elements=98432)
    checked(widget(app, "selectbox", "differs").set_value("BLOCK_SIZE").run())
    assert app.session_state["compiler.settings"].by == "512"
    text = words(app)
    assert "26 → 20" in text
    assert "two kernels; rows that differ are marked" in text
    checked(widget(app, "selectbox", "differs").set_value("n_elements").run())
    assert app.session_state["compiler.settings"].by == "98435"
    assert "4 × 16 B → 16 × 4 B" in words(app)
    checked(widget(app, "number_input", "by").set_value(98448).run())
    assert "nothing is compiled anew" in words(app)
    checked(widget(app, "selectbox", "differs").set_value("target").run())
    assert app.session_state["compiler.settings"].by == "sm_75"


def test_a_refusal_is_explained_and_what_fits_is_one_click_away():
    app = page(operator="matmul_relu", m=4096, n=4096, k=4096, dtype="float16", BLOCK_M=8, BLOCK_N=8, BLOCK_K=8)
    text = words(app)
    assert "matmul_relu_kernel does not compile for sm_90." in text
    assert "It runs in Triton's interpreter all the same." in text
    button = next(one for one in app.button if one.label == "BLOCK_K = 16")
    checked(button.click().run())
    assert app.session_state["compiler.settings"].request.tiling["BLOCK_K"] == 16
    assert "registers a thread" in words(app)


def test_both_refuse_a_block_of_three():
    text = words(page(n_elements=7, BLOCK_SIZE=3))
    assert "Triton refuses this launch, line" in text
    assert "Triton's interpreter refuses it too." in text
    assert "Point at a line" not in text


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"target": "<script>"}, "target: '<script>' is not one of sm_75"),
        ({"stage": "x86"}, "stage: 'x86' is not one of ttir"),
        ({"line": "1"}, "is not a line of this kernel"),
        ({"line": "99999999999999999999"}, "is not a line of this kernel"),
        ({"differs": "colour"}, "differs: 'colour' is not one of BLOCK_SIZE"),
        ({"differs": "dtype", "by": "int4"}, "by: 'int4' is not one of float32"),
        ({"differs": "BLOCK_SIZE", "by": "-7"}, "1 is used"),
        ({"differs": "n_elements", "by": "1e99"}, "1,099,511,627,776 is used"),
        ({"colour": "red"}, "there is no such setting here"),
    ],
)
def test_hostile_links_are_corrected_and_said(texts, said):
    app = page(n_elements=1000, **texts)
    assert said in words(app)
    assert "<script>" not in " ".join(one.proto.body for one in app.get("html"))


@pytest.mark.parametrize("tab", ["Limits", "When it compiles anew", "Compile time", "Take it along"])
def test_every_tab_is_drawn(tab):
    app = page(n_elements=1000)
    app.session_state["compiler.tabs.1"] = tab
    text = words(checked(app.run()))
    told = {
        "Limits": "4 warps of 32 threads run one program.",
        "When it compiles anew": "A, the same",
        "Compile time": "a look into Triton's cache on disk takes",
        "Take it along": "Command line",
    }
    assert told[tab] in text


def test_a_link_makes_the_same_settings_again():
    for texts in (
        {
            "operator": "softmax",
            "rows": "6",
            "columns": "781",
            "target": "gfx942",
            "stage": "llir",
            "differs": "target",
            "by": "sm_80",
        },
        {"n": "1000", "stage": "sass", "differs": "num_warps", "by": "8"},
        {"operator": "matmul_relu", "dtype": "bfloat16", "num_warps": "8", "line": "70"},
    ):
        settings, said = state.read(texts)
        assert not said
        assert state.read(state.write(settings)) == (settings, ())


@pytest.mark.parametrize("style", [theme.style(), theme.style(dark=True)], ids=["light", "dark"])
def test_text_keeps_its_contrast_on_the_tints(style):
    for light, dark in TINTS:
        fill = dark if style == theme.style(dark=True) else light
        assert contrast(fill.colour, style.text) >= 7
        assert fill.text == style.text


def test_what_is_written_in_panes_is_escaped():
    assert "<b>" not in message_pane("x", "", "<b>no</b>").html


def test_figures_of_the_compiler_say_what_they_were_given():
    import plotly.graph_objects as go

    style = theme.style()
    counts = [("one", {"global load": 4, "integer": 9}), ("two", {"global load": 2})]
    drawn = compiler.mix_figure(counts, {"global load": "loads", "integer": "counts", "wait": "waits"}, style)
    assert go.Figure(drawn)
    assert drawn["data"][0]["x"] == [9, 4]
    assert drawn["layout"]["yaxis"]["ticktext"] == ["integer", "global load"]
    drawn = compiler.times_figure([("TTIR", 0.002), ("SASS", 0.1)], 0.0006, style)
    assert go.Figure(drawn)
    assert any("600 µs" in one["text"] for one in drawn["layout"]["annotations"])


def test_a_compiler_that_hangs_leaves_one_sentence(monkeypatch):
    monkeypatch.setattr(compiling, "stages_job", hang)
    monkeypatch.setattr(compiling, "SECONDS", 0.3)
    text = words(page(n_elements=1234567, target="sm_86"))
    assert "is not compiled for sm_86 yet" in text
    assert "The compiler gave no result. The compile worker gave no answer in 0 s; it was restarted. Fewer elements" in text
    monkeypatch.undo()
    assert "registers a thread" in words(page(n_elements=1234567, target="sm_86"))


def hang(*_: object) -> None:
    time.sleep(60)


def test_a_crash_of_the_compiler_leaves_one_sentence(monkeypatch):
    monkeypatch.setattr(compiling, "stages_job", crash)
    text = words(page(n_elements=123457, target="sm_89"))
    assert "The compiler gave no result. The compile worker was ended by SIGKILL twice over this" in text


def crash(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_it_starts_with_what_was_launched():
    app = AppTest.from_file(str(ROOT / "pages" / "compiler.py"), default_timeout=PATIENCE)
    app.session_state["entered"] = True
    app.session_state["launch.settings"], _ = corrected({"operator": "softmax", "rows": "6", "columns": "781", "program": "3"})
    checked(app.run())
    assert app.session_state["compiler.settings"].request == app.session_state["launch.settings"].request
    assert app.session_state["compiler.notices"] == ()


@pytest.mark.parametrize("operator", operators())
@pytest.mark.parametrize("value", [0, 1, 2**40])
def test_extreme_sizes_never_give_a_traceback(operator, value):
    text = words(page(operator=operator, **{size.name: value for size in operators()[operator].sizes}))
    assert re.search(r"\d+ registers a thread|does not compile|nothing to compile", text), text


@pytest.mark.parametrize("texts", [{"BLOCK_SIZE": 3}, {"BLOCK_SIZE": 2**31 - 1}, {"num_warps": 3}, {"num_warps": 1024}])
def test_settings_that_no_compiler_takes_never_give_a_traceback(texts):
    assert "What would fit, found by compiling:" in words(page(n_elements=1000, **texts))


def test_without_triton_the_kernel_can_be_read(tmp_path):
    (tmp_path / "triton.py").write_text("raise ImportError('no wheel for this platform')")
    code = (
        "from streamlit.testing.v1 import AppTest\n"
        f"app = AppTest.from_file('pages/compiler.py', default_timeout={PATIENCE})\n"
        "app.session_state['entered'] = True\n"
        "app.run()\n"
        "assert not app.exception, app.exception\n"
        "text = ' '.join(one.proto.body for one in app.get('html'))\n"
        "assert 'no wheel for this platform' in text and 'Nothing can be compiled here' in text, text\n"
        "app.session_state['compiler.tabs.1'] = 'Limits'\n"
        "app.run()\n"
        "assert not app.exception, app.exception\n"
        "print('fine')"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout.strip().endswith("fine"), done.stderr[-2000:]
