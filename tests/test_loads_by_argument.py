"""How wide each argument is loaded, and the warning where it could be loaded wider: by the compiled kernel, and on its page."""

from __future__ import annotations

import pytest

from kernels.inside.jobs import remarks_job, report_job, stages_job, variants_job
from kernels.inside.moved import grouped, in_words, loaded
from kernels.runtime.device import find_target
from kernels.runtime.settings import corrected
from kernels.runtime.workers import Workers

from .test_compiler_page import page, words

ODD_N = {"operator": "matmul_relu", "m": 1024, "n": 1953, "k": 2048, "dtype": "float16"}
NARROW_B = (
    "A thread loads b at most 2 bytes at once because n = 1,953 is not divisible by 16; with n = 1,968 it loads 16 at once."
)


@pytest.fixture(scope="module")
def compiler():
    workers = Workers()
    yield workers["compile"]
    workers.close()


def request_of(**texts: object):
    return corrected({name: str(value) for name, value in texts.items()})[0].request


def remarks(compiler, target: str, **texts: object) -> list[str]:
    found = compiler.call(remarks_job, request_of(**texts), find_target(target), seconds=180)
    return [one for one in found if one.startswith("A thread loads")]


def widths(compiler, target: str, **texts: object) -> dict[str, int]:
    request = request_of(**texts)
    return loaded(compiler.call(stages_job, request, find_target(target), seconds=180), request.launch())


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_one_operand_loaded_two_bytes_at_a_time_is_warned_of_by_name(compiler, target):
    assert widths(compiler, target, **ODD_N) == {"a": 16, "b": 2}
    assert remarks(compiler, target, **ODD_N) == [NARROW_B]


def test_only_the_size_that_makes_the_difference_is_named(compiler):
    assert widths(compiler, "sm_90", **{**ODD_N, "k": 2049}) == {"a": 2, "b": 2}
    both = remarks(compiler, "sm_90", **{**ODD_N, "k": 2049})
    assert len(both) == 2
    assert "loads a at most 2 bytes at once because k = 2,049 is not divisible by 16" in both[0]
    assert both[1] == NARROW_B
    assert remarks(compiler, "sm_90", **{**ODD_N, "m": 1023, "n": 1952}) == [], "no load goes along m"


def test_sizes_divisible_by_16_are_not_warned_of(compiler):
    assert remarks(compiler, "sm_90", **{**ODD_N, "n": 1952}) == []
    assert widths(compiler, "sm_90", **{**ODD_N, "n": 1952}) == {"a": 16, "b": 16}


def test_arguments_that_are_alike_are_warned_of_together(compiler):
    assert remarks(compiler, "sm_90", n_elements=1000, BLOCK_SIZE=1024) == [
        "A thread loads at most 4 bytes at once because n_elements = 1,000 is not divisible by 16; "
        "with n_elements = 1,008 it loads 16 at once."
    ]
    assert widths(compiler, "sm_90", n_elements=1000, BLOCK_SIZE=1024) == {"x": 4, "y": 4}
    assert widths(compiler, "sm_90", operator="elementwise_chain", n_elements=1024, BLOCK_SIZE=1024) == dict.fromkeys("xyz", 16)


def test_of_a_norm_the_row_and_the_weight_are_told_apart(compiler):
    norm = {"operator": "rms_norm", "rows": 64, "dtype": "bfloat16", "BLOCK_SIZE": 8192}
    assert widths(compiler, "sm_90", **norm, columns=8192) == {"x": 16, "weight": 16}
    narrow = widths(compiler, "sm_90", **norm, columns=8191)
    assert narrow["x"] < 16
    assert remarks(compiler, "sm_90", **norm, columns=8191)


def test_amd_too(compiler):
    assert widths(compiler, "gfx942", n_elements=1024, BLOCK_SIZE=1024) == {"x": 16, "y": 16}
    found = widths(compiler, "gfx942", **ODD_N)
    assert found["a"] > found["b"]
    assert any("loads b at most" in one for one in remarks(compiler, "gfx942", **ODD_N))


def test_the_report_and_the_variants_have_them_by_argument(compiler):
    request, target = request_of(**ODD_N), find_target("sm_90")
    stages, figures = compiler.call(report_job, request, target, seconds=180)
    assert figures["argument_load_bytes"] == {"a": 16, "b": 2}
    assert NARROW_B in figures["warnings"]
    add = request_of(n_elements=98432)
    found = compiler.call(variants_job, add, target, seconds=180)
    assert {one.loads for one in found if not one.refused} == {"16 B", "4 B", "8 B"} & {one.loads for one in found}
    assert stages.texts


def test_the_headline_tells_them_apart_only_where_they_differ():
    text = words(page(**ODD_N))
    assert "loads of 16 bytes (a) and 2 bytes (b)." in text
    assert NARROW_B in text
    assert "loads of up to 16 bytes." in words(page(n_elements=98432))


def test_the_words():
    assert in_words({}) == ""
    assert in_words({"x": 16, "y": 16}) == "16 B"
    assert in_words({"b": 2, "a": 16, "c": 2}) == "16 B (a), 2 B (b, c)"
    assert grouped({"b": 2, "a": 16}) == {16: ["a"], 2: ["b"]}
