"""Numerics of RMSNorm: N01 to N09."""

from __future__ import annotations

import math
import re

import pytest
import torch
from torch.testing import assert_close

from kernels import Numbers, Problem, Tiling, find
from kernels.measure import ways
from kernels.rms_norm import library, pytorch, rms_norm
from kernels.rms_norm_backward import rms_norm_backward
from kernels.runtime.request import Request

from ..test_compiler_page import page as compiler_page
from ..test_fusion_page import fusion
from ..test_pages import field, launched, page, words
from .reach import captions, command, verdict

BOTH = ("rms_norm", "rms_norm_backward")


def test_n01_squares_that_float16_cannot_hold_are_right_in_the_fused_kernel_alone():
    x, weight = torch.full((1, 64), 300.0, dtype=torch.float16), torch.ones(64, dtype=torch.float16)
    assert rms_norm(x, weight, 1e-6).tolist() == [[1.0] * 64]
    assert rms_norm(x, weight, 1e-6, Tiling(Numbers(BLOCK_SIZE=16))).tolist() == [[1.0] * 64]
    assert pytorch(x, weight, 1e-6).tolist() == [[0.0] * 64]


@pytest.mark.parametrize("name", BOTH)
def test_n01_the_page_says_where_a_square_overflows(name):
    text = words(page(operator=name, dtype="float16"))
    assert "float16 ends at 65,504: unfused, the square of 256 is infinite and its row comes out as 0." in text
    assert "The kernel squares in float32." in text
    assert "unfused, the square" not in words(page(operator=name, dtype="float32"))
    assert "unfused, the square" not in words(page(operator=name, dtype="bfloat16"))


def test_n01_the_comparison_page_says_it_too():
    assert "the square of 256 is infinite" in words(fusion(operator="rms_norm", dtype="float16"))


def test_n03_eps_is_inside_the_root():
    x, weight = torch.full((1, 64), 1e-3), torch.ones(64)
    mean = 1e-6
    inside, outside, after = (
        1e-3 / math.sqrt(mean + 1e-6),
        1e-3 / (math.sqrt(mean) + 1e-6),
        1e-3 * (1 / math.sqrt(mean) + 1e-6),
    )
    assert [round(one, 4) for one in (inside, outside, after)] == [0.7071, 0.9990, 1.0000]
    for tiling in (None, Tiling(Numbers(BLOCK_SIZE=16))):
        assert_close(rms_norm(x, weight, 1e-6, tiling), torch.full((1, 64), inside), rtol=1e-6, atol=0)
    assert_close(pytorch(x, weight, 1e-6), torch.full((1, 64), inside), rtol=1e-6, atol=0)


def test_n03_the_formula_is_on_the_page_beside_eps():
    app = page(operator="rms_norm", eps="0.001")
    assert "output = x * rsqrt(mean(x^2) + eps) * weight" in captions(app)
    assert field(app, "text_input", "eps").value == "0.001"
    assert "within tolerance" in words(launched(app))


def test_n04_a_row_of_zeros():
    zeros, weight = torch.zeros(1, 4), torch.ones(4)
    for tiling in (None, Tiling(Numbers(BLOCK_SIZE=2))):
        assert rms_norm(zeros, weight, 0.0, tiling).isnan().all()
        assert rms_norm(zeros, weight, 1e-6, tiling).tolist() == [[0.0] * 4]
    half = torch.zeros(1, 4, dtype=torch.float16)
    assert rms_norm(half, weight.half(), 1e-8).tolist() == [[0.0] * 4], "computed in float32"
    assert pytorch(half, weight.half(), 1e-8).isnan().all(), "in float16 throughout"


@pytest.mark.parametrize("name", BOTH)
def test_n04_the_page_says_where_eps_rounds_to_0(name):
    assert "eps = 1e-08 rounds to 0 in float16" in words(page(operator=name, dtype="float16", eps="1e-8"))
    assert "rounds to 0" not in words(page(operator=name, dtype="float16"))
    assert "rounds to 0" not in words(page(operator=name, dtype="float32", eps="1e-8"))
    assert "eps = 0: a row of zeros gives NaN" in words(page(operator=name, eps="0"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("-1", "eps: -1 is not a number from 0 to 1; 0 is used."),
        ("nan", "eps: 'nan' is not a number from 0 to 1; 1e-06 is used."),
        ("inf", "eps: 'inf' is not a number from 0 to 1; 1e-06 is used."),
        ("2", "eps: 2 is not a number from 0 to 1; 1 is used."),
        ("abc", "eps: 'abc' is not a number from 0 to 1; 1e-06 is used."),
    ],
)
def test_n04_an_eps_that_is_none_is_corrected_and_said(text, said):
    for name in BOTH:
        assert said in words(page(operator=name, eps=text))
    done = command("trace", "rms_norm", "--eps", text)
    assert done.returncode == 2
    assert said.split(";")[0] in done.stderr


def test_n05_a_weight_kept_less_1_must_be_added_to_in_float32():
    x = torch.full((1, 4), 1.5, dtype=torch.bfloat16)
    kept = torch.full((4,), 0.00390625, dtype=torch.bfloat16)
    scale = (1.5**2 + 1e-6) ** 0.5
    exact = 1.5 / scale * 1.00390625
    right = rms_norm(x, kept.float() + 1)
    assert right.dtype == torch.float32
    assert_close(right, torch.full((1, 4), exact), rtol=1e-6, atol=0)
    assert rms_norm(x, kept + 1).tolist() == [[1.0] * 4], "1 + 0.0039 is 1 in bfloat16"


def test_n05_the_place_of_the_rounding_is_named():
    text = words(page(operator="rms_norm", dtype="bfloat16"))
    assert "A weight that is kept less 1 (Gemma) must get its 1 in float32: in bfloat16 1 + 0.00390625 is 1." in text
    assert "kept less 1" not in words(page(operator="rms_norm", dtype="float32"))


def test_n07_eps_is_always_explicit():
    said = "eps is None: a number is needed, 1e-06 for one."
    with pytest.raises(TypeError, match=said):
        rms_norm(torch.ones(2, 4), torch.ones(4), eps=None)
    with pytest.raises(TypeError, match=said):
        rms_norm_backward(torch.ones(2, 4), torch.ones(2, 4), torch.ones(4), eps=None)


def test_n07_what_eps_none_means_to_this_torch_is_shown_by_an_explicit_one():
    torch.manual_seed(42)
    x = (torch.randn(2, 4, 1, 32) * 0.058).to(torch.bfloat16)
    ours = {eps: rms_norm(x, torch.ones(32, dtype=torch.bfloat16), eps) for eps in (2.0**-23, 2.0**-7)}
    ratio = float(ours[2.0**-23].norm() / ours[2.0**-7].norm())
    assert ratio > 1.5, "the two that releases of torch take for None"
    theirs = torch.nn.RMSNorm(32, elementwise_affine=False, dtype=torch.bfloat16)(x)
    assert any(float((one.float() - theirs.float()).abs().max()) < 0.05 for one in ours.values())
    assert_close(library(x, torch.ones(32, dtype=torch.bfloat16), 2.0**-7), ours[2.0**-7], rtol=2**-6, atol=0.01)


def test_n07_the_torch_that_compared_is_printed_beside_the_result():
    text = words(launched(page(operator="rms_norm")))
    assert f"torch {torch.__version__}" in text
    assert field(page(operator="rms_norm"), "text_input", "eps").value == "1e-06"


@pytest.mark.parametrize(
    "columns", [65536, 65537, 102400, *(pytest.param(columns, marks=pytest.mark.slow) for columns in (1048576, 1048577))]
)
def test_n08_very_long_rows_are_right(columns):
    torch.manual_seed(0)
    x, weight = torch.randn(2, columns), torch.rand(columns) + 0.5
    exact = x.double() * torch.rsqrt(x.double().pow(2).mean(-1, keepdim=True) + 1e-6) * weight.double()
    assert float((rms_norm(x, weight).double() - exact).abs().max()) < 5e-6


def test_n08_the_page_has_a_limit_in_words_and_a_block_has_one(compiler):
    assert "columns: 1048577 is not a whole number from 0 to 1,048,576; 1,048,576 is used." in words(
        page(operator="rms_norm", rows="2", columns="1048577")
    )
    found = verdict(compiler, "sm_90", operator="rms_norm", rows=2, columns=1048576, BLOCK_SIZE=2097152)
    assert not found.launchable
    assert "numel (2097152) exceeds triton maximum tensor numel (1048576)" in found.reason


def test_n08_a_long_row_in_one_block_spills_and_that_is_said():
    text = words(compiler_page(operator="rms_norm", rows=2, columns=65536, BLOCK_SIZE=65536, num_warps=16))
    assert "find no register and go to memory and back" in text


def test_n09_the_unfused_version_is_six_launches_and_their_bytes_are_counted(counting):
    sizes = Problem(Numbers(rows=4096, columns=4096))
    operator = find("rms_norm")
    traffic = ways.traffic(Request("rms_norm", sizes, operator.tiling(sizes)), "forward")
    assert len(traffic.unfused) == 6
    matrix = 4096 * 4096 * 4
    assert round(sum(step.moved for step in traffic.unfused) / 1e6) == 470
    assert sum(step.moved for step in traffic.fused) == 2 * matrix + 4096 * 4
    x, weight = torch.ones(4, 8), torch.ones(8)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        pytorch(x, weight)
    outermost = [event.name for event in profile.events() if event.name.startswith("aten::") and event.cpu_parent is None]
    assert outermost == ["aten::pow", "aten::mean", "aten::add", "aten::rsqrt", "aten::mul", "aten::mul"]


def test_n09_the_page_says_bytes_ratio_and_each_launch():
    text = words(fusion(operator="rms_norm", rows="4096", columns="4096"))
    assert "134 MB instead of 470 MB" in text
    assert re.search(r"predicted from bytes ?3\.5×", text)


def test_n09_the_count_of_the_kernels_own_accesses_stands_behind_the_formula():
    app = fusion(operator="rms_norm", rows="4096", columns="4096")
    assert re.search(r"equal to the kernel’s own accesses on 3 × 4,096 ?counted", words(app))
