"""Launch geometry and sizes: B01 to B11."""

from __future__ import annotations

import re

import pytest
import torch

from kernels import Numbers, Problem, Tiling, find, operators
from kernels.runtime.device import find_target
from kernels.runtime.jobs import verdict_job
from kernels.runtime.settings import corrected
from kernels.vector_add import add

from ..test_compiler_page import page as compiler_page
from ..test_fusion_page import fusion
from ..test_pages import chart, checked, field, launched, page, words
from .reach import captions, command, figures, request_of, traced, verdict

TARGETS = ("sm_80", "sm_90", "gfx942")
POWER = "arange's range must be a power of 2"


def go(app):
    return app.button(key="launch.go")


@pytest.mark.parametrize(("block", "nearest"), [(1000, "512 or 1,024"), (200, "128 or 256"), (96, "64 or 128")])
def test_b01_no_power_of_two_is_refused_with_the_nearest_and_still_drawn(block, nearest):
    app = page(n="5000", BLOCK_SIZE=str(block))
    text = words(app)
    assert f"{POWER}. Nearest: BLOCK_SIZE {nearest}." in text
    assert f"5,000 elements in blocks of {block:,} make {-(-5000 // block):,} programs." in text
    assert go(app).label == f"Launch in the interpreter with BLOCK_SIZE {nearest.split(' or ')[1]}"
    assert chart(app, "lanes")["data"]


@pytest.mark.parametrize("target", TARGETS)
def test_b01_every_target_refuses_it_and_every_operator(compiler, target):
    for name, operator in operators().items():
        for block in (one.name for one in operator.blocks if one.name.startswith("BLOCK")):
            found = verdict(compiler, target, operator=name, **{block: 96})
            assert (found.launchable, found.who, found.reason) == (False, "Triton", POWER), (name, block)


def test_b01_a_block_of_0_has_its_own_reason_and_a_block_of_1_is_legal(compiler):
    said = "BLOCK_SIZE: 0 is not a whole number from 1 to 2,147,483,647"
    assert f"{said}; 1 is used." in words(page(n="5000", BLOCK_SIZE="0"))
    done = command("compile", "vector_add", "--block-size", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{said}; the nearest is 1." in done.stderr
    request = request_of(n=5000).with_blocks(BLOCK_SIZE=0)
    found = compiler.call(verdict_job, request, find_target("sm_90"), seconds=180)
    assert "end argument must be greater than the start argument" in found.reason
    assert verdict(compiler, "sm_90", n=5000, BLOCK_SIZE=1).launchable
    assert "within tolerance" in words(launched(page(n="20", BLOCK_SIZE="1")))


@pytest.mark.parametrize("block", [1000, 200, 96, 0])
def test_b01_the_function_refuses_it_in_words(block):
    with pytest.raises(ValueError, match=r"power of (2|two)") as raised:
        add(torch.ones(5000), torch.ones(5000), Tiling(Numbers(BLOCK_SIZE=block)))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", operators())
def test_b03_no_elements_launch_nothing_and_nothing_is_divided_by_them(name):
    operator = find(name)
    texts = {size.name: "0" for size in operator.sizes}
    app = page(operator=name, **texts)
    assert "0 programs, nothing to launch" in words(app)
    assert go(app).label == "0 programs: nothing to launch"
    assert go(app).disabled
    assert "nan" not in words(app)
    problem = Problem(Numbers(dict.fromkeys(texts, 0)))
    launch = operator.plan(problem, operator.tiling(problem))
    assert launch.programs == 0
    inputs = {
        argument.removesuffix("_ptr"): torch.empty(tensor.shape)
        for argument, tensor in launch.tensors.items()
        if tensor.filling
    }
    results = operator.wrapper(**inputs)
    assert all(one.numel() == 0 for one in (results if isinstance(results, tuple) else (results,)))


@pytest.mark.parametrize("name", [name for name, operator in operators().items() if operator.measured])
def test_b03_the_comparison_of_no_elements_gives_no_ratio(name):
    text = words(fusion(operator=name, **{size.name: "0" for size in find(name).sizes}))
    assert not re.search(r"\d×", text)
    assert "inf" not in text.split()
    assert "nan" not in text.split()


@pytest.mark.parametrize("n", [1, 10])
def test_b05_fewer_elements_than_lanes(n):
    app = page(n=str(n), BLOCK_SIZE="1024")
    text = words(app)
    counted = "1 element in blocks of 1,024 makes" if n == 1 else f"{n:,} elements in blocks of 1,024 make"
    made = f"{counted} 1 program. It uses {n:,} of its 1,024 lanes."
    assert made in text
    assert f"{1024 - n:,} of 1,024" in text
    assert "max |difference| from PyTorch 0.0" in words(launched(app))


def test_b05_the_page_says_that_1_is_compiled_in():
    assert "Triton compiles n_elements = 1 in as a constant" in captions(page(n="1", BLOCK_SIZE="1024"))
    app = compiler_page(n_elements=1)
    app.session_state["compiler.tabs.1"] = "When it compiles anew"
    text = words(checked(app.run()))
    assert "Compiled in like a constant: multiplications by it disappear. Any other value is another kernel." in text


def test_b05_1_16_and_others_are_three_kernels_and_no_more(compiler):
    sizes = (1, 16, 32, 3, 42)
    hashes = {n: figures(compiler, "sm_90", n=n, BLOCK_SIZE=1024)["hash"] for n in sizes}
    assert len(set(hashes.values())) == 3
    assert hashes[16] == hashes[32]
    assert hashes[3] == hashes[42]


@pytest.mark.parametrize("name", operators())
@pytest.mark.parametrize("value", [1, 42])
def test_b05_every_kernel_compiles_with_sizes_of_1_as_with_others(compiler, name, value):
    found = verdict(compiler, "sm_90", operator=name, **{size.name: value for size in find(name).sizes})
    assert found.launchable, found.reason


def test_b06_an_exact_fit_and_a_ragged_tail():
    text = words(page(n="1024", BLOCK_SIZE="1024"))
    assert "1,024 elements in blocks of 1,024 make 1 program. Every lane has an element." in text
    assert "0 of 1,024" in text
    text = words(page(n="98432", BLOCK_SIZE="1024"))
    assert "98,432 elements in blocks of 1,024 make 97 programs. Program 96 uses 128 of its 1,024 lanes." in text
    last = traced("vector_add", "--n-elements", "98432", "--block-size", "1024", "--program", "96")
    assert last["programs"] == 97
    assert [sum(access["mask"]) for access in last["accesses"]] == [128, 128, 128]


def test_b06_a_grid_rounded_down_leaves_elements_out_and_every_figure_is_of_that_grid():
    text = words(page(n="100", BLOCK_SIZE="64", what_if="floor_grid"))
    assert "36 elements, from 64 on, are never written" in text
    assert "grid(1,)" in text.replace(" ", "")
    assert "make 2 programs" not in text
    assert "0 of 64" in text
    assert "28 of 128" not in text


def test_b06_a_grid_rounded_down_to_nothing_writes_nothing_and_says_so():
    text = words(page(n="10", BLOCK_SIZE="1024", what_if="floor_grid"))
    assert re.search(r"10 elements[^.]* never written", text)
    assert "make 1 program" not in text


def test_b07_past_2_31_the_program_both_values_the_memory_and_a_refusal():
    n = 3_221_225_472
    app = page(n=str(n), dtype="float16", BLOCK_SIZE="1024")
    app.session_state["launch.tabs"] = "Past int32"
    text = words(checked(app.run())).replace("**", "")
    assert "program 2,097,152 would be the first to go wrong" in text
    assert "2,147,483,648" in text
    assert "-2,147,483,648" in text.replace("−", "-")
    assert "19.3 GB" in text
    assert go(app).disabled
    settings, _ = corrected({"n": str(n), "dtype": "float16"})
    assert settings.request.launch().constants["OFFSET_TYPE"] == "int64"


def test_b07_the_what_if_reads_outside_of_memory_and_says_where():
    app = page(n="3221225472", dtype="float16", BLOCK_SIZE="1024", what_if="int32", program="2097152")
    text = words(app).replace("−", "-")
    assert "Program 2,097,152 reads 1,024 elements before the start of x, from element -2,147,483,648 on." in text
    assert "Program 2,097,152 writes 1,024 elements before the start of output" in text


LONG_Y = {"operator": "matmul_relu", "m": "16", "k": "16", "n": str(65536 * 16), "BLOCK_M": "16", "BLOCK_K": "16"}


def test_b09_a_grid_too_long_along_y_is_refused_before_the_launch(compiler):
    app = page(**LONG_Y, BLOCK_N="16")
    said = "takes 65,535 programs along y, and the grid has 65,536; the axis x takes more"
    assert said in words(app)
    assert go(app).disabled
    for target in TARGETS:
        found = verdict(compiler, target, **LONG_Y, BLOCK_N=16)
        assert (found.launchable, found.who) == (False, "hardware")
        assert said in found.reason


def test_b09_half_as_many_programs_are_accepted(compiler):
    assert all(verdict(compiler, target, **LONG_Y, BLOCK_N=32).launchable for target in TARGETS)
    assert "programs along y" not in words(page(**LONG_Y, BLOCK_N="32"))


def test_b11_a_size_is_a_whole_number_wherever_it_comes_from():
    app = page(n="16777217.0", BLOCK_SIZE="1024")
    request = app.session_state["launch.settings"].request
    value = request.launch().arguments["n_elements"]
    assert (value, type(value)) == (16_777_217, int)
    assert type(field(app, "number_input", "n_elements").value) is int
    assert "2.5 is not a whole number" in words(page(n="2.5"))
    done = command("trace", "vector_add", "--n-elements", "2.5")
    assert (done.returncode, done.stdout) == (2, "")
    assert "n_elements: 2.5 is not a whole number" in done.stderr
    assert "the nearest is 2" in done.stderr


def test_b11_the_element_that_a_float_would_lose_is_computed():
    last = traced("vector_add", "--n-elements", "16777217", "--block-size", "1024", "--program", "16384")
    assert last["programs"] == 16385
    store = last["accesses"][-1]
    assert sum(store["mask"]) == 1
    assert store["offsets"][0] == 16_777_216
    assert isinstance(store["values"][0], float)
