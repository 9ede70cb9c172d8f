"""One file adds an operator: with kernel, arguments and grid alone it shows everywhere, and a broken one harms nobody."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernels import operators, registry
from kernels.contract import findings, small
from kernels.launch import Launch, Tensor
from kernels.operator import Numbers, Problem
from kernels.runtime.draw import draw
from kernels.runtime.records import EVERYTHING, unravel
from kernels.runtime.request import Request
from kernels.runtime.script import script
from kernels.runtime.trace import trace
from viz import memory, theme

from .limits import PATIENCE
from .test_any_launch import held

ROOT = Path(__file__).parents[1]
MINIMAL = ROOT / "tests" / "minimal"
FILES = sorted(MINIMAL.glob("*.py"))
PAGES = ("launch", "hardware", "compiler", "fusion")


def run(*arguments: str, folder: Path = MINIMAL) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, registry.FOLDER: str(folder), "TRITON_INTERPRET": "0", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)


def operator_of(path: Path):
    return registry.load(path).OPERATOR


def traced(operator):
    problem = small(operator)
    launch = operator.plan(problem, operator.tiling(problem))
    programs = [unravel(number, launch.grid) for number in range(launch.programs)]
    return launch, trace(launch, programs, limits=EVERYTHING, strict=True)


@pytest.mark.parametrize("page", PAGES)
def test_every_tab_of_a_page_draws_an_operator_of_kernel_arguments_and_grid_or_says_what_is_missing(page):
    done = run("tests.minimal_pages", page)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_the_offsets_masks_and_values_of_a_transposed_view_are_numpys():
    launch, found = traced(operator_of(MINIMAL / "transpose.py"))
    rows, columns = launch.arguments["x"].shape
    x = held(found.memory["x"])
    np.testing.assert_array_equal(held(found.memory["out"]), x.T)
    load = next(access for access in found.accesses if access.program == (2, 1, 0) and access.kind == "load")
    row, column = 8 + np.arange(4)[:, None], 4 + np.arange(4)[None, :]
    assert (load.offsets == row * (columns + 3) + column).all()
    assert (load.mask == ((row < rows) & (column < columns))).all()
    assert not load.outside_view.any()


@pytest.fixture
def known(monkeypatch):
    """The minimal operators, found by this process."""
    monkeypatch.setenv(registry.FOLDER, str(MINIMAL))
    registry.registry.cache_clear()
    yield
    registry.registry.cache_clear()


def drawn(name, **sizes):
    operator = registry.find(name)
    problem = Problem(Numbers(sizes))
    return draw(Request(name, problem, operator.tiling(problem)), 0)


def test_memory_of_a_view_is_drawn_element_by_element_with_the_program_that_reads_it(known):
    x, out = drawn("transpose", rows=10, columns=7).memory
    row, column = np.divmod(np.arange(70), 7)
    assert (x.cells.owner == row // 4 + 3 * (column // 4)).all()
    np.testing.assert_array_equal(out.cells.values.reshape(7, 10), x.cells.values.reshape(10, 7).T)
    assert (x.cells.touches == 1).all()
    assert x.read.sum() * (10 * 7 / x.read.size) == pytest.approx(16)


def test_memory_of_three_dimensions_is_drawn_whole(known):
    given, result = drawn("cube", high=2, wide=3, deep=5).memory
    assert given.cells.values.size == 30
    np.testing.assert_array_equal(result.cells.values, 2 * given.cells.values)
    figure = memory.blocks_figure((given, result), 0, [], theme.style(False), 4)
    texts = [text for trace in figure["data"] for text in trace.get("text") or ()]
    assert len(texts) >= 60


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_script_of_a_minimal_operator_runs(known, path, tmp_path):
    operator = registry.find(path.stem)
    problem = small(operator)
    text = script(Request(operator.name, problem, operator.tiling(problem)))
    (tmp_path / "launch.py").write_text(text)
    environment = {**os.environ, "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, str(tmp_path / "launch.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr[-1500:]


def test_the_values_of_a_gather_are_numpys():
    launch, found = traced(operator_of(MINIMAL / "pick.py"))
    source, index = held(found.memory["source"]), held(found.memory["index"])
    np.testing.assert_array_equal(held(found.memory["out"]), source[index % launch.arguments["length"]])


def test_the_programs_of_a_grid_of_three_dimensions_are_where_numpy_has_them():
    launch, found = traced(operator_of(MINIMAL / "cube.py"))
    shape = launch.arguments["given"].shape
    np.testing.assert_array_equal(held(found.memory["result"]), 2 * held(found.memory["given"]))
    for access in found.accesses:
        x, y, z = access.program
        expected = np.ravel_multi_index((x, y, 0), shape) + 4 * z + np.arange(4)
        assert (access.offsets == expected).all()
        assert (access.mask == (4 * z + np.arange(4) < shape[2])).all()


def test_a_sum_to_one_number_is_numpys():
    _, found = traced(operator_of(MINIMAL / "total.py"))
    np.testing.assert_allclose(held(found.memory["total"]), held(found.memory["values"]).sum(keepdims=True), rtol=1e-6)


@pytest.mark.parametrize("path", [MINIMAL / "transpose.py", MINIMAL / "total.py"], ids=lambda path: path.stem)
def test_commands_answer_for_a_minimal_operator(path):
    shown = run("kernels", "trace", path.stem, "--json")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["accesses"]
    compiled = run("kernels", "compile", path.stem, "--target", "sm_90", "--json")
    assert compiled.returncode == 0, compiled.stderr
    assert json.loads(compiled.stdout)["launchable"] is True
    measured = run("kernels", "bench", path.stem)
    assert measured.returncode in (2, 4)
    assert "Traceback" not in measured.stderr
    assert len(measured.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_part_but_the_launch_of_a_minimal_operator_is_missing_and_said(path):
    found = list(findings(operator_of(path)))
    assert [finding.part for finding in found if finding.status == "right"] == ["launch"]
    assert all(finding.words for finding in found if finding.status == "missing")
    assert not [finding for finding in found if finding.status == "wrong"]


def test_try_says_what_is_right_and_what_is_missing():
    told = run("kernels", "try", str(MINIMAL / "cube.py"))
    assert told.returncode == 0, told.stderr
    assert re.search(r"^  right +launch$", told.stdout, re.M)
    assert "missing  axes: axes=(problem, tiling, divide) shows how many lanes are masked" in told.stdout
    assert told.stdout.rstrip().endswith("1 right, 0 wrong, 8 missing.")


@pytest.mark.parametrize("name", operators())
def test_no_part_of_an_operator_that_ships_is_wrong(name):
    wrong = [finding for finding in findings(operators()[name]) if finding.status == "wrong"]
    assert wrong == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("mask=at < count, other=0", "mask=at < count + 99, other=0", "outside of it, at line"),
        ('"count": count,', "", "the kernel has count, and the launch gives none"),
        ("mask = at < count", "mask = at < 0", ""),
        ("tl.store(out + at", "tl.store(source + at", "no program writes out"),
    ],
)
def test_the_contract_finds_what_is_wrong_with_a_launch(tmp_path, old, new, said):
    text = (MINIMAL / "pick.py").read_text()
    source = text.replace("tl.load(index + at, mask=mask, other=0)", "tl.load(index + at, mask=at < count, other=0)")
    assert old in source
    path = tmp_path / "pick.py"
    path.write_text(source.replace(old, new))
    wrong = [finding.words for finding in findings(operator_of(path)) if finding.status == "wrong"]
    assert len(wrong) == bool(said)
    assert said in " ".join(wrong)


BROKEN = {
    "syntax.py": ("def broken(:\n", "line 1: invalid syntax"),
    "missing.py": ("import a_package_that_nobody_has\n", "No module named 'a_package_that_nobody_has'"),
    "raises.py": ("raise ValueError('no luck')\n", "no luck"),
    "leaves.py": ("import sys\nsys.exit(3)\n", "it ends the program when it is loaded"),
    "empty.py": ("X = 1\n", "holds no Operator"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("operators")
    for name, (text, _) in BROKEN.items():
        (folder / name).write_text(text)
    (folder / "cube.py").write_text((MINIMAL / "cube.py").read_text())
    (folder / "twin.py").write_text((MINIMAL / "cube.py").read_text())
    return folder


def test_a_broken_file_is_listed_with_its_reason_and_the_others_work(folder):
    listed = run("kernels", "list", folder=folder)
    assert listed.returncode == 0
    assert "vector_add: " in listed.stdout
    assert "cube: Doubling in a grid of three dimensions" in listed.stdout
    for name, (_, reason) in BROKEN.items():
        assert f"left out: {folder / name}: {reason}" in listed.stderr
    assert f"its operator 'cube' has the name of the one in {folder / 'cube.py'}" in listed.stderr
    assert run("kernels", "trace", "vector_add", folder=folder).returncode == 0


def test_who_asks_for_a_broken_operator_reads_why(folder):
    asked = run("kernels", "trace", "raises", folder=folder)
    assert asked.returncode == 2
    assert f"The operator's file {folder / 'raises.py'} is left out: no luck." in asked.stderr


def test_the_pages_name_what_is_left_out(folder):
    code = (
        "from tests import fuzz\n"
        "for page in ('launch', 'hardware', 'compiler', 'fusion'):\n"
        "    app = fuzz.opened(page, {})\n"
        "    assert not app.exception\n"
        "    print(page, *(caption.value for caption in app.sidebar.caption))\n"
    )
    environment = {**os.environ, registry.FOLDER: str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for line in done.stdout.splitlines():
        assert "Left out: raises.py. no luck." in line


def test_a_kernel_that_cannot_be_traced_is_a_sentence(tmp_path):
    text = (MINIMAL / "cube.py").read_text().replace("* 2", "@ 2")
    (tmp_path / "cube.py").write_text(text)
    told = run("kernels", "trace", "cube", folder=tmp_path)
    assert told.returncode == 1
    assert told.stderr.startswith("python -m kernels trace: ")
    assert len(told.stderr.strip().splitlines()) == 1


OLD_SEAM = (r"\.family\b|family=", r"startswith\(\"BLOCK", r"removesuffix\(.(_ptr)")


@pytest.mark.parametrize("pattern", OLD_SEAM)
def test_nothing_asks_what_kind_of_operator_it_has_or_how_names_end(pattern):
    """But for `short`, which drops the ending where a name is shown."""
    files = [path for folder in ("kernels", "pages", "viz") for path in (ROOT / folder).rglob("*.py")]
    texts = {path: path.read_text().replace('return argument.removesuffix("_ptr")', "") for path in files}
    assert [str(path) for path, text in texts.items() if re.search(pattern, text)] == []


def test_a_launch_with_what_is_no_tensor_runs():
    launch = Launch(None, (1, 1, 1), {"x": Tensor((2,), "float32"), "n": 2, "nothing": None}, {})
    assert list(launch.tensors) == ["x"]
