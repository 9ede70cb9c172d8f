"""A server of the app as a user starts it, and a real Chromium that looks at it."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
READY = "[data-testid=stApp][data-test-script-state=notRunning][data-test-connection-state=CONNECTED]"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(port: int) -> subprocess.Popen:
    """A server on that port, once it answers."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.headless", "true"]
    server = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "TRITON_INTERPRET": "0"}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1)
            return server
        except OSError:
            time.sleep(0.1)
    server.kill()
    raise AssertionError(server.communicate()[1])


@pytest.fixture
def fresh_server() -> Iterator[str]:
    """The address of a server that nobody has asked anything yet."""
    port = free_port()
    server = start(port)
    yield f"http://localhost:{port}"
    server.terminate()
    server.wait(20)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server that the tests of a module share."""
    port = free_port()
    process = start(port)
    yield f"http://localhost:{port}"
    process.terminate()
    process.wait(20)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield found
        found.close()


class Explorer:
    """A page of the app, with what a person does on it."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.outside: list[str] = []
        page.on(
            "request",
            lambda request: (
                self.outside.append(request.url) if not request.url.startswith((address, "data:", "blob:")) else None
            ),
        )

    def open(self, path: str = "/") -> Explorer:
        self.page.goto(self.address + path)
        self.page.wait_for_selector(".js-plotly-plot .main-svg", timeout=30_000)
        return self.ready()

    def ready(self) -> Explorer:
        """Waits until the server has had nothing more to say for a while."""
        quiet = 0
        while quiet < 4:
            self.page.wait_for_timeout(100)
            self.page.wait_for_selector(READY, timeout=30_000)
            quiet = quiet + 1 if self.page.locator(READY).count() else 0
        return self

    def says(self, text: str) -> Explorer:
        """Waits until that text is on the page, and the server has nothing more to say."""
        expect(self.page.locator("[data-testid=stMain]")).to_contain_text(text, timeout=30_000)
        return self.ready()

    def texts(self) -> str:
        return self.page.locator("[data-testid=stMain]").inner_text()

    def points(self, key: str) -> Locator:
        return self.page.locator(
            f".st-key-{key} .js-plotly-plot .points path.point, .st-key-{key} .js-plotly-plot .points .point path"
        )

    def click(self, point: Locator) -> Explorer:
        """Moves over a point of a figure and clicks it, as a hand does."""
        point.scroll_into_view_if_needed()
        box = point.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for step in (8, 4, 0):
            self.page.mouse.move(x - step, y - step / 2)
            self.page.wait_for_timeout(80)
        self.page.mouse.click(x, y)
        return self.ready()

    def press(self, key: str) -> Explorer:
        self.page.keyboard.press(key)
        return self.ready()

    def type(self, name: str, number: int, *, wait: bool = True) -> Explorer:
        """Types a whole number into the field of that name."""
        self.page.get_by_role("spinbutton", name=name, exact=True).fill(str(number))
        self.page.keyboard.press("Enter")
        return self.ready() if wait else self

    def agrees(self, text: str, url: str) -> str:
        """Waits until what the page says is what its address says; on a busy machine that is told a moment later."""
        for _ in range(50):
            said = re.search(text, self.texts()).group(1)
            if url.format(said) in self.page.url:
                return said
            self.page.wait_for_timeout(100)
        raise AssertionError(f"the page says {said}, and its address is {self.page.url}")

    def line(self) -> str:
        """The highlighted line of the kernel, with the values beside it."""
        return self.page.locator(".code .row.here").first.inner_text()


@pytest.fixture
def explorer(browser: Browser, server: str) -> Iterator[Explorer]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield Explorer(context.new_page(), server)
    context.close()
