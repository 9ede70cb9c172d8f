"""The hardware page: its logic through AppTest, its figures, and what it does without a GPU."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys

import numpy as np
import plotly.graph_objects as go
import pytest

from kernels import operators
from kernels.inside import recordings
from kernels.inside.examples import EXAMPLES
from kernels.inside.facts import CHIPS, Chip
from kernels.inside.footprint import footprint
from kernels.inside.layouts import Blocked, owners
from kernels.inside.occupancy import occupancy
from kernels.inside.schedule import Cost, Schedule
from kernels.runtime.device import Gpu, find_target
from kernels.runtime.workers import WorkerError
from pages._hardware.state import Shown, read, write
from viz import (
    hardware,
    hardware_chip,
    hardware_footprint,
    hardware_occupancy,
    hardware_owners,
    hardware_schedule,
    hardware_sectors,
    theme,
)
from viz.hardware_terms import TERMS, terms_html

from . import hardware_tasks
from .limits import PATIENCE, until
from .test_pages import ROOT, AppTest, checked, words
from .test_viz import EVERY_STYLE, contrast

TABS = ("What a warp asks of memory", "What fits on an SM", "The GPU", "The words")


def page(tab: str = "", **texts: str) -> AppTest:
    """The hardware page, as a deep link opens it."""
    app = AppTest.from_file(str(ROOT / "pages" / "hardware.py"), default_timeout=PATIENCE)
    app.session_state["entered"] = True
    for name, value in texts.items():
        app.query_params[name] = value
    if tab:
        app.session_state["hardware.tabs"] = tab
    return checked(app.run())


def made(programs: int, when: str = "2026-01-01") -> Schedule:
    """Programs dealt out evenly to 4 multiprocessors."""
    number = np.arange(programs)
    starts = number // 8 * 320
    return Schedule("A test's GPU", 4, starts, starts + 256, number % 4, Cost(1e-6, 2e-6, 26, 30), {}, when)


def test_the_sentence_and_the_figures_of_a_vector_add():
    text = words(page(n_elements="1048576"))
    assert "A program runs on 4 warps of 32 threads; a thread holds 8 elements of x, 16 bytes at a time." in text
    assert "1,024 programs make one wave: the H200 holds 2,112 at once." in text
    assert re.search(r"programs on one SM ?16 ?limited by warps and registers ?formula", text)
    assert "Thread 0 holds 0 to 3, 512 to 515." in text
    assert "from the TTGIR" in text


def test_without_sizes_the_first_example_is_shown_and_its_link_is_stable():
    for operator in operators():
        shown, said = read({"operator": operator})
        assert said == ()
        assert shown.request == EXAMPLES[operator][0].request(operator)
        assert read(write(shown)) == (shown, ())
    other = Shown(shown.request, "RTX 3090", 1, "register", "second", 2, "factory")
    assert read(write(other)) == (other, ())


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"gpu": "<script>"}, "gpu: '<script>' is not one of"),
        ({"tensor": "-1"}, "tensor: '-1' is not a whole number from 0 to 999,999; 0 is used."),
        ({"warp": "x"}, "warp: 'x' is not a whole number"),
        ({"colour": "red"}, "colour: 'red' is not one of warp, thread, register; warp is used."),
        ({"n": "abc"}, "'abc' is not a whole number"),
        ({"nothing": "1"}, "there is no such setting here"),
        ({"tensor": "999", "warp": "999"}, "Who owns which element"),
    ],
)
def test_hostile_links_are_corrected_and_said(texts, said):
    app = page(**texts)
    assert said in words(app)
    assert "<script>" not in " ".join(one.proto.body for one in app.get("html"))


@pytest.mark.parametrize("operator", operators())
def test_every_operator_has_every_tab(operator):
    tabs = (*TABS, "Which tiles run together") if operator == "matmul_relu" else TABS
    for tab in tabs:
        assert page(tab, operator=operator).get("plotly_chart")


@pytest.mark.parametrize("gpu", list(CHIPS))
def test_every_gpu_is_drawn(gpu):
    text = words(page("The GPU", operator="softmax", rows="100", columns="300", gpu=gpu))
    assert f"{gpu} · {CHIPS[gpu].multiprocessors} {CHIPS[gpu].unit}s · not attached" in text
    assert CHIPS[gpu].source.split(";")[0] in " ".join(one.value for one in page("The GPU", gpu=gpu).caption)


@pytest.mark.parametrize("texts", [{"n": "0"}, {"n": "1"}, {"n": str(2**40)}, {"n": "7", "BLOCK_SIZE": "3"}])
def test_extreme_sizes_are_explained(texts):
    said = {
        "BLOCK_SIZE": ("Triton refuses this launch, line", "Nothing was compiled, so no thread owns anything yet"),
        "n": ("A program runs on 4 warps of 32 threads",),
    }
    for tab in TABS:
        page(tab, **texts)
    assert all(text in words(page(**texts)) for text in said[list(texts)[-1]])


def test_a_matrix_instructions_layout_is_named():
    text = words(page(operator="matmul_relu", tensor="3"))
    assert "nvidia_mma: how a matrix instruction spreads its result over threads" in text
    assert "not guessed here" in text


def test_scalar_loads_are_explained():
    text = words(page(TABS[0], n_elements="1048575"))
    assert "n_elements = 1,048,575: not divisible by 16." in text
    assert "Compiled for n_elements = 1,048,560: 16 bytes." in text
    assert "512" in text
    assert "modelled" in text
    assert "not divisible by 16" not in words(page(TABS[0], n_elements="1048576"))


def test_a_recorded_schedule_is_shown_and_another_ones_is_said(tmp_path, monkeypatch):
    request = EXAMPLES["vector_add"][0].request("vector_add")
    (tmp_path / "one.json.gz").write_bytes(recordings.written(request, made(16384)))
    monkeypatch.setattr("kernels.inside.recordings.FOLDER", tmp_path)
    recordings.shipped.cache_clear()
    try:
        text = words(page(n_elements=str(2**24)))
        assert "Each SM ran 4,096 programs, at most 2 at once" in text
        assert "recorded on A test's GPU, 2026-01-01" in text
        assert "Reading the clock costs time: a launch takes 1 µs without and 2 µs with it, 26 and 30 registers" in text
        assert "Not these sizes, but n_elements = 16,777,216, float32." in words(page(n_elements="999"))
        assert "No schedule of this operator" in words(page(operator="softmax"))
    finally:
        recordings.shipped.cache_clear()


def test_an_unknown_gpus_facts_stay_unknown(monkeypatch):
    chip = Chip("New GPU", "sm_90", 10, None)
    monkeypatch.setattr("pages._hardware.look.chip_of", lambda shown: chip)
    text = words(page(TABS[1]))
    assert "Not known: the kernel was not compiled, or how this GPU hands out its resources is not known here." in text
    assert "There are 16,384 programs." in text
    page(TABS[2])


@pytest.mark.slow
@EVERY_STYLE
def test_figures_are_plotlys(style):
    vector = owners(Blocked((4,), (32,), (4,), (0,)), (8192,)).first()
    tile = owners(Blocked((1, 8), (4, 8), (8, 1), (1, 0)), (128, 64)).first()
    tiny = owners(Blocked((1,), (32,), (1,), (0,)), (8,)).first()
    one, empty = made(100), np.full((2, 32), -1)
    request = EXAMPLES["matmul_relu"][2].request("matmul_relu")
    waves, fit = footprint(request, 264), occupancy(CHIPS["H200"].multiprocessor, 4, 40, 1024)
    moments = hardware_schedule.moments(one.span)
    unknown = dataclasses.replace(CHIPS["H200"], l2_bytes=None, multiprocessor=None)
    figures = [
        *(
            hardware_owners.owners_figure(shape, *held, 32, mode, style)
            for mode in hardware_owners.MODES
            for shape, held in (((8192,), vector), ((128, 64), tile), ((8,), tiny))
        ),
        hardware_owners.owners_figure((128, 64), tile[0], None, 32, "register", style),
        hardware_schedule.windows_figure(one.running(moments), one.wave(moments), one.span, style),
        hardware_schedule.order_figure(one.starts, one.span, style),
        hardware_sectors.sectors_figure(np.arange(64).reshape(2, 32) * 4, 4, False, style),
        hardware_sectors.sectors_figure(np.arange(64).reshape(2, 32) * 4096, 16, True, style),
        hardware_sectors.sectors_figure(empty, 16, True, style),
        hardware_sectors.asked_figure([("as launched", 128, 128), ("second", 512, 256)], 1, style),
        hardware_occupancy.places_figure(3, 4, 64, style),
        hardware_occupancy.limits_figure([("warps", 16), ("registers", None), ("blocks", 32)], style),
        hardware_occupancy.curve_figure("num_warps", [(1, 0.5, "a"), (2, None, "refused"), (4, 1.0, "b")], 4, style),
        hardware_footprint.footprint_figure(waves, 0, style),
        hardware_footprint.bytes_figure([waves, footprint(request, 5000)], waves.order, 50_000_000, style),
        *(
            hardware_chip.chip_figure(chip, found, 40, 1024, 700, 10**8, picture, style)
            for chip, found in ((CHIPS["H200"], fit), (CHIPS["B200"], fit), (unknown, None))
            for picture in hardware_chip.NAMES
        ),
    ]
    drawn = [go.Figure(figure) for figure in figures]  # raises where a property is none of plotly's
    assert all(figure.data or figure.layout.annotations or figure.layout.shapes for figure in drawn)


@EVERY_STYLE
def test_text_keeps_its_contrast(style):
    fills = [*hardware.WARPS, hardware.LIT]
    assert all(contrast(fill.colour, fill.text) >= 4.5 for fill in fills)
    assert contrast("#FFFFFF", hardware.dark_window(style)) >= 4.5
    assert contrast(hardware.LIT.colour, hardware.dark_window(style)) >= 4.5


def test_owners_are_drawn_as_they_are():
    threads, registers = owners(Blocked((4,), (32,), (4,), (0,)), (1024,)).first()
    assert hardware_owners.folded(threads, 32) == 128
    figure = go.Figure(hardware_owners.owners_figure((1024,), threads, registers, 32, "register", theme.style()))
    (drawn,) = figure.data
    assert np.array(drawn.z).shape == (8, 128)
    assert np.array(drawn.customdata)[4, 0].tolist() == [512, 0, 0, 0, 4]  # element, warp, lane, thread, register


def test_windows_are_lit_while_programs_run():
    one = made(16)
    moments = hardware_schedule.moments(one.span)
    figure = go.Figure(hardware_schedule.windows_figure(one.running(moments), one.wave(moments), one.span, theme.style()))
    lit = np.array(figure.data[0].z)
    assert (lit[0] == 1).any()
    assert (lit[0] == 2).any()
    between = (moments > 256) & (moments < 320)
    assert (lit[:, between] == 0).all()


def test_programs_of_a_wave_are_dealt_out_evenly():
    assert hardware_chip.dealt(4, 2, 6).tolist() == [2, 2, 1, 1]
    assert hardware_chip.dealt(4, 2, 100).tolist() == [2, 2, 2, 2]
    assert hardware_chip.dealt(4, 0, 100).tolist() == [0, 0, 0, 0]


def test_the_words_explain_themselves():
    html = terms_html()
    assert all(f">{word}<" in html for word in TERMS)


def test_amds_waves_are_64_wide_and_its_schedule_cannot_be_told():
    text = words(page(n_elements="1048576", gpu="MI300X"))
    assert "A program runs on 4 warps of 64 threads; a thread holds 4 elements of x, 16 bytes at a time." in text
    assert "On gfx942 a kernel cannot read which unit runs it" in text
    assert "Not known: the kernel was not compiled, or how this GPU hands out its resources" in words(
        page(TABS[1], gpu="MI300X")
    )


def test_without_triton_the_page_says_so(tmp_path):
    (tmp_path / "triton.py").write_text("raise ImportError('no wheel for this platform')")
    code = (
        "from streamlit.testing.v1 import AppTest; import re\n"
        f"app = AppTest.from_file('pages/hardware.py', default_timeout={PATIENCE})\n"
        "app.session_state['entered'] = True\n"
        "app.run()\n"
        "assert not app.exception, app.exception\n"
        "text = re.sub(r'<[^>]+>', '', ' '.join(one.proto.body for one in app.get('html')))\n"
        "assert 'Triton cannot be imported here: no wheel for this platform' in text, text\n"
        "assert 'Nothing was compiled' in text\n"
        "print('fine')"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.stdout.strip().endswith("fine"), done.stderr[-2000:]


GPU = Gpu(0, "Test H200", None, find_target("sm_90"), 132, 10**11, 5 * 10**7, 65536, 2048, 10**9, 6144, 10**9)


@pytest.fixture
def attached(monkeypatch):
    """A GPU that stands in for a real one: its launches are those of tests/hardware_tasks.py."""
    monkeypatch.setattr("pages._hardware.look.gpus", lambda: (GPU,))
    monkeypatch.setattr("pages._hardware.state.gpus", lambda: (GPU,))
    monkeypatch.setattr("pages._hardware.look.threads_job", hardware_tasks.threads_as_compiled)
    monkeypatch.setattr("pages._hardware.look.schedule_job", hardware_tasks.schedule_of_four)
    return monkeypatch


def asked(app: AppTest) -> AppTest:
    """Presses the button and waits for both launches."""
    checked(app.button(key="hardware.go").click().run())
    found = app.session_state["hardware.asked"]
    until(lambda: not found.waiting)
    return checked(app.run())


def test_a_launch_confirms_the_layout_and_shows_its_schedule(attached):
    app = page(n_elements="65536")
    assert app.button(key="hardware.go").label == "Ask the Test H200"
    text = words(asked(app))
    assert "a real launch read the thread numbers: agrees" in text
    assert "Each SM ran 16 programs, at most 1 at once" in text
    assert "measured on A test's GPU" in text
    assert "Not these sizes" not in text


def test_starts_that_crowd_get_a_time_axis_of_their_own_and_it_is_said():
    starts = np.array([0, 32, 64, 96])
    for span, drawn in ((120, 120), (3_000_000, 101)):
        assert hardware_schedule.drawn_span(starts, span) == drawn
        axis = hardware_schedule.order_figure(starts, span, theme.style())["layout"]["xaxis"]
        assert axis["range"][1] == pytest.approx(drawn / 1e3)
        assert axis["ticksuffix"] == " µs"
    assert "The lower picture has only the first" in words(page(operator="rms_norm_backward"))
    assert "The lower picture has only" not in words(page(operator="matmul_relu"))


def test_a_launch_that_differs_from_the_layout_says_so(attached):
    attached.setattr("pages._hardware.look.threads_job", hardware_tasks.threads_gone_wrong)
    assert "a real launch read the thread numbers: DIFFERS" in words(asked(page(n_elements="65536")))


def test_a_matrix_instructions_layout_is_drawn_from_the_launch(attached):
    app = asked(page(operator="matmul_relu", m="1024", n="1024", k="64", dtype="float16", tensor="3"))
    assert "read in a real launch" in words(app)
    assert "not guessed" not in words(app)


def test_a_launch_that_fails_leaves_a_sentence(attached):
    attached.setattr("pages._hardware.look.schedule_job", hardware_tasks.refused_schedule)
    assert "The tensors need 9.9 GB, and the GPU has 1.0 GB free." in words(asked(page(n_elements="65536")))


def test_what_cannot_be_launched_has_a_button_that_says_why(attached):
    assert page(n="7", BLOCK_SIZE="3").button(key="hardware.go").disabled
    assert page(n="0").button(key="hardware.go").disabled
    assert "0 programs" in page(n="0").button(key="hardware.go").help
    assert "more than the 1,048,576" in page(n=str(2**31)).button(key="hardware.go").help


def test_registers_that_limit_are_all_taken_in_the_picture():
    """26 registers a thread are handed out as 32: sixteen programs of four warps take every register there is."""
    chip = CHIPS["H200"]
    fit = occupancy(chip.multiprocessor, 4, 26, 0)
    assert fit.limiting == ("warps", "registers")
    figure = hardware_chip.chip_figure(chip, fit, 26, 0, 5000, 10**7, "machine", theme.style(), narrow=True)
    assert any("registers: 256 of 256 KiB" in note["text"] for note in figure["layout"]["annotations"])


def test_without_a_schedule_the_gpu_is_drawn_under_its_own_title(tmp_path, monkeypatch):
    monkeypatch.setattr("kernels.inside.recordings.FOLDER", tmp_path)
    recordings.shipped.cache_clear()
    try:
        text = words(page(operator="softmax"))
        assert "The GPU, and this launch on it" in text
        assert "a row an SM" not in text
        assert "No schedule of this operator (which SM ran which program, and when)" in text
        assert "schedules are recorded ones" not in text
    finally:
        recordings.shipped.cache_clear()


def test_one_multiprocessor_has_what_the_first_wave_gives_it():
    """Of 200 programs on 132 multiprocessors none has more than two: 2 x 4 warps x 1,024 registers are 32 KiB."""
    chip = CHIPS["H200"]
    fit = occupancy(chip.multiprocessor, 4, 26, 0)
    for programs, kib in ((0, 0), (1, 16), (200, 32), (10**6, 256)):
        figure = hardware_chip.chip_figure(chip, fit, 26, 0, programs, 10**7, "machine", theme.style(), narrow=True)
        assert any(f"registers: {kib} of 256 KiB" in note["text"] for note in figure["layout"]["annotations"]), programs


def test_nothing_launched_is_no_wave_and_many_waves_are_whole():
    assert "There are 0 programs." in words(page(n_elements="0"))
    assert "make 508,400 waves" in words(page(n_elements=str(2**40)))


def test_an_amd_gpu_has_compute_units():
    figure = hardware_chip.chip_figure(CHIPS["MI300X"], None, 0, 0, 5, 10**7, "machine", theme.style(), narrow=True)
    texts = " ".join(note["text"] for note in figure["layout"]["annotations"])
    assert "one CU" in texts
    assert "SM" not in texts


def test_a_compiler_that_gave_no_answer_once_is_asked_again(monkeypatch):
    from pages import _shell
    from pages._hardware import look

    right, texts = _shell.workers, {"n_elements": "1040384"}

    class Silent:
        def __getitem__(self, name):
            return self

        def call(self, *arguments, **more):
            raise WorkerError("The compile worker gave no answer in 30 s; it was restarted.")

    monkeypatch.setattr(look._shell, "workers", Silent)
    assert "The compile worker gave no answer in 30 s" in words(page(**texts))
    monkeypatch.setattr(look._shell, "workers", right)
    assert "A program runs on 4 warps" in words(page(**texts))
