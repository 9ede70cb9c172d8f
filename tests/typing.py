"""Types, steps, goes back and forward in two tabs of a slow server: `python -m tests.typing [ROUNDS]`, 200 by default.

Every run of the launch page takes five seconds longer than it needs and two processes keep the processor busy. A round is
right where the page, its field and its address end at what the person did last, and stay there. Exit code 1 where one is not.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING

from .e2e.conftest import CHROMIUM, READY
from .server import free_port, start

if TYPE_CHECKING:
    from playwright.async_api import Page

ROUNDS, SECONDS, BUSY = 200, 5.0, 2
PATIENCE = 300.0  # seconds until a round that is not right yet counts as wrong
ACTIONS = ("type", "step", "back", "forward", "type", "back and type", "step", "type", "back")
SLOW = """
import sys, threading, time

def slow():
    while "pages._launch.tracing" not in sys.modules or not hasattr(sys.modules["pages._launch.tracing"], "finish"):
        time.sleep(0.01)
    tracing = sys.modules["pages._launch.tracing"]
    picture = tracing.picture
    def slowly(*args, **kwargs):
        ends = time.monotonic() + {seconds}
        while time.monotonic() < ends:
            tracing.checkpoint()
            time.sleep(0.02)
        return picture(*args, **kwargs)
    tracing.picture = slowly

threading.Thread(target=slow, daemon=True).start()
"""


@contextmanager
def slow_server(seconds: float) -> Iterator[str]:
    """The address of a server whose runs of the launch page take so many seconds longer."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text(SLOW.format(seconds=seconds))
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = folder
        try:
            port = free_port()
            server = start(port)
        finally:
            os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)
        try:
            yield f"http://localhost:{port}"
        finally:
            server.terminate()
            server.wait(30)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keeps the processor busy with so many processes."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


class Tab:
    """One tab, and a person at it; `wrong` has a line for every round that did not end where it should."""

    def __init__(self, page: Page, first: int) -> None:
        self.page, self.shown, self.next = page, first, first
        self.right, self.wrong = 0, []
        self.field = page.get_by_role("spinbutton", name="n_elements", exact=True).first

    async def act(self, action: str) -> None:
        """Does it, and waits until the page is where it should be."""
        before = self.page.url
        expected = await {
            "type": self._type,
            "step": self._step,
            "back": self._back,
            "forward": self._forward,
            "back and type": self._back_and_type,
        }[action]()
        if await self._ends_at(expected):
            self.right += 1
        else:
            now = f"{await self.page.locator('.story').inner_text()!r}, field {await self.field.input_value()}, {self.page.url}"
            self.wrong.append(f"{action}: {expected} expected, from {before}: {now}")

    async def _type(self) -> int:
        for _ in range(4):
            self.next += 3
            await self.field.fill(str(self.next))
            await self.field.press("Enter")
        return self.next

    async def _step(self) -> int:
        value = int(await self.field.input_value())
        for _ in range(3):
            await self.field.press("ArrowUp")
        await self.field.press("Enter")
        return value + 3

    async def _back(self) -> int:
        await self.page.evaluate("history.back()")
        return await self._arrived()

    async def _forward(self) -> int:
        await self.page.evaluate("history.forward()")
        return await self._arrived()

    async def _back_and_type(self) -> int:
        await self._back()
        return await self._type()

    async def _arrived(self) -> int:
        """The n of the address that the browser went to, before the server has heard of it."""
        await self.page.wait_for_function(f"!location.search.match(/n_elements={self.shown}(&|$)/)", timeout=PATIENCE * 1000)
        return int(re.search(r"n_elements=(\d+)", self.page.url).group(1))

    async def _ends_at(self, n: int) -> bool:
        condition = (
            f"document.querySelector('.story')?.innerText.startsWith('{n:,} elements')"
            f" && location.search.match(/n_elements={n}(&|$)/)"
            f" && document.querySelector('{READY}') && document.querySelector('input[aria-label=n_elements]')?.value == '{n}'"
        )
        for _ in range(2):  # there, and still there a moment later
            try:
                await self.page.wait_for_function(condition, timeout=PATIENCE * 1000)
            except Exception:
                return False
            await asyncio.sleep(0.6)
        self.shown = n
        return bool(await self.page.evaluate(f"Boolean({condition})"))


async def tabs(address: str, rounds: int) -> list[Tab]:
    """Two tabs of one browser, each with half of the rounds."""
    from playwright.async_api import async_playwright

    async def person(context: object, first: int) -> Tab:
        page = await context.new_page()
        await page.goto(f"{address}/?n_elements={first}&BLOCK_SIZE=4")
        tab = Tab(page, first)
        if await tab._ends_at(first):
            for number, action in enumerate(islice(cycle(ACTIONS), rounds // 2), 1):
                await tab.act(action)
                if number % 10 == 0:
                    print(f"  tab {first}: {tab.right} of {number} right", flush=True)
        return tab

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        context = await browser.new_context(viewport={"width": 1280, "height": 800})
        done = await asyncio.gather(person(context, 7), person(context, 5000))
        await browser.close()
    return done


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with slow_server(SECONDS) as address, busy(BUSY):
        done = asyncio.run(tabs(address, rounds))
    right, wrong = sum(tab.right for tab in done), [line for tab in done for line in tab.wrong]
    print("\n".join([f"{right} of {rounds} right", *wrong]))
    sys.exit(right != rounds)


if __name__ == "__main__":
    main()
