"""Prints how the app stands up to twenty people at once: `python -m tests.crowd`.

First as twenty clients that speak Streamlit's protocol (what the server gives), then as twenty real pages in one Chromium
(what people see; on a small machine the browser's drawing takes most of the processor), each changing n every three seconds.
"""

from __future__ import annotations

import asyncio
import re
import statistics
import time
from dataclasses import dataclass, field

from .e2e.conftest import CHROMIUM, READY
from .server import free_port, start

PEOPLE = 20
TIMES = 20
EVERY = 3.0
BLOCK_SIZE = 64


@dataclass
class Found:
    """Seconds of the changes that came out right, and a line for each that did not."""

    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        if not self.seconds:
            return "\n".join(["none right", *self.wrong[:5]])
        ordered = sorted(self.seconds)
        figures = (statistics.median(ordered), ordered[int(0.95 * len(ordered))], ordered[-1])
        times = ", ".join(f"{name} {1000 * one:.0f} ms" for name, one in zip(("median", "p95", "worst"), figures, strict=True))
        return "\n".join([f"{len(ordered)} right, {len(self.wrong)} wrong, {times}", *self.wrong[:5]])


def typed(number: int) -> list[int]:
    """The values of n that one person types: no two people type the same one."""
    return [2000 + 100 * turn + number for turn in range(TIMES)]


def sentence(n: int) -> str:
    return f"{n:,} elements"


def last_program(n: int) -> str:
    return f"program {-(-n // BLOCK_SIZE) - 1}"


class Client:
    """What a browser does on the wire: sends the query string and the widgets, reads what comes until the run has finished."""

    def __init__(self, socket: object, patience: float = 20.0) -> None:
        self.socket, self.query, self.field, self.patience = socket, "", "", patience

    async def rerun(self, n: int | None = None) -> bytes:
        from streamlit.proto.BackMsg_pb2 import BackMsg

        message = BackMsg()
        message.rerun_script.query_string = self.query
        if n is not None:
            message.rerun_script.widget_states.widgets.add(id=self.field, int_value=n)
        await self.socket.send(message.SerializeToString())
        return await self.answer()

    async def answer(self) -> bytes:
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        came = b""
        while True:
            raw = await asyncio.wait_for(self.socket.recv(), self.patience)
            message = ForwardMsg.FromString(raw)
            came += raw
            if message.WhichOneof("type") == "script_finished":
                return came
            if message.WhichOneof("type") == "page_info_changed":
                self.query = message.page_info_changed.query_string
            if message.delta.new_element.number_input.label == "n_elements":
                self.field = message.delta.new_element.number_input.id


async def client(port: int, number: int, found: Found) -> None:
    from websockets.asyncio.client import connect

    async with connect(f"ws://localhost:{port}/_stcore/stream", subprotocols=["streamlit"], max_size=None) as socket:
        wire = Client(socket)
        wire.query = f"n_elements={1000 + number}&BLOCK_SIZE={BLOCK_SIZE}"
        await wire.rerun()
        await asyncio.sleep(EVERY * number / PEOPLE)
        for n in typed(number):
            started = time.perf_counter()
            came = await wire.rerun(n)
            seconds = time.perf_counter() - started
            if sentence(n).encode() in re.sub(rb"<[^<>]+>", b"", came) and last_program(n).encode() in came:
                found.seconds.append(seconds)
            else:
                found.wrong.append(f"client {number}, n {n}: the answer is not about it")
            await asyncio.sleep(max(EVERY - seconds, 0))


async def clients(port: int) -> Found:
    found = Found()
    await asyncio.gather(*(client(port, number, found) for number in range(PEOPLE)))
    return found


async def person(browser: object, port: int, number: int, found: Found) -> None:
    """One page: types a new n and waits until the sentence and the strip say it."""
    page = await (await browser.new_context(viewport={"width": 1280, "height": 800})).new_page()
    await page.goto(f"http://localhost:{port}/?n_elements={1000 + number}&BLOCK_SIZE={BLOCK_SIZE}")
    await page.wait_for_selector(".js-plotly-plot .main-svg", timeout=120_000)
    await asyncio.sleep(EVERY * number / PEOPLE)
    for n in typed(number):
        await page.get_by_role("spinbutton", name="n_elements", exact=True).fill(str(n))
        started = time.perf_counter()
        await page.keyboard.press("Enter")
        try:
            await page.wait_for_function(
                f"document.querySelector('.story')?.innerText.startsWith('{sentence(n)}') && document"
                f".querySelector('.st-key-strip .js-plotly-plot')?.textContent.includes('{last_program(n)}')",
                timeout=20_000,
            )
            found.seconds.append(time.perf_counter() - started)
        except Exception as error:
            found.wrong.append(f"page {number}, n {n}: {type(error).__name__}")
        await asyncio.sleep(max(EVERY - (time.perf_counter() - started), 0))


async def browsers(port: int) -> Found:
    from playwright.async_api import async_playwright

    found = Found()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        await asyncio.gather(*(person(browser, port, number, found) for number in range(PEOPLE)))
        await browser.close()
    return found


def first_page() -> float:
    """Seconds from the command to the complete page in Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        started, port = time.perf_counter(), free_port()
        server = start(port)
        page.goto(f"http://localhost:{port}")
        page.wait_for_selector(".st-key-memory .main-svg", timeout=60_000)
        page.wait_for_selector(READY)
        page.wait_for_selector("[data-testid=stSidebar] [data-testid=stButton]")
        seconds = time.perf_counter() - started
        browser.close()
        server.terminate()
    return seconds


def main() -> None:
    print(f"from the command to the complete page in Chromium: {first_page():.1f} s", flush=True)
    port = free_port()
    server = start(port)
    print(f"{PEOPLE} clients, {TIMES} changes each, one every {EVERY:.0f} s: {asyncio.run(clients(port))}", flush=True)
    print(f"{PEOPLE} pages of one Chromium, the same: {asyncio.run(browsers(port))}")
    server.terminate()


if __name__ == "__main__":
    main()
