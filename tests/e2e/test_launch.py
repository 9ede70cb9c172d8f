"""The launch page as a person sees it: clicks, keys, launches, links, themes, two tabs, files."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from kernels import operators

from ..limits import PATIENCE
from .conftest import Explorer

SMALL = {
    "vector_add": "n_elements=7&BLOCK_SIZE=4",
    "elementwise_chain": "n_elements=10&BLOCK_SIZE=4",
    "softmax": "rows=6&columns=5",
    "rms_norm": "rows=6&columns=5",
    "rms_norm_backward": "rows=6&columns=5",
    "matmul_relu": "m=40&n=48&k=40&BLOCK_M=16&BLOCK_N=16&BLOCK_K=16",
}
STEPS = {  # how many keys to a line, and what stands beside it then
    "vector_add": (3, r"offsets = .*\[4 5 6 7\]"),
    "elementwise_chain": (3, r"offsets = .*\[4 5 6 7\]"),
    "softmax": (4, r"offsets = .*\[5 6 7 8 9 10 11 12\]"),
    "rms_norm": (4, r"offsets = .*\[5 6 7 8 9 10 11 12\]"),
    "rms_norm_backward": (3, r"mask = .*\[1 1 1 1 1 0 0 0\]"),
    "matmul_relu": (2, r"rows = .*\[16 17 18 19 … 30 31\]"),
}


def test_small_examples_cover_every_operator():
    assert set(SMALL) == set(STEPS) == set(operators())


@pytest.mark.parametrize("operator", SMALL)
def test_a_click_on_a_program_and_steps_by_keys(explorer, operator):
    explorer.open(f"/?operator={operator}&{SMALL[operator]}&program=0")
    if operator == "matmul_relu":
        explorer.click(explorer.points("tiles").nth(3))  # the second row of tiles, first column
    else:
        lanes = {"vector_add": 4, "elementwise_chain": 4}.get(operator, 8)
        explorer.click(explorer.points("lanes").nth(lanes + 1))
    explorer.says("with program 1's values")
    count, beside = STEPS[operator]
    for _ in range(count):
        explorer.asks(lambda: explorer.page.keyboard.press("ArrowRight"))
    explorer.at(f"step={count - 1}")
    expect(explorer.page.locator(".code .row.here").first).to_contain_text(re.compile(beside, re.DOTALL))
    explorer.asks(lambda: explorer.page.keyboard.press("ArrowLeft")).at(f"step={count - 2}")
    explorer.asks(lambda: explorer.page.keyboard.press("ArrowDown"))
    following = 0 if operator == "vector_add" else 2  # after the last program the first comes again
    explorer.says(f"with program {following}'s values")


@pytest.mark.parametrize("operator", [name for name in SMALL if name != "matmul_relu"])
def test_the_way_from_an_element_of_the_output_to_its_loads(explorer, operator):
    explorer.open(f"/?operator={operator}&{SMALL[operator]}&program=0")
    explorer.click(explorer.points("memory").last)
    way = explorer.page.locator(".way").inner_text()
    assert re.search(r"was stored by program \d+, lane \d+, line \d+\. It was fed by \w+\[\d+\] = ", way), way
    explorer.at("element=")
    explorer.until(lambda: explorer.page.locator(".st-key-memory .shapelayer path").count() >= 2)


def test_the_way_of_an_element_of_a_matrix_by_its_link(explorer):
    explorer.open(f"/?operator=matmul_relu&{SMALL['matmul_relu']}&element=c:50")
    way = explorer.page.locator(".way").inner_text()
    assert "c[50] = " in way
    assert "a[40] = " in way
    assert "74 more" in way


def test_hovering_a_lane_shows_program_offset_address_value_and_line(explorer):
    explorer.open("/?n_elements=7&BLOCK_SIZE=4")
    explorer.hover(explorer.points("lanes").nth(4), (10, 10))
    hover = explorer.page.locator(".st-key-lanes .hoverlayer .hovertext").first.evaluate("e => e.textContent")
    for part in ("program 1, lane 0", "live", "x[4]", "bytes 16 to 19", "value", "line"):
        assert part in hover


def test_a_line_of_the_kernel_can_be_clicked_and_its_words_explain_themselves(explorer):
    explorer.open("/?n_elements=7&BLOCK_SIZE=4")
    explorer.asks(explorer.page.locator(".code .row", has_text="mask = ").first.click)
    expect(explorer.page.locator(".code .row.here").first).to_contain_text("mask = offsets < n_elements")
    explorer.page.locator(".code .term", has_text="program_id").first.hover()
    expect(explorer.page.locator(".tip")).to_contain_text("tells which part is its own")


def test_a_launch_in_the_interpreter_is_checked(explorer):
    explorer.open("/?n_elements=7&BLOCK_SIZE=3")
    explorer.page.get_by_role("button", name="Launch in the interpreter with BLOCK_SIZE 4").click()
    result = explorer.page.wait_for_selector(".say.result").inner_text()
    assert "3 programs drawn; launched as 2 programs of 4" in result
    assert "from PyTorch 0.0" in result
    explorer.page.locator(".say.result summary").click()
    expect(explorer.page.locator(".say.result pre")).to_contain_text("output = tensor([")


def test_a_long_launch_shows_progress_and_can_be_cancelled(explorer):
    explorer.open("/?n_elements=4000000&BLOCK_SIZE=64")
    expect(explorer.page.locator("[data-testid=stSidebar]")).to_contain_text(
        re.compile(r"About [\d.]+ (s|min) in the interpreter")
    )
    explorer.page.get_by_role("button", name="Launch in the interpreter").click()
    explorer.page.wait_for_selector("text=/[\\d,]+ of 62,500 programs/")
    explorer.page.get_by_role("button", name="Cancel").click()
    explorer.page.wait_for_selector("text=Cancelled.")
    explorer.ready()
    explorer.type("n_elements", 100).says("100 elements in blocks of 64")


@pytest.mark.parametrize(
    "path",
    ["/?operator=rms_norm&rows=6&columns=5&program=3&step=4", "/launch?operator=rms_norm&rows=6&columns=5&program=3&step=4"],
)
def test_the_first_request_after_a_start_may_be_a_deep_link(browser, fresh_server, path):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    explorer = Explorer(context.new_page(), fresh_server).open(path)
    explorer.says("6 rows of 5 make 6 programs").says("with program 3's values")
    assert "columns" in explorer.line() or "offsets" in explorer.line()
    sidebar = explorer.page.locator("[data-testid=stSidebar]")
    expect(sidebar).to_contain_text("Triton explorer")
    explorer.at("program=3")
    assert explorer.page.title() == "Launch" or "Triton" in explorer.page.title()
    context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
def test_both_themes_are_drawn_and_nothing_overflows(browser, server, theme, size):
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)
    explorer = Explorer(context.new_page(), server).open("/?n_elements=98432&BLOCK_SIZE=1024")
    colour = explorer.page.locator(".st-key-lanes .js-plotly-plot .ytick text").first.evaluate("e => getComputedStyle(e).fill")
    red = int(re.findall(r"\d+", colour)[0])
    assert (red > 128) == (theme == "dark")
    size_of_text = explorer.page.locator(".st-key-lanes .js-plotly-plot .ytick text").first.evaluate(
        "e => parseFloat(getComputedStyle(e).fontSize)"
    )
    assert size_of_text >= (20 if size[0] > 1900 else 14)
    assert explorer.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    context.close()


def test_no_request_leaves_the_machine(explorer):
    explorer.open("/?operator=softmax")
    assert explorer.outside == []


def test_two_tabs_at_once_do_not_disturb_each_other(browser, server):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    first = Explorer(context.new_page(), server).open("/?n_elements=7&BLOCK_SIZE=4")
    second = Explorer(context.new_page(), server).open("/?operator=softmax&rows=6&columns=5")
    for number in range(20, 26):
        for explorer, label in ((first, "n_elements"), (second, "columns")):
            explorer.type(label, number, wait=False)
    first.says("25 elements in blocks of 4 make 7 programs")
    second.says("6 rows of 25 make 6 programs")
    context.close()


def test_a_change_counts_even_where_the_browser_sends_an_old_address_with_it(explorer):
    explorer.open("/?n_elements=7&BLOCK_SIZE=4")
    for number in range(20, 40):
        explorer.type("n_elements", number, wait=False)
        explorer.page.wait_for_timeout(20)
    explorer.says("39 elements in blocks of 4 make 10 programs")
    explorer.at("n_elements=39")


def test_back_goes_back(explorer):
    explorer.open("/?n_elements=7&BLOCK_SIZE=4").type("n_elements", 33).says("33 elements in blocks of 4")
    explorer.page.wait_for_timeout(3500)
    explorer.page.go_back()
    explorer.says("7 elements in blocks of 4 make 2 programs")


def test_fast_clicks_end_at_the_last_one(explorer):
    explorer.open("/?n_elements=98432&BLOCK_SIZE=1024&program=0")
    for _ in range(8):
        explorer.page.keyboard.press("ArrowDown")
        explorer.page.wait_for_timeout(120)
    explorer.ready()
    shown = explorer.agrees(r"with program (\d+)'s values", "program={}")
    assert 1 <= int(shown) <= 8


def test_a_killed_trace_worker_is_not_noticed(explorer, server):
    explorer.open("/?n_elements=7&BLOCK_SIZE=4")
    workers = server.workers()
    assert workers
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    explorer.type("n_elements", 33).says("33 elements in blocks of 4 make 9 programs")
    assert "Traceback" not in explorer.texts()
    assert "arithmetic" not in explorer.texts()


def test_a_browser_closed_in_the_middle_leaves_the_others_alone(browser, server):
    first = browser.new_context()
    page = first.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(f"{server}/?operator=rms_norm&rows=2&columns=1048576&BLOCK_SIZE=64")
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=running]")
    first.close()
    second = browser.new_context(viewport={"width": 1280, "height": 800})
    explorer = Explorer(second.new_page(), server).open("/?n_elements=7&BLOCK_SIZE=4")
    explorer.says("7 elements in blocks of 4")
    second.close()


def test_a_reload_shows_the_same_state(explorer):
    explorer.open("/?operator=rms_norm&rows=6&columns=5&program=2&step=5&what_if=no_mask")
    before, url = explorer.line(), explorer.page.url
    explorer.page.reload()
    explorer.page.wait_for_selector(".js-plotly-plot .main-svg")
    explorer.ready()
    assert explorer.page.url == url
    assert explorer.line() == before


def test_the_walk_along_k_runs_in_the_browser(explorer):
    explorer.open(f"/?operator=matmul_relu&{SMALL['matmul_relu']}")
    window = explorer.page.locator(".st-key-tiles .scatterlayer .trace path.js-line").first
    before = window.get_attribute("d")
    explorer.page.locator(".st-key-tiles .updatemenu-button").first.click()
    places = {before}
    explorer.until(lambda: places.add(window.get_attribute("d")) or len(places) >= 3)


def test_what_a_person_takes_along(explorer, tmp_path):
    explorer.open("/?n_elements=7&BLOCK_SIZE=4&program=1")
    explorer.page.get_by_role("tab", name="Take it along").click()
    explorer.ready()
    expect(explorer.page.locator("[data-testid=stCode] code").first).to_have_text(
        re.compile(r"\?operator=vector_add&n_elements=7&BLOCK_SIZE=4$")
    )
    for name, starts in (
        ("CSV", b"program,kind,argument"),
        ("launch.py", b"import torch"),
        ("All as one HTML file", b"<!doctype html>"),
    ):
        with explorer.page.expect_download() as caught:
            explorer.page.get_by_role("button", name=name, exact=True).click()
        file = tmp_path / name
        caught.value.save_as(file)
        assert file.read_bytes().startswith(starts)
    for name, starts in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        with explorer.page.expect_download() as caught:
            explorer.page.get_by_role("button", name=name, exact=True).first.click()
        file = tmp_path / name
        caught.value.save_as(file)
        assert file.read_bytes().startswith(starts)


def test_the_server_listens_on_this_machine_only(server):
    port = server.rsplit(":", 1)[1]
    listening = subprocess.run(["ss", "-ltnH", f"sport = :{port}"], capture_output=True, text=True)
    if listening.returncode:
        pytest.skip("no ss here")
    assert {line.split()[3].rsplit(":", 1)[0] for line in listening.stdout.strip().split("\n")} == {"127.0.0.1"}


def test_over_ssh_the_start_prints_the_line_that_reaches_it():
    code = (
        "from pages._shell import tunnel\n"
        "print(tunnel('10.0.0.1 50000 192.0.2.7 2222', 'ada', 8501))\n"
        "print(tunnel('', 'ada', 8501))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split("\n")[:2] == ["ssh -L 8501:localhost:8501 -p 2222 ada@192.0.2.7", "None"]
