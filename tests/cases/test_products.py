"""Matrix products: G01 to G09."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from kernels import Numbers, Problem, Tiling, find
from kernels.inside.jobs import stages_job
from kernels.matmul_relu import matmul_relu
from kernels.runtime.device import find_target
from kernels.runtime.jobs import verdict_job
from kernels.runtime.request import Request
from kernels.vector_add import add

from ..test_compiler_page import page as compiler_page
from ..test_pages import chart, launched, page, words
from .reach import command, figures, request_of, verdict

FLOAT32 = {"operator": "matmul_relu", "m": 512, "n": 512, "k": 512, "dtype": "float32"}
MATMUL = {"operator": "matmul_relu", "dtype": "float16"}


@pytest.mark.slow
def test_g01_a_float32_product_is_float32_to_the_last_bits():
    torch.manual_seed(0)
    a, b = torch.randn(512, 512), torch.randn(512, 512)
    exact = torch.relu(a.double() @ b.double())
    rounded = [(one.view(torch.int32) + 0x1000 & ~0x1FFF).view(torch.float32) for one in (a, b)]  # to TF32's 10 bits
    tf32 = torch.relu(rounded[0].double() @ rounded[1].double())
    assert float((matmul_relu(a, b).double() - exact).abs().max()) < 2e-4
    assert 0.01 < float((tf32 - exact).abs().max()) < 0.1, "what TF32 would make of it"


def test_g01_no_matrix_unit_takes_it_and_the_page_says_so(compiler):
    text = words(compiler_page(**FLOAT32))
    assert "tl.dot became ordinary multiplications and additions" in text
    assert figures(compiler, "sm_90", **FLOAT32)["matrix_instructions"] == {}


def test_g01_the_interpreters_limits_are_said_once_where_a_result_of_it_is_shown():
    app = page(operator="matmul_relu", m="32", n="32", k="32")
    assert "TF32" not in words(app)
    text = words(launched(app))
    assert text.count("TF32") == 1
    for part in ("one program after another", "no races", "num_warps"):
        assert text.count(part) == 1, part


@pytest.mark.parametrize(("target", "accepted"), [("sm_80", False), ("sm_90", False), ("gfx942", True)])
def test_g02_a_tile_too_short_along_k_is_refused_where_the_matrix_units_are(compiler, target, accepted):
    for blocks in ({"BLOCK_M": 8, "BLOCK_N": 8, "BLOCK_K": 8}, {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 8}):
        found = verdict(compiler, target, **MATMUL, m=64, n=64, k=64, **blocks)
        assert found.launchable is accepted, (blocks, found)
        if not accepted:
            assert "Input shapes should have" in found.reason
    assert verdict(compiler, target, **MATMUL, m=64, n=64, k=64, BLOCK_M=64, BLOCK_N=16, BLOCK_K=16).launchable


def test_g02_the_page_refuses_although_the_interpreter_would_run_it():
    texts = {**MATMUL, "m": "16", "n": "16", "k": "16", "BLOCK_M": "8", "BLOCK_N": "8", "BLOCK_K": "8"}
    text = words(compiler_page(**texts))
    assert "does not compile for sm_90" in text
    assert "It runs in Triton's interpreter all the same." in text
    assert "The interpreter multiplies tiles of any size with NumPy" in text
    assert "Input shapes should have" in words(page(**texts))


SIZES = [(33, 17, 5), (1, 128, 1), (100, 99, 101), (3, 7, 64)]


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n", "k"), SIZES)
@pytest.mark.parametrize("group", [0, 2])
def test_g03_ragged_sizes_are_right(m, n, k, group):
    torch.manual_seed(0)
    a, b = torch.randn(m, k), torch.randn(k, n)
    tiling = Tiling(Numbers(BLOCK_M=16, BLOCK_N=16, BLOCK_K=16, GROUP_M=group))
    assert float((matmul_relu(a, b, tiling).double() - torch.relu(a.double() @ b.double())).abs().max()) < 5e-6


def test_g03_what_lies_beside_a_slice_is_not_read():
    storage = torch.full((20, 40), math.nan)
    storage[:, :5] = torch.arange(100.0).view(20, 5)
    a, b = storage[:, :5], torch.eye(5)
    assert torch.equal(matmul_relu(a, b), storage[:, :5])


@pytest.mark.parametrize(("m", "n", "k"), SIZES)
def test_g03_the_page_draws_the_tail_tiles_and_agrees(m, n, k):
    app = page(operator="matmul_relu", m=str(m), n=str(n), k=str(k), BLOCK_M="16", BLOCK_N="16", BLOCK_K="16")
    down, across = -(-m // 16), -(-n // 16)
    assert f"{down:,} × {across:,} programs" in words(app)
    assert chart(app, "tiles")["data"]
    text = words(launched(app))
    assert "within tolerance" in text
    assert "outside" not in text


def product(block_m: int, block_n: int, block_k: int, stages: int, warps: int) -> Request:
    blocks = Numbers(BLOCK_M=block_m, BLOCK_N=block_n, BLOCK_K=block_k, GROUP_M=0)
    return Request("matmul_relu", Problem(Numbers(m=4096, n=4096, k=4096), "float16"), Tiling(blocks, warps, stages))


# Tiles of a and b in all stages, or in one less where the last is loaded while the first is used: sm_80 and gfx942 need fewer.
ROWS = [
    (product(128, 256, 64, 4, 8), {"sm_80": True, "sm_90": True, "gfx942": False}),
    (product(128, 256, 64, 3, 8), {"sm_80": True, "sm_90": True, "gfx942": False}),
    (product(256, 256, 64, 4, 8), {"sm_80": False, "sm_90": False, "gfx942": False}),
    (product(128, 128, 64, 2, 4), {"sm_80": True, "sm_90": True, "gfx942": True}),
    (product(64, 64, 32, 3, 4), {"sm_80": True, "sm_90": True, "gfx942": True}),
]
SHARED = {"sm_80": 166912, "sm_90": 232448, "gfx942": 65536}


@pytest.mark.parametrize("target", SHARED)
@pytest.mark.parametrize(("request_", "fits"), ROWS)
def test_g05_shared_memory_is_compared_with_the_targets_before_a_launch(compiler, target, request_, fits):
    stages = compiler.call(stages_job, request_, find_target(target), seconds=180)
    needed = stages.resources.shared_bytes
    assert stages.verdict.launchable is fits[target] is (needed <= SHARED[target])
    blocks = request_.tiling
    one_stage = 2 * blocks["BLOCK_K"] * (blocks["BLOCK_M"] + blocks["BLOCK_N"])
    assert needed >= one_stage * (blocks.num_stages - 1)
    if not fits[target]:
        assert f"A program needs {needed:,} bytes of shared memory" in stages.verdict.reason
        assert f"{target} gives it {SHARED[target]:,}" in stages.verdict.reason
        assert "smaller tiles or fewer stages fit" in stages.verdict.reason


def test_g05_the_page_offers_what_would_fit(compiler):
    texts = {**MATMUL, "m": 4096, "n": 4096, "k": 4096, "BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 128, "num_warps": 8}
    app = compiler_page(**texts)
    text = words(app)
    assert "sm_90 cannot run this launch" in text
    assert "bytes of shared memory, and sm_90 gives it 232,448" in text
    offered = [one for one in app.button if one.key and one.key.startswith("compiler.fit.")]
    assert offered
    assert any("num_stages" in one.label or "BLOCK" in one.label for one in offered)
    enabled = next(one for one in offered if not one.disabled)
    enabled.click().run()
    assert verdict(compiler, "sm_90", **_texts(app)).launchable


def _texts(app) -> dict[str, str]:
    from pages._compiler.state import write

    texts = write(app.session_state["compiler.settings"])
    return {name: text for name, text in texts.items() if name not in ("stage", "target")}


def test_g07_warps_that_are_no_power_of_two(compiler):
    app = page(n="5000", BLOCK_SIZE="1024", num_warps="3")
    assert "num_warps must be a power of 2. Nearest: num_warps 2 or 4." in words(app)
    assert app.button(key="launch.go").label == "Launch in the interpreter with num_warps 4"
    said = "num_warps: 0 is not a whole number from 1 to 1,024; 1 is used."
    assert said in words(page(n="5000", BLOCK_SIZE="1024", num_warps="0"))
    for warps in (0, 3):
        request = replace(request_of(n=5000), tiling=Tiling(Numbers(BLOCK_SIZE=1024), warps))
        found = compiler.call(verdict_job, request, find_target("sm_90"), seconds=180)
        assert (found.launchable, found.reason) == (False, "num_warps must be a power of 2")
        with pytest.raises(ValueError, match="num_warps"):
            add(torch.ones(5000), torch.ones(5000), request.tiling)


@pytest.mark.parametrize(("target", "warps", "size"), [("sm_90", 64, 32), ("sm_80", 64, 32), ("gfx942", 32, 64)])
def test_g07_more_threads_than_a_program_may_have(compiler, target, warps, size):
    for operator in ("vector_add", "softmax", "rms_norm", "matmul_relu"):
        found = verdict(compiler, target, operator=operator, num_warps=warps)
        assert (found.launchable, found.who) == (False, "hardware")
        assert found.reason == f"{warps} warps of {size} are 2,048 threads a program, and {target} takes 1,024."
    text = words(compiler_page(n_elements=5000, num_warps=warps, target=target))
    assert f"{target} cannot run this launch: {warps} warps of {size} are 2,048 threads" in text
    assert "num_warps changes nothing there" in text


def test_g07_the_launch_page_refuses_it_without_a_gpu_too():
    app = page(n="5000", BLOCK_SIZE="1024", num_warps="64")
    assert "64 warps of 32 are 2,048 threads" in words(app)
    assert app.button(key="launch.go").label == "Launch in the interpreter with num_warps 32"


def test_g07_the_command_line_tells_the_threads():
    done = command("compile", "vector_add", "--num-warps", "32", "--target", "gfx942")
    assert "32 warps of 64 are 2,048 threads" in done.stdout


@pytest.mark.parametrize(
    "texts",
    [  # as long along what is summed up as they were reported; the whole of them is launched on a GPU
        {"operator": "matmul_relu", "m": "127", "n": "127", "k": "511", "dtype": "float16"},
        {"operator": "softmax", "rows": "183", "columns": "781", "dtype": "float16"},
    ],
)
def test_g09_a_rounding_is_not_called_wrong(texts):
    text = words(launched(page(**texts)))
    assert "max |difference| from PyTorch" in text
    assert "✓ within tolerance (" in text
    assert "% of it)" in text
    assert "✗" not in text


def test_g09_the_tolerance_is_two_roundings_of_the_dtype():
    request = request_of(operator="softmax", dtype="float16")
    tolerance = find("softmax").tolerance(request.problem)
    assert tolerance.relative == 2 * 2.0**-10
    assert find("softmax").tolerance(replace(request.problem, dtype="float32")).relative == 2 * 2.0**-23
