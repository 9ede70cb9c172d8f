"""Masks, reductions and special values: M01 to M05."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from kernels import Numbers, Problem, Tiling, find, operators
from kernels.elementwise_chain import chain
from kernels.language import tl, triton
from kernels.launch import Filling, Launch, Tensor
from kernels.matmul_relu import matmul_relu
from kernels.runtime.compare import differences
from kernels.runtime.masked import unfilled
from kernels.runtime.request import Request
from kernels.runtime.trace import trace
from kernels.softmax import softmax

from ..test_pages import checked, field, page, words
from .reach import captions, traced

NAN, INF = math.nan, math.inf


@triton.jit
def careless_maximum(x_ptr, output_ptr, n_columns, BLOCK_SIZE: tl.constexpr):
    columns = tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + columns, mask=columns < n_columns)
    tl.store(output_ptr, tl.max(x, axis=0))


@triton.jit
def careful_maximum(x_ptr, output_ptr, n_columns, BLOCK_SIZE: tl.constexpr):
    columns = tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + columns, mask=columns < n_columns, other=-float("inf")).to(tl.float32)
    tl.store(output_ptr, tl.max(x, axis=0))


@triton.jit
def relu_of_masked(x_ptr, output_ptr, n_columns, BLOCK_SIZE: tl.constexpr):
    columns = tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + columns, mask=columns < n_columns)
    tl.store(output_ptr + columns, tl.maximum(x, 0.0))


def maximum_of(kernel) -> Launch:
    """A row of five times -5 in a block of 8."""
    row = Tensor((5,), "float32", Filling(0, mean=-5.0, scale=0.0))
    return Launch(kernel, (1, 1, 1), {"x_ptr": row, "output_ptr": Tensor((8,), "float32"), "n_columns": 5}, {"BLOCK_SIZE": 8})


def test_m01_masked_lanes_without_other_are_undefined_and_so_is_their_maximum():
    load, store = trace(maximum_of(careless_maximum), [(0, 0, 0)]).accesses
    assert load.defined.tolist() == [True] * 5 + [False] * 3
    assert not store.defined.all(), "0 would be wrong, and -5 would be luck"
    (store,) = [one for one in trace(maximum_of(relu_of_masked), [(0, 0, 0)]).accesses if one.kind == "store"]
    assert store.defined.tolist() == [True] * 5 + [False] * 3, "the larger of 0 and an unknown number is not known"
    load, store = trace(maximum_of(careful_maximum), [(0, 0, 0)]).accesses
    assert float(store.values.flat[0]) == -5.0
    assert load.values[5:].tolist() == [-INF] * 3


def test_m01_the_kernel_that_forgets_other_is_told_which_value_a_maximum_needs():
    (said,) = unfilled(careless_maximum)
    assert "tl.max" in said
    assert "other=-float('inf')" in said
    assert unfilled(careful_maximum) == ()


def test_m01_no_operators_maximum_or_sum_takes_in_masked_lanes():
    for operator in operators().values():
        problem = Problem(Numbers({size.name: size.default for size in operator.sizes}))
        assert unfilled(operator.plan(problem, operator.tiling(problem)).kernel) == ()
    assert_close(softmax(torch.full((1, 5), -5.0), Tiling(Numbers(BLOCK_SIZE=8))), torch.full((1, 5), 0.2))


def test_m01_the_command_line_and_the_page_show_them_as_undefined():
    last = traced("vector_add", "--n-elements", "7", "--block-size", "4", "--program", "1")
    assert [access["values"][3] for access in last["accesses"]] == [None] * 3
    app = page(n="7", BLOCK_SIZE="4")
    assert "? = undefined" in words(app)


def test_m01_another_value_for_masked_lanes_is_told_against_what_the_reduction_needs():
    app = page(operator="softmax", rows="2", columns="5", BLOCK_SIZE="8", what_if="other", other="100.0")
    text = words(app)
    assert "change by up to" in text
    assert "tl.max takes in the masked lanes of x: minus infinity changes nothing there, and 100 may." in text
    app = page(operator="rms_norm", rows="2", columns="5", BLOCK_SIZE="8", what_if="other", other="100.0")
    assert "tl.sum takes in the masked lanes of x: 0 changes nothing there, and 100 may." in words(app)
    app = page(operator="vector_add", n="7", BLOCK_SIZE="4", what_if="other", other="100.0")
    assert "No stored value changes" in words(app)
    assert "takes in" not in words(app)
    field(app, "number_input", "other").set_value(3.0)
    assert "takes in" not in words(checked(app.run())) + captions(app)


def test_m03_a_row_without_a_finite_entry_is_nan_as_pytorch_has_it():
    x = torch.tensor([[-INF] * 5, [1000.0, 1001, 1002, 1003, 1004], [-1e30] * 5])
    for tiling in (None, Tiling(Numbers(BLOCK_SIZE=2))):
        result = softmax(x, tiling)
        assert result[0].isnan().all()
        assert_close(result[1], torch.tensor([0.0117, 0.0317, 0.0861, 0.2341, 0.6364]), rtol=0, atol=5e-5)
        assert_close(result[2], torch.full((5,), 0.2))
        assert_close(result, torch.softmax(x, -1), equal_nan=True)


def softmax_request(rows: int, columns: int) -> Request:
    problem = Problem(Numbers(rows=rows, columns=columns))
    return Request("softmax", problem, find("softmax").tiling(problem))


def test_m03_the_comparison_takes_nan_for_nan():
    x = torch.tensor([[-INF] * 5, [1.0, 2, 3, 4, 5]])
    (found,) = differences(softmax_request(2, 5), {"x": x}, {"output": softmax(x)})
    assert (found.within, found.from_pytorch < 1e-6, found.words) == (True, True, "")


def test_m05_relu_keeps_nan():
    values = torch.tensor([NAN, -1.0, 2.0, -INF])
    one, zero = torch.ones(4), torch.zeros(4)
    wanted = torch.tensor([NAN, 0.0, 2.0, 0.0])
    assert_close(chain(values, zero, one), wanted, equal_nan=True)
    assert_close(torch.relu(values), wanted, equal_nan=True)
    assert_close(matmul_relu(values[:3, None], torch.ones(1, 1))[:, 0], wanted[:3], equal_nan=True)


@pytest.mark.parametrize("name", ["elementwise_chain", "matmul_relu"])
def test_m05_a_relu_that_makes_0_of_nan_is_not_within_and_the_reason_is_said(name):
    operator = find(name)
    if name == "matmul_relu":
        sizes, inputs = {"m": 3, "n": 1, "k": 1}, {"a": torch.tensor([[NAN], [-1.0], [2.0]]), "b": torch.ones(1, 1)}
        wrong = {"c": torch.tensor([[0.0], [0.0], [2.0]])}
    else:
        sizes = {"n_elements": 3}
        inputs = {"x": torch.tensor([NAN, -1.0, 2.0]), "y": torch.zeros(3), "z": torch.ones(3)}
        wrong = {"output": torch.tensor([0.0, 0.0, 2.0])}
    problem = Problem(Numbers(sizes))
    (found,) = differences(Request(name, problem, operator.tiling(problem)), inputs, wrong)
    assert not found.within
    assert np.isinf(found.share)
    assert found.words == "1 element is NaN in float64 and a number here"
    (right,) = differences(
        Request(name, problem, operator.tiling(problem)), inputs, dict(zip(wrong, [operator.wrapper(**inputs)], strict=True))
    )
    assert (right.within, right.words) == (True, "")
