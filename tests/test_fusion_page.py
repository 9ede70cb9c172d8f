"""The page that compares, and the page of runs: recorded figures without a GPU, measuring with one, runs as files."""

from __future__ import annotations

import importlib
import pkgutil
import re
import threading
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from kernels import operators
from kernels.measure import runs, sweep, ways
from kernels.measure.campaign import Campaign
from kernels.measure.records import Spread
from kernels.storage import codec
from pages import _gpus, _shell
from pages._fusion import running
from pages._fusion.found import _along
from pages._fusion.state import comparable, read, write
from pages._kept import STORE
from pages._launch import tracing

from .limits import PATIENCE, until
from .test_measure import H200, Pretender
from .test_pages import ROOT, chart, checked, words

MEASURED = [name for name, operator in operators().items() if operator.measured]


def opened(name: str, **texts: str) -> AppTest:
    """A page of the app, as a link opens it."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE).run()
    app.switch_page(f"pages/{name}.py")
    app.query_params.clear()
    for key, value in texts.items():
        app.query_params[key] = value
    return checked(app.run())


def fusion(**texts: str) -> AppTest:
    return opened("fusion", **texts)


def field(app: AppTest, kind: str, name: str):
    return next(one for one in getattr(app, kind) if one.key and one.key.startswith(f"fusion.{name}."))


# Without a GPU.


def test_the_first_sight_is_the_notes_lesson_with_its_recorded_times():
    app = fusion()
    text = words(app)
    run = next(run for run in runs.recorded() if run.axis is None and run.title.startswith("RMSNorm, forward, float32"))
    fused, unfused = (f"{run.points[0].way(way).events.median * 1e6:,.0f} µs" for way in ("triton", "pytorch"))
    assert f"1.07 GB instead of 3.76 GB, in {fused} instead of {unfused}." in text
    assert "NVIDIA H200 · recorded 2026-" in text
    assert "measured" not in text.split("Bytes")[0]
    assert "equal to the kernel’s own accesses on 3 × 8,192" in text
    assert "No GPU is attached" in " ".join(one.value for one in app.caption)
    assert app.button(key="fusion.none").disabled


def test_bytes_lie_on_one_axis_and_add_up_to_the_count_and_the_formula():
    app = fusion()
    bars = [trace for trace in chart(app, "bytes")["data"] if trace["type"] == "bar"]
    unfused, fused = sum(sum(trace["x"]) for trace in bars[:2]), sum(sum(trace["x"]) for trace in bars[2:])
    request = read({})[0].request
    traffic = ways.traffic(request, "forward")
    assert unfused == sum(step.moved for step in traffic.unfused)
    assert fused == sum(step.moved for step in traffic.fused)


def test_the_humps_are_the_profiles_kernels():
    app = fusion()
    rows = [trace for trace in chart(app, "humps")["data"] if trace["type"] == "bar"]
    run = next(run for run in runs.recorded() if run.axis is None and run.title.startswith("RMSNorm, forward, float32"))
    for row, name in zip(rows, ("pytorch", "triton"), strict=True):
        kernels = run.points[0].way(name).kernels
        assert row["width"] == pytest.approx([kernel.duration for kernel in kernels])
    texts = " ".join(note.get("text", "") for note in chart(app, "humps")["layout"]["annotations"])
    assert "given back" in texts


@pytest.mark.parametrize("name", MEASURED)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_every_operator_shows_its_recorded_run(name, dtype):
    text = words(fusion(operator=name, dtype=dtype))
    assert "recorded 2026-" in text
    if name == "vector_add":
        assert "Nothing to fuse: one kernel," in text


@pytest.mark.parametrize("direction", ["backward", "both", "module"])
def test_gradients_and_the_module_are_compared(direction):
    app = fusion(operator="rms_norm", direction=direction)
    text = words(app)
    assert "instead of" in text
    assert "peak memory" in text
    assert "NVIDIA H200 · recorded" in text
    whose = "the furthest of them as a whole takes" if direction == "module" else "the worst element takes"
    assert f"Gradients compared with float64: {whose}" in text
    assert ("thickness = bytes" in text) == (direction != "module")


TABS = ("Other ways", "Kernels on a time axis", "What binds", "Roofline", "Sweep", "Take it along")


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("name", MEASURED)
def test_every_tab_of_every_operator_can_be_opened(name, tab):
    app = fusion(operator=name)
    app.session_state["fusion.tabs"] = tab
    checked(app.run())
    assert app.get("plotly_chart")
    if tab == "Other ways":
        assert {"PyTorch, as written", "Triton"} <= set(chart(app, "ways")["layout"]["yaxis"]["ticktext"]) | {"Triton"}


def slow_to_launch(run: runs.Run) -> runs.Run:
    """The run as a processor makes it that needs ten times the kernels' time."""
    point = run.points[0]
    timed = [replace(one, host=Spread(*[10 * one.kernel.median] * 3, 30)) if one.kernel else one for one in point.timed]
    return replace(run, points=(replace(point, timed=tuple(timed)), *run.points[1:]))


def test_nothing_is_given_back_where_launching_decides_or_samples_overlap(monkeypatch):
    shipped = runs.recorded()
    both = [slow_to_launch(run) if ", both, bfloat16" in run.title else run for run in shipped]
    monkeypatch.setattr(runs, "recorded", lambda: tuple(both))
    for texts in ({"dtype": "bfloat16", "direction": "both"}, {"operator": "vector_add"}):
        notes = chart(fusion(**texts), "humps")["layout"]["annotations"]
        assert not any("given back" in note.get("text", "") for note in notes)


def test_a_size_that_nobody_recorded_shows_bytes_and_no_times():
    app = fusion(operator="rms_norm", rows="1000", columns="1000")
    text = words(app)
    assert "what fusion saves in bytes" in text
    assert "nothing was measured or recorded" in text
    assert "speed-up" not in text
    assert "recorded 2026" not in text


def test_the_recorded_sweeps_are_offered_where_there_is_none_of_this():
    app = fusion(operator="rms_norm", dtype="float16")
    app.session_state["fusion.tabs"] = "Sweep"
    checked(app.run())
    offered = next(one for one in app.button if "columns swept" in one.label)
    checked(offered.click().run())
    assert chart(app, "sweep")


def test_a_sweep_over_blocks_is_only_that_of_the_same_sizes_blocks_and_warps(pretending):
    app = fusion(operator="rms_norm", rows="4096", columns="4096", num_warps="4")
    checked(app.selectbox(key="fusion.axis").select("BLOCK_SIZE").run())
    checked(app.button(key="fusion.sweep").click().run())
    waited(app)
    asked = {"rows": "4096", "columns": "4096", "BLOCK_SIZE": "512"}
    (run,) = [app.session_state["fusion.campaign"].run()]
    for warps, found in (("4", True), ("2", False)):
        assert _along(run.points[0], read({**asked, "num_warps": warps})[0], "BLOCK_SIZE") is found


@pytest.mark.parametrize("unit", ["speed", "time"])
def test_times_that_cannot_be_are_labelled_gaps_of_a_sweep(pretending, unit):
    pretending.seconds = -1e-9
    app = fusion(operator="rms_norm", rows="4096", columns="4096")
    checked(app.button(key="fusion.sweep").click().run())
    app = waited(app)
    app.session_state["fusion.unit"] = unit
    figure = chart(checked(app.run()), "sweep")
    assert all(y is None for trace in figure["data"] for y in trace["y"])
    assert any("invalid" in note.get("hovertext", "") for note in figure["layout"]["annotations"])


def test_a_ghost_roof_says_what_it_would_change():
    app = fusion()
    app.session_state["fusion.tabs"] = "Roofline"
    app.session_state["fusion.ghost"] = "twice the compute"
    checked(app.run())
    assert "Twice the compute changes nothing for the fused kernel: memory binds it" in words(app)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"operator": "rms_norm_backward"}, "is measured with the operator it belongs to"),
        ({"operator": "nothing"}, "is not one of"),
        ({"direction": "up"}, "forward is used"),
        ({"rows": "-1"}, "rows: -1 is not a whole number from"),
        ({"rows": "x" * 200}, "is not a whole number"),
        ({"colour": "blue"}, "there is no such setting here"),
    ],
)
def test_bad_links_are_corrected_in_a_sentence(texts, said):
    assert said in words(fusion(**texts))


@pytest.mark.parametrize("name", MEASURED)
def test_a_link_means_the_same_again(name):
    for dtype in ("float32", "bfloat16"):
        given, _ = read({"operator": name, "dtype": dtype, "num_warps": "2", "seed": "5"})
        assert read(write(given)) == (given, ())
    assert name in comparable()


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ({"BLOCK_SIZE": "3"}, "BLOCK_SIZE 3 is refused: sm_90 and Triton take powers of two, the nearest 2 or 4."),
        ({"num_warps": "48"}, "num_warps 48 is refused"),
    ],
)
def test_blocks_that_triton_does_not_take_are_said(texts, said):
    assert said in words(fusion(**texts))
    assert "is refused" not in words(fusion())


def test_nothing_shows_where_nothing_is_recorded_of_a_sweep():
    app = fusion(operator="rms_norm", rows="7", columns="9")
    app.session_state["fusion.tabs"] = "Sweep"
    assert "No sweep over" in words(checked(app.run()))


# With a GPU that only pretends.


def bound() -> None:
    """Imports the pages' parts: one that is first imported while a GPU is pretended would keep it for the tests after."""
    for package in ("_check", "_hardware", "_launch"):
        for module in pkgutil.iter_modules([str(ROOT / "pages" / package)]):
            importlib.import_module(f"pages.{package}.{module.name}")


@pytest.fixture
def pretending(monkeypatch):
    bound()
    worker = Pretender(seconds=300e-6)
    monkeypatch.setattr(_gpus, "gpus", lambda: (H200,))
    interpret = _shell.workers()["interpret"]
    monkeypatch.setattr(_shell, "workers", lambda: {H200.worker: worker, "interpret": interpret, **_only_trace()})
    yield worker
    STORE.clear()  # what the trace worker that is not there left unsaid
    tracing._selftest.clear()


def _only_trace() -> dict:
    return {"trace": Pretending(), "trace whole": Pretending()}


class Pretending:
    """A trace worker that is not there: the count stays unsaid."""

    def call(self, *_: object, **__: object):
        from kernels.runtime.workers import WorkerError

        raise WorkerError("not here")


def waited(app: AppTest) -> AppTest:
    campaign: Campaign = app.session_state["fusion.campaign"]
    until(lambda: campaign.state != "running")
    return checked(app.run())


def test_measuring_shows_its_own_figures_as_measured(pretending):
    app = fusion(operator="rms_norm", rows="4096", columns="4096")
    assert app.button(key="fusion.go").label == "Measure on NVIDIA H200"
    checked(app.button(key="fusion.go").click().run())
    text = words(waited(app))
    assert "in 300 µs instead of 900 µs" in text
    assert "3.00×" in text
    assert "NVIDIA H200 · measured" in text


def test_a_sweep_draws_its_points_and_goes_on_after_a_failing_one(pretending):
    pretending.dies = (3,)
    app = fusion(operator="rms_norm", rows="4096", columns="4096")
    checked(app.button(key="fusion.sweep").click().run())
    app = waited(app)
    axis = app.session_state["fusion.axis"]
    figure = chart(app, "sweep")
    values = sweep.values(read({"rows": "4096", "columns": "4096"})[0].request, axis, H200.target)
    assert all(len(trace["x"]) == len(values) for trace in figure["data"])
    assert any("out of memory" in note.get("hovertext", "") for note in figure["layout"]["annotations"])


def test_a_sweep_stays_open_and_chosen_while_it_goes_on(pretending):
    """While measuring the choice of the axis is not on the page, and at first there are fewer tabs."""
    pretending.hold = threading.Event()
    app = fusion(operator="rms_norm", rows="4096", columns="4096")
    checked(app.selectbox(key="fusion.axis").select("columns").run())
    checked(app.button(key="fusion.sweep").click().run())
    checked(app.run())
    pretending.hold.set()
    app = waited(app)
    assert app.selectbox(key="fusion.axis").value == "columns"
    assert "columns, swept" in words(app)
    assert chart(app, "sweep")


def test_with_a_gpu_the_axis_that_has_a_sweep_is_shown_at_first(pretending):
    assert fusion().selectbox(key="fusion.axis").value == "columns"


def test_what_does_not_fit_is_refused_with_the_largest_that_does(pretending):
    app = fusion(operator="vector_add", n_elements=str(2**38))
    assert app.button(key="fusion.go").disabled
    assert "It needs about" in " ".join(one.value for one in app.caption)
    checked(app.button(key="fusion.fit").click().run())
    assert not app.button(key="fusion.go").disabled


def test_a_run_is_saved_listed_compared_and_deleted(pretending, monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_EXPLORER_RUNS", str(tmp_path))
    app = fusion(operator="rms_norm", rows="4096", columns="4096")
    checked(app.button(key="fusion.go").click().run())
    checked(waited(app).button(key="fusion.save").click().run())
    (path,) = tmp_path.glob("*.json")
    assert runs.load(path).points[0].sizes == {"rows": 4096, "columns": 4096}
    assert str(path) in " ".join(one.value for one in app.caption)
    page = opened("runs")
    assert "1 run saved here" in words(page)


def test_a_folder_that_cannot_be_written_is_said(pretending, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRITON_EXPLORER_RUNS", str(tmp_path / "file"))
    app = fusion(operator="rms_norm", rows="4096", columns="4096")
    checked(app.button(key="fusion.go").click().run())
    checked(waited(app).button(key="fusion.save").click().run())
    said = " ".join(one.value for one in app.caption)
    assert "choose a folder, not a file. The folder is chosen on the Runs page" in said
    app.session_state["runs.folder"] = str(tmp_path / "other")
    checked(app.button(key="fusion.save").click().run())
    assert "Saved as" in " ".join(one.value for one in app.caption)
    checked(app.button(key="fusion.go").click().run())
    waited(app)
    assert "Saved as" not in " ".join(one.value for one in app.caption)


def test_what_is_refused_cannot_be_measured(pretending):
    assert fusion(operator="rms_norm", BLOCK_SIZE="3").button(key="fusion.go").disabled


def test_a_run_is_of_the_time_of_its_measurement(pretending, monkeypatch):
    app = fusion(operator="rms_norm", rows="4096", columns="4096")
    checked(app.button(key="fusion.go").click().run())
    waited(app)
    made = app.session_state["fusion.campaign"].made
    monkeypatch.setattr("kernels.measure.runs.now", lambda: "2030-01-01T00:00:00+00:00")
    assert f"measured {made[11:16]} UTC" in words(checked(app.run()))


def test_the_axis_that_is_swept_at_first_has_a_sweep():
    assert running.default_axis(read({})[0]) == "columns"


# Runs.


def test_the_runs_page_lists_recorded_runs_and_says_which_files_are_none(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_EXPLORER_RUNS", str(tmp_path))
    runs.save(runs.recorded()[0], tmp_path)
    (tmp_path / "foreign.json").write_text('{"a": 1}')
    app = opened("runs")
    text = words(app)
    assert f"1 run saved here, 0 opened, {len(runs.recorded())} recorded on other machines." in text
    assert "foreign.json: JSON, but not a run of this program." in text


def test_no_speed_up_is_shown_where_launching_binds(pretending):
    pretending.seconds = 2e-6
    app = fusion(operator="elementwise_chain", n_elements="1000")
    checked(app.button(key="fusion.go").click().run())
    text = words(waited(app))
    assert "launching decides here, so no speed-up is given" in text
    assert "Why no speed-up?" in text
    assert "3.00×" not in text


def test_a_run_taken_along_is_the_file_itself():
    run = runs.recorded()[0]
    assert runs.parsed(codec.encoded(run), "x") == run


EXTREMES = [
    {"operator": "vector_add", "n_elements": "0"},
    {"operator": "vector_add", "n_elements": str(2**40), "dtype": "bfloat16"},
    {"operator": "elementwise_chain", "n_elements": "1", "BLOCK_SIZE": "3"},
    {"operator": "softmax", "rows": "0", "columns": "1"},
    {"operator": "softmax", "rows": "1", "columns": str(2**20)},
    {"operator": "rms_norm", "rows": str(2**20), "columns": str(2**20), "direction": "both"},
    {"operator": "rms_norm", "rows": "1", "columns": "1", "direction": "module"},
    {"operator": "rms_norm", "rows": "0", "columns": "0", "direction": "backward"},
    {"operator": "matmul_relu", "m": "1", "n": "1", "k": "1"},
    {"operator": "matmul_relu", "m": "0", "n": "7", "k": "0", "BLOCK_M": "5"},
    {"operator": "matmul_relu", "m": str(2**20), "n": str(2**20), "k": "2"},
]


# Why nothing of such a size can be measured: it does not fit, or Triton takes no such block.
REFUSED = r"It needs about [\d,.]+ [GT]B, and the GPU has 150 GB\.|powers? of (two|2)"


@pytest.mark.parametrize("tab", ["Sweep", "Take it along"])
@pytest.mark.parametrize("texts", EXTREMES, ids=str)
def test_extreme_sizes_leave_sentences(texts, tab):
    app = fusion(**texts)
    app.session_state["fusion.tabs"] = tab
    checked(app.run())
    assert "No times: nothing was measured or recorded of exactly this." in words(app)


@pytest.mark.parametrize("seconds", [1e-4, 1e-12, 0.0, -1e-9])
@pytest.mark.parametrize("texts", EXTREMES, ids=str)
def test_extreme_sizes_and_impossible_times_leave_sentences_in_every_tab(texts, seconds, pretending):
    pretending.seconds = seconds
    app = fusion(**texts)
    if app.button(key="fusion.go").disabled:
        assert re.search(REFUSED, f"{' '.join(one.value for one in app.caption)} {words(app)}")
        return
    checked(app.button(key="fusion.go").click().run())
    app = waited(app)
    for tab in TABS:
        app.session_state["fusion.tabs"] = tab
        checked(app.run())
    if seconds <= 0:
        assert "invalid: the clearing of the cache took longer" in words(app)
        assert "given back" not in words(app)
