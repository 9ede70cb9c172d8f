"""The wrappers on torch tensors, in Triton's interpreter: what PyTorch takes, refused or treated as PyTorch treats it."""

from __future__ import annotations

import math

import pytest
import torch
from torch.testing import assert_close

from kernels import DTYPES, Numbers, Problem, Tiling, operators
from kernels.arguments import adjustments
from kernels.elementwise_chain import chain
from kernels.matmul_relu import matmul_relu
from kernels.rms_norm import rms_norm
from kernels.rms_norm_backward import rms_norm_backward
from kernels.runtime.compare import distance
from kernels.runtime.interpreter import repair
from kernels.runtime.launch import launch_once
from kernels.runtime.request import LAYOUTS, Request, possible_layouts
from kernels.softmax import softmax
from kernels.vector_add import add

from .kinds import kind_of

repair()
EVERY = pytest.mark.parametrize("operator", operators().values(), ids=list(operators()))
NAN, INF = math.nan, math.inf

# Ragged, one element, exact fit, empty: by family, sizes and blocks.
SHAPES = {
    "flat": [((0,), (8,)), ((1,), (8,)), ((7,), (4,)), ((64,), (16,)), ((1000,), (128,))],
    "rows": [
        ((0, 5), (8,)),
        ((3, 0), (8,)),
        ((1, 1), (4,)),
        ((6, 5), (8,)),
        ((4, 16), (16,)),
        ((3, 50), (16,)),
        ((7, 33), (8,)),
    ],
    "tiles": [
        ((0, 4, 4), (4, 4, 4)),
        ((4, 4, 0), (4, 4, 4)),
        ((1, 1, 1), (16, 16, 16)),
        ((33, 17, 5), (16, 16, 16)),
        ((1, 128, 1), (16, 16, 16)),
        ((3, 7, 64), (16, 16, 16)),
        ((32, 32, 32), (16, 16, 16)),
    ],
}


def request(operator, sizes, blocks, dtype="float32", **more) -> Request:
    extra = {"PROGRAMS": 3, "GROUP_M": more.pop("group", 0)}
    names = [block.name for block in operator.blocks]
    tiling = Numbers({**dict(zip(names, blocks, strict=False)), **{name: extra[name] for name in names if name in extra}})
    problem = Problem(Numbers(dict(zip([size.name for size in operator.sizes], sizes, strict=True))), dtype)
    return Request(operator.name, problem, Tiling(tiling), **more)


@EVERY
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_launch_agrees_with_float64_for_every_shape(operator, dtype):
    for sizes, blocks in SHAPES[kind_of(operator)]:
        result = launch_once(request(operator, sizes, blocks, dtype), "cpu")
        assert result.within, (sizes, result.differences)
        assert result.engine == "interpreter"


@EVERY
@pytest.mark.parametrize("layout", LAYOUTS)
def test_views_are_copied_and_said(operator, layout):
    if layout not in possible_layouts(operator):
        pytest.skip("a vector has no transpose")
    sizes, blocks = SHAPES[kind_of(operator)][3]
    result = launch_once(request(operator, sizes, blocks, layout=layout), "cpu")
    assert result.within
    assert bool(result.notes) == (layout != "contiguous")
    assert all("copied first" in note for note in result.notes)


@pytest.mark.slow
def test_grouped_and_two_dimensional_orders_give_the_same_matrix():
    operator = operators()["matmul_relu"]
    texts = {
        launch_once(request(operator, (50, 70, 20), (16, 16, 16), group=group), "cpu").printed["c"] for group in (0, 1, 2, 9)
    }
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: add(torch.ones(10), torch.ones(16)), r"x has \(10,\), y has \(16,\)"),
        (lambda: add(torch.ones(4), torch.ones(4, device="meta")), "x is on cpu, y is on meta"),
        (lambda: add(torch.ones(4, dtype=torch.int64), torch.ones(4, dtype=torch.int64)), "torch.int64 is not computed here"),
        (lambda: chain(torch.ones(4), torch.ones(4), torch.ones(2, 2)), r"z has \(2, 2\)"),
        (lambda: rms_norm(torch.ones(2, 4), torch.ones(5)), r"weight has \(5,\) and a row of x has \(4,\)"),
        (lambda: matmul_relu(torch.ones(2, 3), torch.ones(4, 2)), r"\(2, 3\) and b has \(4, 2\)"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_shapes(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_mixed_dtypes_are_promoted_as_pytorch_promotes_and_said():
    x, y = torch.arange(100, dtype=torch.float16), torch.ones(100)
    assert_close(add(x, y), x + y, rtol=0, atol=0)
    assert adjustments({"x": x, "y": y}) == [
        "x is float16: converted to float32 first, as PyTorch promotes, 200 B to read and 400 B to write."
    ]
    integers = torch.arange(5, dtype=torch.int32)
    assert_close(add(integers, torch.ones(5)), integers + torch.ones(5))


def test_nan_and_infinities_are_pytorchs():
    special = torch.tensor([NAN, -1.0, 2.0, -INF, INF, 0.0])
    one, zero = torch.ones(6), torch.zeros(6)
    assert_close(chain(special, zero, one), torch.relu(special), equal_nan=True)
    assert_close(add(special, -special), special - special, equal_nan=True)
    eye = torch.eye(6)
    expected = torch.relu(special.diag().nan_to_num(0.0) @ eye)
    assert_close(matmul_relu(special.diag().nan_to_num(0.0), eye), expected)
    assert matmul_relu(torch.tensor([[NAN, 1.0]]), torch.ones(2, 1)).isnan().all()
    for row in ([1.0, NAN, 2.0], [-INF] * 3, [INF, 1.0, 2.0], [1000.0, 1001.0, 1004.0], [-1e30] * 3):
        x = torch.tensor([row])
        assert_close(softmax(x), torch.softmax(x, -1), equal_nan=True)
        assert_close(softmax(x, Tiling(Numbers(BLOCK_SIZE=2))), torch.softmax(x, -1), equal_nan=True)
    x = torch.tensor([[INF, 1.0], [NAN, 1.0], [0.0, 0.0]])
    ours, theirs = rms_norm(x, torch.ones(2)), x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    assert_close(ours, theirs, equal_nan=True)


def test_a_row_that_starts_with_minus_infinity_keeps_its_finite_end():
    """An online maximum would lose the sum here."""
    x = torch.tensor([[-INF, -INF, 1.0, 2.0]])
    assert_close(softmax(x, Tiling(Numbers(BLOCK_SIZE=2))), torch.softmax(x, -1))


def test_squares_past_float16_do_not_overflow():
    x = torch.full((1, 64), 300.0, dtype=torch.float16)
    assert_close(rms_norm(x, torch.ones(64, dtype=torch.float16)), torch.ones_like(x))


@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 5), (1, 1, 1, 7), (0, 4), (2, 0, 3)])
def test_rows_of_any_rank(shape):
    x = torch.randn(shape)
    assert_close(softmax(x), torch.softmax(x, -1))
    if shape:
        weight = torch.rand(shape[-1])
        assert_close(rms_norm(x, weight), torch.nn.functional.rms_norm(x, shape[-1:], weight, eps=1e-6))


def test_autograd_agrees_with_pytorch_for_any_rank():
    x = torch.randn(2, 3, 11, requires_grad=True)
    weight = torch.rand(11, requires_grad=True)
    grad = torch.randn(2, 3, 11)
    ours = torch.autograd.grad(rms_norm(x, weight), (x, weight), grad)
    theirs = torch.autograd.grad(torch.nn.functional.rms_norm(x, (11,), weight, eps=1e-6), (x, weight), grad)
    for mine, their in zip(ours, theirs, strict=True):
        assert_close(mine, their, rtol=1e-4, atol=1e-5)


def test_the_backward_pass_leaves_its_input_alone_and_repeats_to_the_bit():
    x, weight, grad = torch.zeros(1, 4), torch.ones(4), -torch.ones(1, 4)
    before = grad.clone()
    runs = [rms_norm_backward(grad, x, weight, eps=1e-5) for _ in range(3)]
    assert torch.equal(grad, before)
    for grad_x, grad_weight in runs:
        assert_close(grad_x, torch.full((1, 4), -316.2278))
        assert torch.equal(grad_weight, torch.zeros(4))
        assert torch.equal(grad_x, runs[0][0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["softmax", "rms_norm", "rms_norm_backward"])
def test_rows_of_a_million_columns(name):
    operator = operators()[name]
    problem = Problem(Numbers(rows=1, columns=2**20), "float32")
    result = launch_once(Request(name, problem, operator.tiling(problem)), "cpu")
    assert result.within, result.differences


def test_distance_of_special_values():
    ours, theirs = torch.tensor([NAN, INF, INF, NAN, 1.0]), torch.tensor([NAN, INF, -INF, 0.0, 1.5])
    assert distance(ours, theirs).tolist() == [0.0, 0.0, INF, INF, 0.5]


def test_a_wrong_result_is_found(monkeypatch):
    """The check can fail: a wrapper that is off by one unit in one element of one output."""
    operator = operators()["vector_add"]
    right = operator.wrapper

    def wrong(**arguments):
        output = right(**arguments)
        output[3] += 1e-3
        return output

    object.__setattr__(operator, "wrapper", wrong)
    try:
        result = launch_once(request(operator, (7,), (4,)), "cpu")
    finally:
        object.__setattr__(operator, "wrapper", right)
    assert not result.within
    assert result.differences[0].index == 3


def test_a_launch_that_does_not_fit_says_how_much_would():
    operator = operators()["vector_add"]
    with pytest.raises(MemoryError, match=r"The tensors need 13,194\.1 GB"):
        launch_once(request(operator, (2**40,), (1024,)), "cpu")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vector_add", "softmax", "rms_norm", "rms_norm_backward"])
def test_a_comparison_in_slices_is_the_comparison_at_once(name, monkeypatch):
    """Long outputs are compared in slices, so that float64 does not fill the memory."""
    operator = operators()[name]
    blocks = {"vector_add": (128,), "rms_norm_backward": (16, 4)}.get(name, (16,))
    one = request(operator, (1000,) if name == "vector_add" else (100, 10), blocks)
    whole = launch_once(one, "cpu").differences
    monkeypatch.setattr("kernels.runtime.compare.CHUNK", 70)
    for ours, theirs in zip(launch_once(one, "cpu").differences, whole, strict=True):
        assert (ours.output, ours.index) == (theirs.output, theirs.index)
        assert ours.share == pytest.approx(theirs.share, rel=1e-6)  # a sum over rows adds up in another order
        assert ours.from_float64 == pytest.approx(theirs.from_float64, rel=1e-6)
