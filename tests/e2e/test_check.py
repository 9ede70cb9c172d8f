"""The check's page as a person sees it: a deep link as first request, a check that fills up, a pasted error, files."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from .conftest import MAIN, Explorer


def opened(explorer: Explorer, path: str = "/check") -> Explorer:
    explorer.page.goto(explorer.address + path)
    expect(explorer.page.locator(MAIN)).to_contain_text("Paste an error")
    return explorer.ready()


def test_a_deep_link_as_the_first_request(browser, fresh_server):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    explorer = opened(Explorer(context.new_page(), fresh_server), "/check?mode=quick")
    expect(explorer.page.get_by_text("New-GPU check", exact=True).first).to_be_visible()
    explorer.at("mode=quick")
    context.close()


def test_a_check_fills_up_and_ends_with_a_verdict(explorer):
    opened(explorer, "/check?mode=quick")
    headline = explorer.page.locator(".headline")
    recorded = headline.inner_text()
    explorer.page.get_by_test_id("stSidebar").get_by_role("button", name=re.compile("^Check ")).click()
    expect(headline).not_to_contain_text(recorded.partition(".")[0])
    expect(headline).to_contain_text(re.compile(r"No GPU could be measured|OK: \d+ checks|Works, with|Not OK"))
    explorer.ready()
    texts = explorer.texts()
    assert "C compiler" in texts
    assert "Compile to PTX" in texts
    explorer.until(lambda: explorer.page.locator(".checks .mark").count() > 8)
    assert "Traceback" not in texts
    assert explorer.outside == []


def test_a_pasted_error_is_answered(explorer):
    opened(explorer)
    explorer.page.locator("textarea").first.fill("RuntimeError: Triton Error [CUDA]: device kernel image is invalid")
    explorer.page.keyboard.press("Control+Enter")
    explorer.says("Install a newer driver, or an older Triton")


@pytest.mark.parametrize("kind", ["check.json", "check.md", "check.html"])
def test_files_of_a_report(explorer, kind):
    opened(explorer, "/check?mode=quick")
    explorer.page.get_by_test_id("stSidebar").get_by_role("button", name=re.compile("^Check ")).click()
    expect(explorer.page.locator(MAIN)).to_contain_text("Compile to cubin")
    explorer.ready()
    explorer.page.get_by_role("tab", name="Take it along").click()
    explorer.ready()
    names = {"check.json": "JSON", "check.md": "Markdown", "check.html": "HTML"}
    with explorer.page.expect_download() as download:
        explorer.page.get_by_role("button", name=re.compile(names[kind])).click()
    content = download.value.path().read_text()
    assert download.value.suggested_filename == kind
    if kind == "check.json":
        assert json.loads(content)["kind"] == "triton-explorer check"
    else:
        assert "measured" in content
