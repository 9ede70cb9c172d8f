"""The pages of runs and checks with odd files and folders: a picture or a sentence, never a traceback, never a wait."""

from __future__ import annotations

import os
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kernels.check import history
from kernels.check import page as html_page
from kernels.check import text as report_text
from kernels.check import values as v
from kernels.measure import runs
from kernels.measure.summaries import summary_of
from kernels.storage import codec
from kernels.storage.codec import UnreadableError
from pages._runs import chosen, listing
from viz import check as viz
from viz import theme

from .test_pages import ROOT, checked, words

STYLE = theme.style(False, 1.0)
ODD = ("fifo.json", "zero.json", "folder.json", "large.json", "loop.json", "cut.json")


@pytest.fixture(autouse=True)
def own(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_EXPLORER_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("TRITON_EXPLORER_CHECKS", str(tmp_path / "checks"))
    return tmp_path


def odd_files(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    os.mkfifo(folder / "fifo.json")
    (folder / "zero.json").symlink_to("/dev/zero")
    (folder / "folder.json").mkdir()
    (folder / "loop.json").symlink_to(folder / "loop.json")
    (folder / "cut.json").write_text('{"kind": ')
    with (folder / "large.json").open("wb") as large:
        large.truncate(2**33)


def page(name: str, **texts: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=90).run()
    app.switch_page(f"pages/{name}.py")
    app.query_params.clear()
    for key, value in texts.items():
        app.query_params[key] = value
    return checked(app.run())


def test_odd_files_in_the_folder_of_runs_are_a_line_each(own):
    odd_files(own / "runs")
    good = runs.save(runs.recorded()[0], own / "runs")
    text = words(page("runs"))
    assert "1 run saved here" in text.replace("**", "")
    assert all(name in text for name in ODD)
    assert good.exists()


@pytest.mark.parametrize("name", [*ODD, "a\0b.json", "x" * 155 + ".json", "nowhere.json", "..", "."])
def test_a_link_to_what_is_no_report_is_a_sentence(own, name):
    odd_files(own / "checks")
    text = words(page("check", report=name))
    assert "cannot be read" in text or "not a file" in text or "cut short" in text or "larger than" in text, text[:300]


@pytest.mark.parametrize(
    "typed",
    ["x" * 300, "a\0b", "~nobody-here/runs", "/proc/1/fd/nope/x", "/dev/null", "/dev/null/x", "   ", "/", "ü/☃"],
)
def test_any_folder_that_is_typed_leads_to_a_list_or_a_sentence(typed):
    app = page("runs")
    app.text_input(key="runs.typed").set_value(typed)
    checked(app.run())
    assert "recorded on other machines" in words(app)


def test_a_folder_below_one_that_is_no_folder(own):
    (own / "file").touch()
    app = page("runs")
    app.text_input(key="runs.typed").set_value(str(own / "file" / "below"))
    assert "Not a directory" in words(checked(app.run()))


def shown(entry: listing.Entry) -> AppTest:
    """The chosen run's part of the page, as the page draws it."""
    app = AppTest.from_function(_draw, default_timeout=60)
    app.session_state["entry"], app.session_state["drawn"] = entry, {}
    return checked(app.run())


def _draw():
    import streamlit as st

    from pages._runs import chosen
    from viz import theme

    chosen.show([st.session_state["entry"]], theme.style(False, 1.0))


def test_only_own_runs_get_a_button_that_deletes(own):
    run = runs.recorded()[0]
    mine, theirs = runs.save(run, own / "runs"), runs.save(run, own / "other")
    for path, several in ((mine, ["Delete A"]), (theirs, []), (next(runs.RECORDED.glob("*.json")), [])):
        entry = listing.Entry(summary_of(run), "saved", path, run)
        assert [one.label for one in shown(entry).button] == several
    app = shown(listing.Entry(summary_of(run), "saved", mine, run))
    checked(app.button[0].click().run())
    checked(app.button[0].click().run())
    assert not mine.exists()
    assert theirs.exists()


def test_a_folder_of_others_says_that_nothing_is_deleted_there(own):
    runs.save(runs.recorded()[0], own / "other")
    app = page("runs")
    app.text_input(key="runs.typed").set_value(str(own / "other"))
    checked(app.run())
    assert any("deleted only in" in one.value for one in app.caption)
    assert "1 run saved here" in words(app)


def test_a_chosen_file_that_changed_since_is_a_sentence(own):
    path = runs.save(runs.recorded()[0], own / "runs")
    entry = listing.Entry(summary_of(runs.recorded()[0]), "saved", path)
    path.write_text("{")

    def whole():
        import streamlit as st

        from pages._runs import listing

        listing.whole([st.session_state["entry"]])

    app = AppTest.from_function(whole, default_timeout=30)
    app.session_state["entry"] = entry
    assert "not a JSON file" in words(checked(app.run()))


# Whatever value a file may hold.

EXTREMES = (0, 1, -1, 2**63 - 1, 1e-320, 1e30, -1e30, 0.0, "", "x" * 500, "\x00", "**", "%{x}", None, True, False)


def variants(value, make=lambda new: new):
    """A value of dataclasses with each one of its fields at each extreme."""
    if is_dataclass(value):
        for field in fields(value):
            inner = getattr(value, field.name)
            yield from variants(inner, lambda new, name=field.name: make(replace(value, **{name: new})))
    elif isinstance(value, tuple) and value:
        yield make(())
        for at, inner in enumerate(value[:2]):
            yield from variants(inner, lambda new, at=at: make((*value[:at], new, *value[at + 1 :])))
    elif isinstance(value, dict):
        yield make({})
        for key, inner in list(value.items())[:8]:
            yield from variants(inner, lambda new, key=key: make({**value, key: new}))
    else:
        for extreme in EXTREMES:
            yield make(extreme)


def accepted(value, parse):
    """The value as its file gives it back, or None where the file is refused."""
    try:
        return parse(codec.encoded(value), "x.json")
    except (UnreadableError, AttributeError, TypeError):
        return None


def small_runs():
    sweep = next(run for run in runs.recorded() if run.axis)
    single = next(run for run in runs.recorded() if run.axis is None and run.points[0].timed[0].kernels)
    cut = tuple(replace(one, kernels=one.kernels[:2]) for one in single.points[0].timed[-2:])
    yield replace(single, points=(replace(single.points[0], timed=cut),))
    yield replace(sweep, points=tuple(replace(point, timed=point.timed[-1:]) for point in sweep.points[:2]))


@pytest.mark.parametrize("run", [*small_runs()], ids=["point", "sweep"])
def test_every_run_that_parses_is_listed_and_drawn(run, monkeypatch):
    drawn = []
    for name in ("chart", "say", "title"):
        monkeypatch.setattr(chosen, name, lambda *found, **_: drawn.append(found))
    for name in ("show_html", "caption"):
        monkeypatch.setattr(chosen, name, lambda text: drawn.append(str(text).encode()))
    count = 0
    for one in variants(run):
        found = accepted(one, runs.parsed)
        if found is None:
            continue
        count += 1
        entry = listing.Entry(summary_of(found), "opened", run=found)
        listing._row(entry)
        if len(found.points) == 1:
            chosen._times({"A": entry, "B": entry}, STYLE)
        elif found.points:
            chosen._sweeps({"A": entry}, found.axis, STYLE)
        chosen._facts({"A": entry})
    assert count > 100
    assert drawn


def small_report() -> v.Report:
    report = next(report for report in history.recorded() if len(report.cards) > 1)
    kinds = {one.check: one for one in report.results if one.series or one.check in ("dram copy", "launch", "driver")}
    short = [
        replace(one, series={name: values[:3] for name, values in one.series.items()} if "rate" in one.series else one.series)
        for one in kinds.values()
    ]
    return replace(report, results=tuple(short), cards=tuple(replace(card, facts=card.facts[:2]) for card in report.cards))


def test_every_report_that_parses_is_drawn_in_every_form():
    count, base = 0, small_report()
    results = base.results
    whole = [replace(base, results=(one,)) for one in results] + [replace(base, results=results[:1])]
    for start in whole:
        for one in variants(start):
            found = accepted(one, history.from_json)
            if found is None:
                continue
            count += 1
            assert html_page.html(found).endswith("</html>\n")
            report_text.markdown(found).encode()
            report_text.terminal(found).encode()
            v.exit_code(found)
            for result in found.results:
                if "fit" in result.series:
                    a, b = result.series["fit"]
                    columns = result.series
                    viz.fit_figure(columns["bytes"], columns["seconds"], a, b, columns["empty"][0], STYLE)
                if "speeds" in result.series:
                    viz.peer_figure(int(result.series["count"][0]), result.series["speeds"], STYLE)
                viz.load_figure(result.series, STYLE)
    assert count > 500


@pytest.mark.parametrize("change", ["sweep", "sustained rate", "peers", "bare", "twins"])
def test_the_page_of_odd_reports_that_parse(change):
    base = small_report()
    kept = {
        "bare": replace(base, results=(), cards=()),
        "twins": replace(base, cards=base.cards[:1] * 2, results=base.results * 2),
    }.get(change) or replace(
        base, results=tuple(replace(one, status="WARN", value=None) for one in base.results if one.check == change)
    )
    app = page("check", report=history.save(kept, history.default_folder()).name)
    assert "damaged" not in words(app)


# Texts stay texts.


def test_pages_put_no_markup_on_the_page_but_by_the_helper():
    for path in [
        *(ROOT / "pages" / "_check").glob("*.py"),
        *(ROOT / "pages" / "_runs").glob("*.py"),
        ROOT / "pages" / "_parts.py",
    ]:
        code = path.read_text()
        assert "st.html(" not in code, path
        assert "from html import" not in code, path
        assert "unsafe_allow_html" not in code, path
