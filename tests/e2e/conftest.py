"""A server of the app as a user starts it, and a real Chromium that looks at it."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from ..limits import PATIENCE
from ..server import Address, running

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
MAIN = "[data-testid=stMain]"
READY = "[data-testid=stApp][data-test-script-state=notRunning][data-test-connection-state=CONNECTED]"


@pytest.fixture
def fresh_server() -> Iterator[Address]:
    """The address of a server that nobody has asked anything yet."""
    with running() as address:
        yield address


@pytest.fixture(scope="module")
def server() -> Iterator[Address]:
    """The address of a server that the tests of a module share."""
    with running() as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=1000 * PATIENCE)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield found
        found.close()


def is_rerun(payload: object) -> bool:
    """Whether a message of the browser's asks for a run of the page."""
    from streamlit.proto.BackMsg_pb2 import BackMsg

    return isinstance(payload, bytes) and BackMsg.FromString(payload).WhichOneof("type") == "rerun_script"


class Explorer:
    """A page of the app, with what a person does on it. What is asked of it is waited for: a busy machine is only slow."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.outside: list[str] = []
        self.reruns = 0
        page.set_default_timeout(1000 * PATIENCE)
        page.set_default_navigation_timeout(1000 * PATIENCE)
        page.on("request", lambda request: self._see(request.url))
        page.on("websocket", lambda socket: socket.on("framesent", self._count))

    def _see(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:")):
            self.outside.append(url)

    def _count(self, payload: object) -> None:
        self.reruns += is_rerun(payload)

    def open(self, path: str = "/") -> Explorer:
        self.page.goto(self.address + path)
        self.page.wait_for_selector(".js-plotly-plot .main-svg")
        return self.ready()

    def ready(self) -> Explorer:
        """Waits until the server has had nothing more to say for a while."""
        quiet = 0
        while quiet < 4:
            self.page.wait_for_timeout(100)
            self.page.wait_for_selector(READY)
            quiet = quiet + 1 if self.page.locator(READY).count() else 0
        return self

    def says(self, text: str | re.Pattern) -> Explorer:
        """Waits until that text is on the page, and the server has nothing more to say."""
        expect(self.page.locator(MAIN)).to_contain_text(text)
        return self.ready()

    def at(self, part: str) -> Explorer:
        """Waits until that is in the page's address."""
        expect(self.page).to_have_url(re.compile(re.escape(part)))
        return self

    def no_longer_at(self, part: str) -> Explorer:
        """Waits until that is out of the page's address."""
        expect(self.page).not_to_have_url(re.compile(re.escape(part)))
        return self

    def texts(self) -> str:
        return self.page.locator(MAIN).inner_text()

    def points(self, key: str) -> Locator:
        return self.page.locator(
            f".st-key-{key} .js-plotly-plot .points path.point, .st-key-{key} .js-plotly-plot .points .point path"
        )

    def asks(self, action: Callable[[], object]) -> Explorer:
        """Does what makes the browser ask the server for another run, and waits until it has asked and was answered."""
        before = self.reruns
        action()
        self.until(lambda: self.reruns > before)
        return self.ready()

    def until(self, condition: Callable[[], object]) -> Explorer:
        """Waits until that is so, the browser's events being heard meanwhile."""
        ends = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < ends, f"not so within {PATIENCE:.0f} s"
            self.page.wait_for_timeout(50)
        return self

    def hover(self, point: Locator, within: tuple[float, float] | None = None) -> Explorer:
        """Moves to the middle of a point of a figure, or to a place within it, as a hand does."""
        point.scroll_into_view_if_needed()
        box = point.bounding_box()
        x, y = within or (box["width"] / 2, box["height"] / 2)
        for step in (8, 4, 0):
            self.page.mouse.move(box["x"] + x - step, box["y"] + y - step / 2)
            self.page.wait_for_timeout(80)
        return self

    def click(self, point: Locator) -> Explorer:
        """Moves over a point of a figure and clicks it, as a hand does."""
        self.hover(point)
        return self.asks(lambda: (self.page.mouse.down(), self.page.mouse.up()))

    def press(self, key: str) -> Explorer:
        self.page.keyboard.press(key)
        return self.ready()

    def type(self, name: str, number: int, *, wait: bool = True) -> Explorer:
        """Types a whole number into the field of that name."""
        field = self.page.get_by_role("spinbutton", name=name, exact=True)

        def enter() -> None:
            field.fill(str(number))
            self.page.keyboard.press("Enter")

        if wait:
            return self.asks(enter)
        enter()
        return self

    def agrees(self, text: str, url: str) -> str:
        """Waits until what the page says is what its address says; on a busy machine that is told a moment later."""
        return self.until(lambda: url.format(re.search(text, self.texts()).group(1)) in self.page.url).said(text)

    def said(self, text: str) -> str:
        return re.search(text, self.texts()).group(1)

    def line(self) -> str:
        """The highlighted line of the kernel, with the values beside it."""
        return self.page.locator(".code .row.here").first.inner_text()


@pytest.fixture
def explorer(browser: Browser, server: str) -> Iterator[Explorer]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield Explorer(context.new_page(), server)
    context.close()
