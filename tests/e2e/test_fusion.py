"""The page that compares, and the page of runs, as a person sees them in a browser."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from kernels.measure import runs

from .conftest import Explorer


def test_a_deep_link_is_the_first_request_ever(browser, fresh_server):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    explorer = Explorer(context.new_page(), fresh_server)
    explorer.open("/fusion?operator=softmax&dtype=bfloat16").says("instead of 2.15 GB")
    explorer.says("recorded 2026-")
    assert not explorer.outside
    context.close()


def test_the_sidebar_leads_to_every_page_and_back(explorer):
    explorer.open("/")
    for name, said in (
        ("Fused vs unfused", "instead of 3.76 GB"),
        ("Runs", "recorded on other machines"),
        ("Launch", "blocks of 3"),
    ):
        explorer.page.get_by_role("link", name=name).click()
        explorer.says(said)


def test_choosing_another_dtype_and_direction(explorer):
    explorer.open("/fusion").says("1.07 GB instead of 3.76 GB")
    explorer.page.get_by_text("bfloat16", exact=True).click()
    explorer.says("537 MB instead of 1.88 GB")
    explorer.page.get_by_text("backward", exact=True).click()
    explorer.says("peak memory")
    explorer.at("direction=backward").at("dtype=bfloat16")


def test_a_point_of_a_sweep_leads_to_its_size(explorer):
    explorer.open("/fusion").says("1.07 GB")
    explorer.page.get_by_role("tab", name="Sweep").click()
    explorer.says("columns, swept")
    explorer.click(explorer.points("sweep").last)
    explorer.says("instead of 60.1 GB")
    explorer.at("columns=131072")


def test_typed_sizes_are_said_without_invented_times(explorer):
    explorer.open("/fusion").says("1.07 GB")
    explorer.type("rows", 100)
    explorer.says("nothing was measured or recorded of exactly this")
    assert "speed-up" not in explorer.texts()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080)])
def test_nothing_is_cut_off(browser, server, scheme, width, height):
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    explorer = Explorer(context.new_page(), server)
    explorer.open("/fusion").says("instead of 3.76 GB")
    wide = "() => document.documentElement.scrollWidth <= window.innerWidth"
    assert explorer.page.evaluate(wide)
    for plot in explorer.page.locator(".js-plotly-plot").all():
        frame = plot.bounding_box()
        for text in plot.locator("text").all():
            box = text.bounding_box()
            if box and box["width"]:
                inside = box["x"] >= frame["x"] - 1 and box["x"] + box["width"] <= frame["x"] + frame["width"] + 1
                assert inside, text.text_content()
    context.close()


def tick(explorer: Explorer, row: int) -> None:
    """Clicks the box of a row of the table, which is a canvas: rows are 35 px high at this size, the head too."""
    box = explorer.page.locator("[data-testid=stDataFrame]").bounding_box()
    explorer.page.mouse.click(box["x"] + 18, box["y"] + 35 * (row + 1) + 17)
    explorer.ready()


def test_chosen_runs_stay_chosen_where_the_list_changes(explorer, tmp_path):
    explorer.page.goto(explorer.address + "/runs")
    explorer.says("recorded on other machines")
    tick(explorer, 1)
    explorer.says("The facts")
    expect(explorer.page.locator("table.plain tbody td:first-child")).to_have_text([re.compile("^A ")])
    (what,) = explorer.page.locator("table.plain tbody td:first-child").all_inner_texts()
    explorer.page.locator("input[type=file]").set_input_files([str(runs.save(runs.recorded()[-1], tmp_path))])
    explorer.says("1 opened")
    expect(explorer.page.locator("table.plain tbody td:first-child")).to_have_text([what])


def test_folders_that_are_none_are_said(explorer, tmp_path):
    (tmp_path / "file").write_text("")
    explorer.page.goto(explorer.address + "/runs")
    explorer.says("recorded on other machines")
    sidebar, field = explorer.page.locator("[data-testid=stSidebar]"), explorer.page.get_by_test_id("stTextInputField")
    for folder in (str(tmp_path / "nowhere"), "~nobody-here/runs"):
        field.fill(folder)
        field.press("Enter")
        expect(sidebar).to_contain_text("There is no such folder yet")
    field.fill(str(tmp_path / "file"))
    field.press("Enter")
    explorer.says("cannot be read (Not a directory)")
    field.fill(str(tmp_path))
    field.press("Enter")
    expect(explorer.page.locator("[data-testid=stMain]")).not_to_contain_text("cannot be read")


def test_a_run_is_opened_from_a_file_and_a_foreign_one_is_refused(explorer, tmp_path):
    run = runs.recorded()[0]
    good = runs.save(run, tmp_path)
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({"hello": 1}))
    explorer.page.goto(explorer.address + "/runs")
    explorer.says("recorded on other machines")
    explorer.page.locator("input[type=file]").set_input_files([str(good), str(bad)])
    explorer.says("1 opened")
    expect(explorer.page.locator("[data-testid=stSidebar]")).to_contain_text("bad.json: JSON, but not a run")


@pytest.mark.parametrize(
    ("path", "button"),
    [("/?n_elements=98432", "Launch in the interpreter"), ("/fusion", "Measure"), ("/check", "Check without a GPU")],
)
def test_what_a_page_is_for_is_in_sight_without_scrolling(explorer, path, button):
    explorer.page.goto(explorer.address + path)
    found = explorer.page.get_by_role("button", name=button, exact=True)
    found.wait_for()
    explorer.ready()
    box = found.bounding_box()
    assert box["y"] + box["height"] <= 800
