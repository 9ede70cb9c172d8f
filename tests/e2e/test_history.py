"""The browser's history: a change of page is one entry, a change of settings is one, and Back returns to both."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .conftest import READY, Explorer

PATIENCE = 120_000
PAGES = {
    "Compiler": "/compiler?operator=",
    "Hardware": "/hardware?operator=",
    "New-GPU check": "/check",
    "Launch": "n_elements=33",
}


def settled(page: Page, pattern: str) -> str:
    """The address, once it has these parameters and the server has nothing more to say."""
    page.wait_for_url(f"**{pattern}**", timeout=PATIENCE)
    page.wait_for_selector(READY, timeout=PATIENCE)
    page.wait_for_timeout(1000)
    page.wait_for_selector(READY, timeout=PATIENCE)
    return page.url


def entries(page: Page) -> int:
    return page.evaluate("history.length")


@pytest.fixture
def page(explorer: Explorer) -> Page:
    explorer.page.set_default_timeout(PATIENCE)
    return explorer.page


def go(page: Page, title: str, pattern: str) -> str:
    page.get_by_role("link", name=title, exact=True).click()
    return settled(page, pattern)


def test_a_change_of_page_is_one_entry_and_back_returns_with_the_settings(explorer, page):
    page.goto(explorer.address + "/?n_elements=33&BLOCK_SIZE=4")
    visited = [settled(page, "n_elements=33")]
    before = entries(page)
    for number, (title, pattern) in enumerate(PAGES.items(), 1):
        visited.append(go(page, title, pattern))
        assert entries(page) == before + number, title
    for address in reversed(visited[:-1]):
        page.go_back()
        page.wait_for_url(address, timeout=PATIENCE)
        assert settled(page, "") == address
    expect(page.locator(".story")).to_contain_text("33 elements in blocks of 4", timeout=PATIENCE)


def test_an_address_without_parameters_is_completed_not_added(explorer, page):
    page.goto("about:blank")
    page.goto(explorer.address + "/")
    before = entries(page)
    settled(page, "operator=vector_add")
    assert entries(page) == before
