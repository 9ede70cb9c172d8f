"""On a GPU: the quick check as a person runs it, and planted faults in the process that has the GPU."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kernels.check import values
from kernels.check.child import Child, ChildError
from kernels.check.session import COMPILES, visible
from kernels.check.values import FAIL, PASS
from kernels.language import MISSING
from kernels.runtime.device import attached

from .limits import PATIENCE

ROOT = Path(__file__).parents[1]
GPUS = () if MISSING else attached()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not GPUS, reason="no GPU that Triton can launch on is attached")]


@pytest.fixture(scope="module")
def child():
    one = Child({**COMPILES, **visible(GPUS[:1])})
    yield one
    one.close()


def ask(child, function):
    return list(child.ask(function, 120))


def test_the_quick_check_passes_on_one_card(tmp_path):
    file = tmp_path / "report.json"
    command = [
        sys.executable,
        "-m",
        "kernels",
        "check",
        "--quick",
        "--gpu",
        "0",
        "--json",
        str(file),
        "--folder",
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    report = values.from_json(file.read_text(), "report.json")
    assert done.returncode in (0, 3), done.stdout
    assert done.returncode == values.exit_code(report)
    assert len(report.cards) == 1
    for name in values.ESSENTIAL:
        assert report.find(name).status == PASS, report.find(name)
    assert report.find("cubin").status == PASS
    assert report.find("load").status == PASS


def test_an_illegal_access_fails_its_check_alone(child):
    with pytest.raises(ChildError) as error:
        ask(child, "tests.check_faults:poisoned_context")
    assert "illegal" in error.value.text or "ended by signal" in error.value.text
    (found,) = ask(child, "truth:ragged")
    assert found.status == PASS


def test_a_store_without_its_mask_is_caught(child):
    (found,) = ask(child, "tests.check_faults:unmasked")
    assert found.status == FAIL
    assert "cells past the ends were written" in found.said


def test_twenty_repeats_and_a_second_thread(child):
    assert [one.status for one in ask(child, "truth:repeats")] == [PASS]
    assert [one.status for one in ask(child, "truth:second_thread")] == [PASS]


def test_host_copies_arrive_as_they_left(child):
    assert all("not equal" not in one.said for one in ask(child, "host_copies:measured"))


def test_the_page_checks_the_card(monkeypatch, tmp_path):
    from .test_check_page import finished, page, words

    monkeypatch.setenv("TRITON_EXPLORER_CHECKS", str(tmp_path))
    app = page(mode="quick")
    app.button(key="check.go").click().run()
    text = words(finished(app))
    assert GPUS[0].name in text
    assert app.session_state["check.running"].report.find("dram copy").status == PASS
    assert app.session_state["check.running"].kept


@pytest.mark.skipif(len(GPUS) < 2, reason="needs two GPUs")
def test_two_cards_together():
    one = Child({**COMPILES, **visible(GPUS)})
    try:
        assert [found.status for found in ask(one, "peers:last_gpu")] == [PASS]
        (found,) = ask(one, "peers:copies")
        assert found.status != FAIL, found.said
        assert len(found.series["speeds"]) == len(GPUS) ** 2
    finally:
        one.close()
