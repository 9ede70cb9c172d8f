"""Markup in every text of runs and reports: in a real browser no request leaves, and no element appears."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser

from kernels.check import history
from kernels.check import page as html_page
from kernels.measure import runs
from kernels.storage import codec
from pages._html import literal

from ..server import free_port, start
from .conftest import Explorer
from .test_fusion import tick

# HTML, Markdown and Plotly's own links; each asks for something outside as soon as it is an element.
MARKUP = (
    '<img class="planted" src="http://evil.example/html.png">',
    '<form class="planted" action="http://evil.example"><input type="password"></form>',
    "<style>* { background: url(http://evil.example/style.png) }</style>",
    '<a class="planted" href="javascript:alert(1)">link</a>',
    "<script>window.planted = 1</script>",
    "![x](http://evil.example/markdown.png)",
    "[link](http://evil.example/link)",
    "'\"><svg onload=alert(1)>",
)
# What a text is chosen from by the product itself: with another one the file is refused.
CHOSEN = {"kind", "status", "stage", "check", "operator", "dtype", "direction", "way", "axis", "key", "gpu"}


def planted(value, text: str, name: str = ""):
    """A value of dataclasses with that text in each text that the product does not choose itself."""
    if is_dataclass(value):
        return replace(value, **{one.name: planted(getattr(value, one.name), text, one.name) for one in fields(value)})
    if isinstance(value, tuple):
        return tuple(planted(one, text, name) for one in value)
    if isinstance(value, dict):
        return {key: planted(one, text, name) for key, one in value.items()}
    return text if isinstance(value, str) and name not in CHOSEN else value


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("planted")


@pytest.fixture(scope="module")
def server(folder) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_EXPLORER_RUNS", str(folder / "runs"))
        patch.setenv("TRITON_EXPLORER_CHECKS", str(folder / "checks"))
        port = free_port()
        process = start(port)
        yield f"http://localhost:{port}"
        process.terminate()
        process.wait(20)


@pytest.fixture
def explorer(server: str, browser: Browser) -> Iterator[Explorer]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    found = Explorer(context.new_page(), server)
    yield found
    clean(found)
    context.close()


def clean(explorer: Explorer) -> None:
    """Nothing was asked for outside, nothing was planted, no script ran, no link leads away but those of known failures."""
    explorer.ready()
    page = explorer.page
    assert explorer.outside == []
    assert page.locator(".planted, [data-testid=stMain] img, input[type=password], [onload]").count() == 0
    assert page.evaluate("window.planted") is None
    links = page.locator("a[href], svg a").evaluate_all("all => all.map(one => one.href.baseVal ?? one.href)")
    assert [link for link in links if not re.match(r"http://localhost|https://github\.com/", link)] == []
    assert page.evaluate("getComputedStyle(document.body).backgroundImage") == "none"


def reports() -> Iterator[tuple[str, object]]:
    for base in history.recorded():
        for text in (*MARKUP, " ".join(MARKUP)[:450]):
            yield text, planted(base, text)


def test_every_tab_of_reports_with_markup_in_every_text(explorer, folder):
    names = []
    for at, (text, report) in enumerate(reports()):
        assert text in codec.encoded(report).decode() or "\\" in codec.encoded(report).decode()
        (folder / "checks").mkdir(exist_ok=True)
        path = folder / "checks" / f"report-{at}.json"
        path.write_bytes(codec.encoded(report))
        assert history.load(path) == report
        names.append(path.name)
    for name in (names[len(MARKUP)], names[-1]):  # all of it in one text; of one card, and of two
        explorer.page.goto(f"{explorer.address}/check?report={quote(name)}")
        explorer.says(" passed")
        for tab in ("The card", "Earlier reports", "Take it along", "What is checked"):
            explorer.page.get_by_role("tab", name=tab).click()
            explorer.ready()
        clean(explorer)
        assert "evil.example" in explorer.texts() or "planted" in explorer.texts()


def test_runs_with_markup_in_every_text(explorer, folder):
    single = next(run for run in runs.recorded() if run.axis is None)
    sweep = next(run for run in runs.recorded() if run.axis)
    (folder / "runs").mkdir(exist_ok=True)
    for at, text in enumerate((" ".join(MARKUP)[:450], *MARKUP)):
        for kind, base in (("point", single), ("sweep", sweep)):
            run = planted(base, text)
            path = folder / "runs" / f"{kind} {at} ![x](http:evil.example).json"
            path.write_bytes(codec.encoded(run))
            assert runs.load(path) == run
    (folder / "runs" / "![x](http:evil.example).json").write_text("{")
    explorer.page.goto(explorer.address + "/runs")
    explorer.says("recorded on other machines")
    for row in range(1, 6):
        tick(explorer, row)
    explorer.says("The facts")
    explorer.page.get_by_role("button", name=re.compile("^Delete A")).click()
    explorer.ready()
    assert "evil.example" in explorer.texts()


def test_addresses_with_markup_are_told_as_text(explorer):
    for path in ("/check?mode=", "/check?report=", "/check?"):
        for text in ("![](//evil.example/a)", "<img src=//evil.example>"):
            explorer.page.goto(explorer.address + path + quote(text))
            explorer.ready()
            clean(explorer)


def test_the_page_to_mail_holds_no_element_of_the_report(browser, folder):
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for at, (_, report) in enumerate(reports()):
        path = folder / f"page-{at}.html"
        path.write_text(html_page.html(report))
        page.goto(path.as_uri())
        assert asked == [path.as_uri()]
        assert page.locator(".planted, img, form, script, a, [onload]").count() == 0
        assert page.locator("style").count() == 1
        asked.clear()
    page.close()


@pytest.mark.parametrize(
    "text", [*MARKUP, "**b** `c` $a$ :red[x] :material/home: a_b _c_ # d", "    indented", "- a\n- b", "1. a"]
)
def test_a_text_as_markdown_is_itself(explorer, folder, text):
    """By the browser's own reading of the name of a file that is no report."""
    name = re.sub(r"[/\n\0]", " ", text)
    for old in (folder / "checks").glob("*"):
        old.unlink()
    (folder / "checks").mkdir(exist_ok=True)
    (folder / "checks" / f"{name}.json").write_text("{")
    explorer.page.goto(explorer.address + "/check")
    explorer.page.get_by_role("tab", name="Earlier reports").click()
    caption = explorer.page.locator("[data-testid=stCaptionContainer]", has_text="cut short").first
    caption.wait_for()
    assert " ".join(caption.inner_text().replace("\u2060", "").split()) == " ".join(
        f"{name}.json: not a JSON file, or cut short.".split()
    )
    assert literal(text)
