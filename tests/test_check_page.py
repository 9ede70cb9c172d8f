"""The check's page, through Streamlit's AppTest: run, cancel, reports kept and recorded, pasted errors, links."""

from __future__ import annotations

from dataclasses import replace

import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from kernels.check import history, session
from kernels.check import values as v
from kernels.check.failures import RECIPES, explain
from kernels.check.values import FAIL, PASS
from pages._check.state import Settings, read, write
from viz import check as viz
from viz import theme

from .limits import PATIENCE, until
from .test_check import CARD, one, report
from .test_check_reports import LOAD, SWEEP, two_cards
from .test_pages import ROOT, checked, words

STYLES = [theme.style(dark, scale) for dark in (False, True) for scale in (1.0, 1.5)]


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_EXPLORER_CHECKS", str(tmp_path / "kept"))
    monkeypatch.setattr(history, "RECORDED", tmp_path / "recorded")
    history.recorded.cache_clear()
    yield
    history.recorded.cache_clear()


def page(**texts: str) -> AppTest:
    app = checked(AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE).run())
    app.switch_page("pages/check.py")
    app.query_params.clear()
    for name, value in texts.items():
        app.query_params[name] = value
    return checked(app.run())


def finished(app: AppTest) -> AppTest:
    until(lambda: not app.session_state["check.running"].alive, every=0.1)
    return checked(app.run())


def keep(found: v.Report) -> str:
    return history.save(found, history.default_folder()).name


def test_before_anything_was_checked_it_says_what_it_does():
    text = words(page())
    assert "Does Triton work on this machine" in text
    assert "What is checked, in order" in text
    assert "fifteen seconds under load" in text


def test_a_check_runs_and_says_its_verdict():
    app = page(mode="quick")
    checked(app.button(key="check.go").click().run())
    text = words(finished(app))
    found = app.session_state["check.running"].report
    assert v.verdict(found).replace("**", "") in text
    for result in found.results:
        assert result.title in text
    assert "Traceback" not in text


def test_results_are_there_while_it_runs_and_cancel_keeps_them(monkeypatch):
    from kernels.check import plan
    from kernels.check.plan import Check

    monkeypatch.setattr(session, "attached", lambda: ())
    monkeypatch.setattr(plan, "WITHOUT_GPU", (Check("hung", "Hung", "truth", "tests.check_faults:hung", 60.0),))
    app = page()
    app.button(key="check.go").click().run()
    running = app.session_state["check.running"]
    until(lambda: len(running.session.results) >= 6)
    text = words(checked(app.run()))
    assert "Checking" in text
    assert "C compiler" in text
    checked(app.button(key="check.cancel").click().run())
    text = words(finished(app))
    assert "Stopped after" in text
    assert "C compiler" in text


def test_a_kept_report_by_its_link_with_figures():
    name = keep(report(SWEEP, LOAD, one(FAIL, said="broken", limit="never")))
    app = page(report=name)
    text = words(app)
    assert "Not OK: 1 check failed on NVIDIA H200: Some check." in text
    assert "Some check: Do this." in text
    assert len(app.get("plotly_chart")) == 2
    assert app.query_params["report"] == [name] or app.query_params["report"] == name


def test_several_cards_have_a_map_and_a_matrix():
    found = two_cards()
    peers = v.Result(
        "peers",
        "Peer copies",
        "several GPUs",
        PASS,
        said="385 GB/s",
        series={"count": (2.0,), "speeds": (0.0, 385.0, 390.0, 0.0)},
    )
    name = keep(replace(found, results=(*found.results, peers)))
    app = page(report=name)
    assert len(app.get("plotly_chart")) == 4
    assert "2 × NVIDIA H200" in words(app)


def test_a_recorded_report_is_shown_as_recorded(tmp_path):
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "check-h200.json").write_text(v.to_json(report(LOAD)))
    history.recorded.cache_clear()
    text = words(page())
    assert "NVIDIA H200, recorded 2026-01-02" in text
    assert "recorded" in words(page(report="recorded"))
    (tmp_path / "recorded" / "check-h200-x2.json").write_text(v.to_json(two_cards()))
    history.recorded.cache_clear()
    assert "OK: 4 checks passed on NVIDIA H200" in words(page(report="recorded"))
    assert "2 × NVIDIA H200" in words(page(report="recorded-2"))
    (tmp_path / "recorded" / "check-broken.json").write_text("{")
    history.recorded.cache_clear()
    assert len(history.recorded()) == 2
    assert history.models() == {"NVIDIA H200"}


@pytest.mark.parametrize("text", ["device kernel image is invalid", "libcuda.so cannot found!"])
def test_a_pasted_error_is_explained(text):
    app = page()
    checked(app.text_area(key="check.message").set_value(text).run())
    (failure,) = explain(text)
    shown = words(app)
    assert failure.title in shown
    assert failure.fix in shown


def test_an_unknown_error_is_said_and_all_known_ones_are_listed():
    app = page()
    assert all(recipe.told().title in words(app) for recipe in RECIPES.values())
    checked(app.text_area(key="check.message").set_value("<b>KeyError</b>").run())
    assert "None of the known failures" in words(app)


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ({"mode": "slow"}, "'slow' is not one of full, quick"),
        ({"report": "../../etc/passwd"}, "is not the name of a report"),
        ({"report": "none.json"}, "none.json: cannot be read"),
        ({"nonsense": "1"}, "there is no such setting"),
    ],
)
def test_bad_links_are_corrected_in_a_sentence(texts, says):
    app = page(**texts)
    shown = words(app) + " ".join(one.value for one in app.caption)
    assert says in shown


@pytest.mark.parametrize("settings", [Settings(), Settings("quick"), Settings("full", "a.json")])
def test_settings_and_links(settings):
    assert read(write(settings)) == (settings, ())


@pytest.mark.parametrize("style", STYLES, ids=["light", "light, large", "dark", "dark, large"])
def test_figures_are_what_plotly_takes_and_show_what_they_were_given(style):
    fit = go.Figure(viz.fit_figure((1e6, 1e8, 1e9), (4e-6, 3e-5, 2.4e-4), 3.8e-6, 4.2e12, 3e-6, style))
    assert list(fit.data[1].y) == pytest.approx([4.0, 30.0, 240.0])
    assert "3.8 µs" in fit.layout.annotations[0].text
    series = {
        "time": (0.0, 1.0, 2.0, 3.0),
        "sm_clock": (1980.0, 1900.0, 1900.0, 1900.0),
        "power held": (0.0, 1.0, 1.0, 0.0),
        "held": (0.0, 0.0, 0.0, 1.0),
        "rate time": (0.0, 2.0),
        "rate": (700.0, 690.0),
    }
    load = go.Figure(viz.load_figure(series, style))
    assert len(load.data) == 2
    assert [(shape.x0, shape.x1) for shape in load.layout.shapes] == [(1.0, 3.0), (3.0, 3.0)]
    heat = go.Figure(viz.heat_figure(["GPU 0", "GPU 1"], ["a", "b"], [["PASS", "FAIL"], ["WARN", "NOT MEASURED"]], style))
    assert [note.text for note in heat.layout.annotations] == ["✓", "✕", "!", "–"]
    peers = go.Figure(viz.peer_figure(2, (0.0, 385.0, 390.0, 0.0), style))
    assert [note.text for note in peers.layout.annotations] == ["385", "390"]


def test_texts_of_reports_are_escaped():
    name = keep(replace(report(one(FAIL, said="<script>alert(1)</script>")), cards=(replace(CARD, name="<b>x</b>"),)))
    app = page(report=name)
    assert not any("<script>alert" in element.proto.body for element in app.get("html"))


def test_titles_and_cards_of_the_maps_are_not_cut_in_a_word():
    long = "DRAM add by Triton against the best card"
    axis = viz.heat_figure(["GPU 0"], [long, "short"], [["PASS"], ["FAIL"]], STYLES[0])["layout"]["yaxis"]
    assert axis["ticktext"] == ["DRAM add by Triton against the b…", "short"]
    across = viz.peer_figure(8, [0.0] * 64, STYLES[0])["layout"]["xaxis"]
    assert across["tickangle"] == 0
    assert across["ticktext"][7] == "to 7"
