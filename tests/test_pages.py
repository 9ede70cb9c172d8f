"""The pages' logic, through Streamlit's AppTest: settings, corrections, launches, fallbacks; no traceback for any of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kernels import operators
from kernels.runtime.background import Background

from .limits import PATIENCE, until

ROOT = Path(__file__).parents[1]


def page(**texts: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    for name, value in texts.items():
        app.query_params[name] = value
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    assert not app.exception, [one.value for one in app.exception]
    return app


def words(app: AppTest) -> str:
    """All text of the page that is ours, without tags."""
    html = [element.proto.body for element in app.get("html")]
    text = " ".join(re.sub(r"<style>.*?</style>", "", one, flags=re.S) for one in html)
    plain = unescape(re.sub(r"<[^>]+>", "", f"{text} {' '.join(one.value for one in app.markdown)}"))
    return " ".join(plain.split())


def chart(app: AppTest, key: str) -> dict:
    return json.loads(next(one.proto.spec for one in app.get("plotly_chart") if one.proto.id.endswith(f"-{key}")))


def field(app: AppTest, kind: str, name: str):
    """The widget of the launch page with that name, whatever its generation."""
    return next(one for one in getattr(app, kind) if one.key and one.key.startswith(f"launch.{name}."))


def launched(app: AppTest) -> AppTest:
    """Presses the launch button and waits for its result."""
    checked(app.button(key="launch.go").click().run())
    running: Background = app.session_state["running"]
    until(lambda: running.state != "waiting")
    return checked(app.run())


def test_the_first_page_is_the_tutorials_picture():
    app = page()
    text = words(app)
    assert "7 elements in blocks of 3 make 3 programs. Program 2 uses 1 of its 3 lanes." in text
    assert "Triton refuses this launch, line" in text
    assert "arange's range must be a power of 2. Nearest: BLOCK_SIZE 2 or 4." in text
    assert re.search(r"bytes moved ?84 B ?counted", text)
    assert app.button(key="launch.go").label == "Launch in the interpreter with BLOCK_SIZE 4"


@pytest.mark.parametrize("operator", operators())
def test_every_operator_and_every_example_has_a_page(operator):
    app = page(operator=operator)
    for preset in operators()[operator].presets:
        checked(field(app, "pills", "example").set_value(preset.title).run())
        assert app.session_state["launch.settings"].request.problem.sizes == preset.sizes
        assert field(app, "pills", "example").value == preset.title
        assert app.get("plotly_chart")


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"n": "1e309"}, "n_elements: 1e309 is not a whole number from 0 to 1,099,511,627,776; 1,099,511,627,776 is used."),
        ({"n": "-1"}, "0 is used."),
        ({"n": "abc"}, "'abc' is not a whole number"),
        ({"n": "2.5"}, "2 is used."),
        ({"n": ""}, "7 is used."),
        ({"n": "9" * 400}, "(400 characters)"),
        ({"operator": "<script>alert(1)</script>"}, "is not one of vector_add, elementwise_chain"),
        ({"n": "7", "BLOCK_SIZE": "1e400"}, "BLOCK_SIZE: 1e400"),
        ({"program": "999"}, "program: 999 is not a whole number from 0 to 2; 2 is used."),
        ({"step": "x"}, "step: 'x'"),
        ({"element": "output:99"}, "element: 'output:99' is not an element of x, y, output"),
        ({"colour": "red"}, "there is no such setting here"),
    ],
)
def test_hostile_links_are_corrected_and_said(texts, said):
    app = page(**texts)
    shown = " ".join(element.proto.body for element in app.get("html"))
    assert "<script>alert" not in shown
    assert said in words(app)


@pytest.mark.parametrize(
    ("texts", "says", "button"),
    [
        (
            {"n": "7", "BLOCK_SIZE": "0"},
            "BLOCK_SIZE: 0 is not a whole number from 1 to 2,147,483,647; 1 is used.",
            "Launch in the interpreter",
        ),
        (
            {"n": "7", "BLOCK_SIZE": "1000"},
            "Nearest: BLOCK_SIZE 512 or 1,024.",
            "Launch in the interpreter with BLOCK_SIZE 1,024",
        ),
        (
            {"n": "7", "BLOCK_SIZE": "2097152"},
            "exceeds triton maximum tensor numel",
            "Launch in the interpreter with BLOCK_SIZE 16,384",
        ),
        (
            {"n": "7", "BLOCK_SIZE": "8", "num_warps": "3"},
            "num_warps must be a power of 2. Nearest: num_warps 2 or 4.",
            "Launch in the interpreter with num_warps 4",
        ),
        (
            {"n": "7", "BLOCK_SIZE": "8", "num_warps": "0"},
            "num_warps: 0 is not a whole number from 1 to 1,024; 1 is used.",
            "Launch in the interpreter",
        ),
        (
            {"n": "7", "BLOCK_SIZE": "8", "num_warps": "64"},
            "64 warps of 32 are 2,048 threads",
            "Launch in the interpreter with num_warps 32",
        ),
        ({"n": "0"}, "0 elements: 0 programs, nothing to launch.", "0 programs: nothing to launch"),
    ],
)
def test_what_triton_or_the_hardware_refuses_is_explained(texts, says, button):
    app = page(**texts)
    assert says in words(app)
    assert app.button(key="launch.go").label == button


def test_a_grid_past_the_hardwares_limit_cannot_be_launched():
    app = page(operator="matmul_relu", m="16", n="2097152", k="16", BLOCK_M="16", BLOCK_N="16", BLOCK_K="16")
    assert "65,535 programs along y, and the grid has 131,072" in words(app)
    assert app.button(key="launch.go").disabled


def test_a_launch_says_what_it_launched_and_how_far_it_is_from_pytorch():
    text = words(launched(page()))
    assert "Launched on Triton's interpreter on the CPU as grid (2,)" in text
    assert "3 programs drawn; launched as 2 programs of 4" in text
    assert "max |difference| from PyTorch 0.0" in text
    assert "within tolerance" in text
    assert "compiled in" not in text


def test_a_result_belongs_to_its_settings():
    app = launched(page(n="2048", BLOCK_SIZE="1024"))
    assert "Launched on" in words(app)
    checked(field(app, "number_input", "n_elements").set_value(2047).run())
    assert "Launched on" not in words(app)


def test_a_strided_input_is_copied_and_said():
    app = page(n="100", layout="strided", BLOCK_SIZE="16")
    assert "the wrapper copies it first, 400 B more each way; the kernel gets the copy" in words(app)
    assert "x has strides (2,): copied first" in words(launched(app))


def test_bfloat16_says_what_the_interpreter_does():
    assert "Traced in float32 with 2-byte addresses" in words(page(dtype="bfloat16"))


def test_stepping_by_statement_and_by_program():
    app = page(n="7", BLOCK_SIZE="4")
    assert "all lines done" in words(app)
    checked(app.button(key="launch.Right").click().run())
    assert app.session_state["launch.settings"].step == 0
    for _ in range(4):
        checked(app.button(key="launch.Right").click().run())
    assert "step 5 of 8" in words(app)
    assert "program 1 loads x" in words(app)
    checked(app.button(key="launch.Up").click().run())
    assert app.session_state["launch.settings"].program == 0
    assert app.session_state["launch.settings"].step == 4
    checked(app.button(key="launch.all").click().run())
    assert app.session_state["launch.settings"].step is None


def test_typing_keeps_what_was_typed_before():
    app = page()
    checked(field(app, "number_input", "n_elements").set_value(1000).run())
    checked(field(app, "number_input", "BLOCK_SIZE").set_value(64).run())
    checked(field(app, "segmented_control", "dtype").set_value("float16").run())
    request = app.session_state["launch.settings"].request
    assert (request.problem["n_elements"], request.tiling["BLOCK_SIZE"], request.problem.dtype) == (1000, 64, "float16")


def test_too_large_a_number_is_brought_back_and_said():
    app = page()
    checked(field(app, "number_input", "n_elements").set_value(2**41).run())
    assert app.session_state["launch.settings"].request.problem["n_elements"] == 2**40
    assert "1,099,511,627,776 is used." in words(app)
    assert field(app, "number_input", "n_elements").value == 2**40


def test_what_ifs_change_the_picture_and_not_the_launch():
    app = page(n="7", BLOCK_SIZE="4")
    checked(field(app, "pills", "what_if").set_value("no_mask").run())
    assert "Program 1 writes 1 element past the end of output, into bytes 28 to 31." in words(app)
    assert app.button(key="launch.go").label == "Launch in the interpreter with its mask"
    assert "within tolerance" in words(launched(app))
    checked(field(app, "pills", "what_if").set_value("floor_grid").run())
    assert "1 program is missing: 3 elements, from 4 on, are never written." in words(app)
    checked(field(app, "pills", "what_if").set_value("other").run())
    checked(field(app, "number_input", "other").set_value(5.0).run())
    assert app.session_state["launch.settings"].request.other == 5.0


def test_an_element_leads_to_its_loads():
    text = words(page(n="7", BLOCK_SIZE="3", element="output:6"))
    way = (
        r"output\[6\] = [\d.−]+ was stored by program 2, lane 0, line \d+\. It was fed by x\[6\] = [\d.−]+ \(line \d+, lane 0\)"
    )
    assert re.search(way, text)


def test_past_int32_names_the_program_where_offsets_wrap():
    app = page(n=str(3 * 2**30), dtype="float16")
    app.session_state["launch.tabs"] = "Past int32"
    text = words(checked(app.run()))
    assert (
        "program 2,097,152 would be the first to go wrong: its offset 2,147,483,648 of x would wrap to -2,147,483,648"
        in text.replace("**", "")
    )
    assert "19.3 GB" in text


def test_a_long_loop_is_shown_at_once_and_finished_afterwards():
    app = page(operator="rms_norm", rows="2", columns="200000", BLOCK_SIZE="128")
    assert "A long loop" not in words(app)  # it was run to its end, and the page drawn again
    assert app.session_state["whole"]


@pytest.mark.parametrize("operator", operators())
@pytest.mark.parametrize("sizes", ["zero", "one", "huge"])
def test_extreme_sizes_never_give_a_traceback(operator, sizes, monkeypatch):
    monkeypatch.setattr("pages._launch.tracing.ALL_SECONDS", 1.0)
    values = {"zero": "0", "one": "1", "huge": str(2**40)}
    app = page(operator=operator, **{size.name: values[sizes] for size in operators()[operator].sizes})
    request = app.session_state["launch.settings"].request
    assert request.description.story(request.problem, request.tiling).replace("**", "") in words(app)


def test_without_triton_the_app_starts_with_arithmetic_and_shipped_pictures(tmp_path):
    """A machine where Triton cannot be imported: a module of that name that fails, first on the path."""
    (tmp_path / "triton.py").write_text("raise ImportError('no wheel for this platform')")
    code = (
        "from streamlit.testing.v1 import AppTest; import re\n"
        "def words(app): return re.sub(r'<[^>]+>', '', ' '.join(one.proto.body for one in app.get('html')))\n"
        f"app = AppTest.from_file('app.py', default_timeout={PATIENCE}).run()\n"
        "assert not app.exception, app.exception\n"
        "text = words(app)\n"
        "assert 'Triton cannot be imported here: no wheel for this platform' in text, text\n"
        "assert '7 elements in blocks of 3 make 3 programs' in text\n"
        "assert len(app.get('plotly_chart')) >= 2\n"
        "next(one for one in app.number_input if one.label == 'n_elements').set_value(1000).run()\n"
        "assert not app.exception, app.exception\n"
        "assert '334 programs' in words(app)\n"
        "print('fine')"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout.strip().endswith("fine"), done.stderr[-2000:]
    trace = subprocess.run(
        [sys.executable, "-m", "kernels", "trace", "vector_add"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert trace.returncode == 1
    assert trace.stderr.strip() == "Triton cannot be imported here: no wheel for this platform"


def test_a_triton_that_is_not_understood_falls_back_to_arithmetic(monkeypatch):
    from pages._launch import tracing

    tracing._selftest.clear()
    monkeypatch.setattr("pages._launch.tracing.selftest_job", broken)
    try:
        text = words(page(n="7", BLOCK_SIZE="4"))
    finally:
        tracing._selftest.clear()
    assert (
        "The installed Triton is not understood: a traced kernel shows wrong masks. Offsets and masks are arithmetic." in text
    )
    assert "no values: not traced" in text


def test_an_address_on_its_way_to_the_browser_is_overwritten_by_the_one_that_holds(monkeypatch):
    """The browser was at program 5 when it sent an event, and had not heard of 6: page and address must both end at 5."""
    from streamlit.runtime.state.query_params_proxy import QueryParamsProxy

    app = page(n_elements="98432", BLOCK_SIZE="1024", program="6")
    told = []
    monkeypatch.setattr(QueryParamsProxy, "from_dict", lambda _, texts: told.append(texts["program"]))
    app.query_params["program"] = "5"
    checked(app.run())
    assert app.session_state["launch.settings"].program == 5
    assert told == ["5"]


def test_a_self_test_that_could_not_run_is_tried_again(monkeypatch):
    from pages._launch import tracing

    tracing._selftest.clear()
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(tracing._shell, "workers", lambda: {"trace": Dead()})
        assert "the worker died" in tracing.untraceable()
    assert tracing.untraceable() is None


class Dead:
    """A worker whose process ended."""

    def call(self, *_: object, **__: object):
        from kernels.runtime.workers import WorkerError

        raise WorkerError("the worker died")


def broken() -> str:
    return "a traced kernel shows wrong masks"
