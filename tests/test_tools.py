"""The tools of the tests: which lane a test is in, limits of times, sets of versions, names in pytest's reports."""

from __future__ import annotations

import subprocess

import pytest
from streamlit.testing.v1 import AppTest

from . import on_parent, versions
from .lanes import leaves_its_process
from .measure import Figure


def runs_a_process():
    return subprocess.run(["true"], check=True)


def draws_a_page():
    return [AppTest.from_string("") for _ in range(1)]


def calls_one_that_does():
    return (lambda: runs_a_process())()


def imports_workers():
    from kernels.runtime.workers import Workers

    return Workers()


def stays():
    return on_parent.key("tests/test_x.py::test_y")


@pytest.mark.parametrize("function", [runs_a_process, draws_a_page, calls_one_that_does, imports_workers])
def test_what_leaves_its_process_is_not_fast(function):
    assert leaves_its_process(function)


def test_what_stays_in_its_process_is_fast(request):
    assert not leaves_its_process(stays)
    assert request.node.get_closest_marker("fast")


@pytest.mark.parametrize(
    ("median", "allowance", "missed"), [(0.29, 1, False), (0.31, 1, True), (2.9, 10, False), (3.1, 10, True)]
)
def test_a_limit_is_missed_past_its_allowance(median, allowance, missed):
    figure = Figure("a change", [0.0, median, 9.0], 0.3)
    assert figure.misses(allowance) == missed
    assert figure.line(allowance).endswith("  MISSED") == missed


@pytest.mark.parametrize(
    ("line", "oldest"),
    [
        ("torch>=2.11,<3", "torch==2.11.*"),
        ("numpy>=1.26", "numpy==1.26.*"),
        ('triton>=3.6,<4; platform_system == "Linux"', 'triton==3.6.*; platform_system == "Linux"'),
    ],
)
def test_the_oldest_set_is_what_the_requirements_allow(line, oldest):
    assert versions.pinned(line) == oldest
    assert all(">=" not in one for one in versions.requirements("oldest") if one.startswith(versions.SHOWN))


def test_names_are_found_in_a_report(tmp_path):
    (tmp_path / "report.xml").write_text(
        '<testsuite><testcase classname="tests.test_x" name="test_a[b::c-1]"/>'
        '<testcase classname="tests.e2e.test_y" name="test_b"><failure/></testcase>'
        '<testcase classname="tests.test_z.TestIt" name="test_c"><skipped/></testcase></testsuite>'
    )
    states = dict(on_parent.outcomes(tmp_path / "report.xml"))
    assert states[on_parent.key("tests/test_x.py::test_a[b::c-1]")] == "passed"
    assert states[on_parent.key("tests/e2e/test_y.py::test_b")] == "failed"
    assert states[on_parent.key("tests/test_z.py::TestIt::test_c")] == "skipped"
