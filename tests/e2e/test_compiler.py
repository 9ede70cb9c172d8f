"""The compiler page as a person sees it: linked columns both ways, keys, a second state, links, themes, a dead worker."""

from __future__ import annotations

import os
import re
import signal

import pytest
from playwright.sync_api import expect

from .conftest import READY, Explorer

ADD = "/compiler?n_elements=98432&BLOCK_SIZE=1024"
SOME_IN_SIGHT = """rows => rows.some(row => {
    const box = row.getBoundingClientRect(), pane = row.closest(".rows").getBoundingClientRect();
    return box.top >= pane.top - 1 && box.bottom <= pane.bottom + 1;
})"""


def opened(explorer: Explorer, path: str) -> Explorer:
    explorer.page.goto(explorer.address + path)
    explorer.page.wait_for_selector(READY)
    explorer.page.wait_for_selector(".linked .row")
    return explorer.ready()


def lit(explorer: Explorer, column: int) -> list[str]:
    """The lines of a column that are lit, without the numbers beside them."""
    return explorer.page.locator(f".linked .column:nth-child({column}) .row.lit .text").all_inner_texts()


def point(explorer: Explorer, column: int, text: str, which: int = 0) -> None:
    row = explorer.page.locator(f".linked .column:nth-child({column}) .row", has_text=text).nth(which)
    row.scroll_into_view_if_needed()
    box = row.bounding_box()
    explorer.page.mouse.move(box["x"] + 60, box["y"] + 4)
    explorer.page.mouse.move(box["x"] + 64, box["y"] + box["height"] / 2)
    expect(explorer.page.locator(f".linked .column:nth-child({column}) .row.lit", has_text=text).first).to_be_attached()


def test_a_line_lights_its_lines_both_ways_and_a_click_keeps_it_in_the_link(explorer):
    opened(explorer, ADD)
    point(explorer, 1, "x = tl.load")
    assert sum("ld.global.v4" in line for line in lit(explorer, 2)) == 2
    assert re.fullmatch(r"1\d lines of line \d+", explorer.page.locator(".linked .column:nth-child(2) .count").inner_text())
    point(explorer, 2, "add.f32")
    assert [line.strip() for line in lit(explorer, 1)] == ["output = x + y"]
    assert len(lit(explorer, 2)) == 8
    explorer.page.mouse.move(5, 5)
    expect(explorer.page.locator(".linked .row.lit")).to_have_count(0)

    explorer.page.get_by_role("radio", name="SASS").or_(
        explorer.page.get_by_role("button", name="SASS", exact=True)
    ).first.click()
    expect(explorer.page.locator(".linked .head b").nth(1)).to_have_text("SASS for sm_90")
    point(explorer, 2, "STG.E.128", 1)
    assert [line.strip() for line in lit(explorer, 1)] == ["tl.store(output_ptr + offsets, output, mask=mask)"]
    explorer.asks(explorer.page.locator(".linked .source .row", has_text="y = tl.load").click).at("line=")
    explorer.page.mouse.move(5, 5)
    loads = explorer.page.locator(".linked .column:nth-child(2) .row.lit", has_text="LDG.E.128")
    expect(loads).to_have_count(2)
    opened(explorer, explorer.page.url.removeprefix(explorer.address))
    expect(loads).to_have_count(2)
    explorer.asks(explorer.page.locator(".linked .source .row.lit").first.click).no_longer_at("line=")
    assert explorer.outside == []


def test_keys_walk_from_line_to_line_and_what_is_lit_is_scrolled_to(explorer):
    opened(
        explorer, "/compiler?operator=matmul_relu&m=512&n=512&k=512&dtype=float16&BLOCK_M=64&BLOCK_N=64&BLOCK_K=32&stage=sass"
    )
    explorer.page.locator(".linked .source .rows").focus()
    source = explorer.page.locator(".linked .column:nth-child(1) .row.lit .text").first
    explorer.press("ArrowDown")
    expect(source).to_have_text(re.compile(r"^\s*def matmul_relu_kernel\("))
    explorer.press("ArrowUp")
    expect(source).to_contain_text("tl.store")
    lines = explorer.page.locator(".linked .column:nth-child(2) .row.lit")
    explorer.until(lambda: lines.evaluate_all(SOME_IN_SIGHT))
    explorer.press("Escape")
    expect(explorer.page.locator(".linked .column:nth-child(1) .row.lit")).to_have_count(0)


def test_a_second_state_stands_beside_the_first_and_says_what_differs(explorer):
    opened(explorer, f"{ADD}&stage=sass&differs=n_elements&by=98435")
    expect(explorer.page.locator(".linked .head b")).to_have_text(
        ["Source", "SASS, n_elements 98,432", "SASS, n_elements 98,435"]
    )
    point(explorer, 1, "x = tl.load")
    assert sum("LDG.E.128" in line for line in lit(explorer, 2)) == 2
    assert sum("LDG.E R" in line for line in lit(explorer, 3)) == 8
    assert explorer.page.locator(".linked .column:nth-child(3) .only").count() > 10
    explorer.says("rows that differ are marked")
    assert explorer.page.locator("table.facts tr.marked", has_text="loads").count() >= 1


def test_a_refusal_marks_the_line_and_a_click_takes_what_fits(explorer):
    opened(explorer, "/compiler?operator=matmul_relu&m=64&n=64&k=64&dtype=float16&BLOCK_M=16&BLOCK_N=16&BLOCK_K=8")
    explorer.says("It runs in Triton's interpreter all the same.")
    expect(explorer.page.locator(".linked .row", has_text="Triton stops here")).to_contain_text("tl.dot")
    explorer.page.get_by_role("button", name="BLOCK_K = 16", exact=True).click()
    explorer.says("matmul_relu_kernel takes")
    explorer.at("BLOCK_K=16")
    expect(explorer.page.get_by_role("spinbutton", name="BLOCK_K", exact=True)).to_have_value("16")


@pytest.mark.parametrize(("theme", "size"), [("light", (1280, 800)), ("dark", (1920, 1080))])
def test_columns_fit_the_window_in_both_themes(browser, server, theme, size):
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)
    explorer = opened(Explorer(context.new_page(), server), f"{ADD}&stage=sass")
    box = explorer.page.locator(".linked").bounding_box()
    assert box["y"] + box["height"] < size[1]
    assert explorer.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    channels = explorer.page.locator(".linked .row.t1").first.evaluate(
        "e => getComputedStyle(e).backgroundColor.match(/\\d+/g)"
    )
    assert (int(channels[0]) < 128) == (theme == "dark")
    assert explorer.page.locator(".linked .row").first.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") >= (
        16 if size[0] > 1900 else 11
    )
    context.close()


def test_the_first_request_after_a_start_may_be_this_page(browser, fresh_server):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    explorer = opened(Explorer(context.new_page(), fresh_server), f"{ADD}&stage=ttgir&target=sm_80")
    expect(explorer.page.locator(".linked .head b")).to_have_text(["Source", "TTGIR for sm_80"])
    expect(explorer.page.locator("[data-testid=stSidebar]")).to_contain_text("Triton explorer")
    context.close()


def test_a_killed_compile_worker_is_not_noticed(explorer, server):
    opened(explorer, ADD)
    workers = server.workers()
    assert workers
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    explorer.type("BLOCK_SIZE", 256).says("PTX for sm_90").says("add_kernel takes")
