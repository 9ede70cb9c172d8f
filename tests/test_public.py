"""A public copy: on no page is a folder typed, a file written or deleted, a GPU asked or a check run, whatever is pressed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kernels import operators
from kernels.runtime.workers import Worker, Workers
from pages import _gpus, _public, _shell

from .test_measure import H200

ROOT = Path(__file__).parents[1]
PAGES = [path.stem for path in sorted((ROOT / "pages").glob("[a-z]*.py"))]
PARAMETERS = {parameter.name for operator in operators().values() for parameter in operator.parameters}
KEPT_BY_STREAMLIT = {"__pycache__"}


class Named(Workers):
    """The workers of a server, with the names that were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> Worker:
        self.names.add(name)
        return super().__getitem__(name)


@pytest.fixture
def stranger(monkeypatch, tmp_path) -> Iterator[Path]:
    """A public copy with a GPU attached, as far as its pages can tell, and a data folder of its own."""
    monkeypatch.setenv(_public.VARIABLE, "1")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    named = Named()
    monkeypatch.setattr(_shell, "workers", lambda: named)
    monkeypatch.setattr(_gpus, "attached", lambda: (H200,))
    yield tmp_path
    named.close()


def opened(page: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.run()
    app.switch_page(f"pages/{page}.py")
    app.query_params.clear()
    return checked(app.run())


def checked(app: AppTest) -> AppTest:
    assert not app.exception, [one.value for one in app.exception]
    return app


def files(place: Path) -> set[tuple[str, int]]:
    """The files below a folder with the time of their last change."""
    there = (path for path in place.rglob("*") if path.is_file() and not KEPT_BY_STREAMLIT & set(path.parts))
    return {(str(path), path.stat().st_mtime_ns) for path in there}


def typed(app: AppTest) -> set[str]:
    """What a line of text may be typed for."""
    return {field.label for field in app.text_input}


@pytest.mark.parametrize("page", PAGES)
def test_every_button_and_choice_of_a_public_copy(stranger, page):
    shipped = {path: files(ROOT / path) for path in ("kernels", "pages", "viz", ".streamlit")}
    app = opened(page)
    assert typed(app) <= PARAMETERS, "a folder could be typed"
    names = [one.key for one in app.button if not one.disabled]
    for key in names:
        found = [one for one in app.button if one.key == key and not one.disabled]
        if found:
            checked(found[0].click().run())
            assert typed(app) <= PARAMETERS
        pressed = [one.label for one in app.button if not one.disabled]
        assert not [label for label in pressed if re.search(r"NVIDIA|Measure|Sweep|Check |Save|Delete|counters", label)], (
            pressed
        )
    for place, before in shipped.items():
        assert files(ROOT / place) == before
    assert not files(stranger)
    assert H200.worker not in _shell.workers().names


@pytest.mark.parametrize(
    ("page", "sentence"),
    [("fusion", _public.REFUSED["measure"]), ("check", _public.REFUSED["check"]), ("runs", _public.REFUSED["folder"])],
)
def test_what_a_public_copy_refuses_is_said_once(stranger, page, sentence):
    assert [one.value for one in opened(page).caption].count(sentence) == 1


def test_a_copy_of_one_s_own_refuses_nothing(monkeypatch):
    monkeypatch.delenv(_public.VARIABLE, raising=False)
    assert _public.refusal("check") is None
    assert _public.too_large(2**40) is None
    assert not _public.public()
    assert [one.label for one in opened("runs").text_input] == ["Folder of saved runs"]


def test_a_public_launch_is_bounded_in_size(stranger):
    assert _public.too_large(_public.ELEMENTS) is None
    assert "up to 1,048,576 elements, and this has 1,048,577" in _public.too_large(_public.ELEMENTS + 1)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["n_elements"], app.query_params["BLOCK_SIZE"] = str(_public.ELEMENTS + 1), "1024"
    checked(app.run())
    assert app.button(key="launch.go").disabled
    assert any("A public copy launches up to" in one.value for one in app.caption)


def test_one_visitor_launches_six_times_a_minute(stranger):
    app = AppTest.from_string("from pages import _public\nimport streamlit as st\nst.text(str(_public.too_often()))")
    for _ in range(_public.TASKS):
        assert app.run().text[0].value == "None"
    assert app.run().text[0].value.startswith("A public copy starts 6 launches a minute for one visitor; the next in ")
