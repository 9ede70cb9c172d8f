"""The operators' functions as PyTorch code calls them: what they refuse, and their gradients; here and on a GPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings, strategies
from torch.autograd import forward_ad

from kernels import DTYPES, Numbers, Problem, Tiling, operators
from kernels.language import MISSING
from kernels.matmul_relu import matmul_relu
from kernels.operator import cdiv
from kernels.rms_norm_backward import rms_norm_backward
from kernels.runtime.device import attached
from kernels.runtime.interpreter import repair
from kernels.runtime.source import source_of
from kernels.runtime.workers import Workers

from . import on_functions as on
from .examples import problems

repair()
GPUS = () if MISSING else attached()
EVERY = pytest.mark.parametrize("operator", operators().values(), ids=list(operators()))
ON_A_GPU = (pytest.mark.gpu, pytest.mark.skipif(not GPUS, reason="no GPU that Triton can launch on is attached"))
PLACES = pytest.mark.parametrize("place", ["interpreter", pytest.param("gpu", marks=ON_A_GPU)])
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def workers():
    found = Workers()
    yield found
    found.close()


@pytest.fixture
def call(place, workers):
    """Calls a function of tests/on_functions.py: here, in the interpreter, or in the worker that has the GPU."""
    if place == "interpreter":
        return lambda function, *arguments: function(*arguments, "cpu")
    return lambda function, *arguments: workers[GPUS[0].worker].call(function, *arguments, "cuda", seconds=300)


@EVERY
@PLACES
@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_are_those_of_differences_in_float64(call, operator, dtype):
    assert call(on.gradients, operator.name, dtype) == []


@EVERY
@PLACES
@pytest.mark.parametrize("check", [on.second_order, on.laid_out, on.shared], ids=lambda check: check.__name__)
def test_gradients_of_gradients_of_views_and_of_shared_inputs(call, operator, check):
    assert call(check, operator.name) == []


@EVERY
@PLACES
@pytest.mark.parametrize("check", [on.refused, on.integers, on.plain, on.tilings], ids=lambda check: check.__name__)
def test_what_does_not_fit_is_refused_in_a_sentence(call, operator, check):
    assert call(check, operator.name) == []


@EVERY
def test_without_gradients_nothing_is_recorded(operator):
    inputs = on.leaves(on.example(operator, "cpu"))
    with torch.no_grad():
        outputs = on.results(operator.wrapper(**inputs))
    assert not any(output.requires_grad for output in outputs)
    with torch.inference_mode():
        assert all(output.is_inference() for output in on.results(operator.wrapper(**inputs)))
    assert all(output.grad_fn is None for output in on.results(operator.wrapper(**on.example(operator, "cpu"))))


@EVERY
def test_a_saved_tensor_that_is_written_to_is_noticed(operator):
    inputs = {name: tensor * 1 for name, tensor in on.leaves(on.example(operator, "cpu")).items()}
    total = on.loss(operator.wrapper, inputs)
    next(iter(inputs.values())).add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        total.backward()


@EVERY
def test_hooks_on_saved_tensors_change_nothing(operator):
    inputs = on.example(operator, "cpu")
    plain, hooked = on.leaves(inputs), on.leaves(inputs)
    on.loss(operator.wrapper, plain).backward()
    with torch.autograd.graph.save_on_cpu():
        on.loss(operator.wrapper, hooked).backward()
    assert all(torch.equal(plain[name].grad, hooked[name].grad) for name in inputs)


@EVERY
def test_forward_mode_and_functional_transforms_are_refused_in_a_sentence(operator):
    inputs = on.example(operator, "cpu")
    name, first = next(iter(inputs.items()))

    def total(tensor):
        return on.results(operator.wrapper(**{**inputs, name: tensor}))[0].sum()

    for transform in (
        lambda: torch.func.grad(total)(first),
        lambda: torch.func.vmap(total)(first[None]),
        lambda: torch.func.jvp(total, (first,), (first,)),
    ):
        with pytest.raises(ValueError, match=f"^{name} has no memory of its own"):
            transform()
    with forward_ad.dual_level(), pytest.raises(ValueError, match=f"^{name} carries a tangent"):
        total(forward_ad.make_dual(first, first))


@EVERY
def test_options_that_are_no_number_are_refused(operator):
    inputs = on.example(operator, "cpu")
    for option in on.options(operator):
        right = on.results(operator.wrapper(**inputs, **{option: 1e-5}))
        for value in (np.float32(1e-5), np.float64(1e-5)):
            for ours, theirs in zip(on.results(operator.wrapper(**inputs, **{option: value})), right, strict=True):
                torch.testing.assert_close(ours, theirs)
        operator.wrapper(**inputs, **{option: 0})
        for value in (None, "1e-6", [1e-6], torch.tensor(1e-6), True):
            with pytest.raises(TypeError, match=f"^{option} is .*: a number is needed"):
                operator.wrapper(**inputs, **{option: value})
        for value in (-1e-9, -1, float("nan"), float("inf"), -float("inf"), 1e39, 10**5000):
            with pytest.raises(ValueError, match=rf"^{option} is .*; the nearest is [\d.e+-]+\.$"):
                operator.wrapper(**inputs, **{option: value})


@EVERY
def test_blocks_that_are_missing_unknown_or_no_whole_number_are_refused(operator):
    inputs, right = on.example(operator, "cpu"), on.small(operator)
    names = [block.name for block in operator.blocks]
    for blocks in ({}, {**right.blocks, "BLOCK_Q": 4}, dict.fromkeys(names[1:], 16)):
        with pytest.raises(ValueError, match=f"^tiling has .*: {' and '.join(names)} (is|are) needed"):
            operator.wrapper(**inputs, tiling=Tiling(Numbers(blocks)))
    for field in (*names, "num_warps", "num_stages"):
        for value in (16.0, "16", None):
            with pytest.raises(ValueError, match=f"^{field}: .* is not a whole number"):
                operator.wrapper(**inputs, tiling=on.with_value(right, field, value))
    for tiling in (64, {"BLOCK_SIZE": 64}, "rule"):
        with pytest.raises(TypeError, match=r"^tiling is .*: a Tiling is needed, Tiling\(blocks=Numbers\("):
            operator.wrapper(**inputs, tiling=tiling)


@EVERY
def test_whole_numbers_of_numpy_are_taken(operator):
    inputs, right = on.example(operator, "cpu"), on.small(operator)
    numpys = Tiling(Numbers({name: np.int64(value) for name, value in right.blocks.items()}), np.int32(4), np.uint8(3))
    ours, theirs = (on.results(operator.wrapper(**inputs, tiling=tiling)) for tiling in (numpys, right))
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


def right_or_refused(operator, inputs, tiling) -> str | None:
    """The refusal; None where the results are PyTorch's. Fresh memory is NaN meanwhile, so that what is not written shows."""
    torch.use_deterministic_algorithms(True)
    try:
        ours = on.results(operator.wrapper(**inputs, tiling=tiling))
    except ValueError as error:
        return str(error)
    finally:
        torch.use_deterministic_algorithms(False)
    if not any(output.numel() for output in ours):
        return None  # PyTorch's version need not know rows without columns: the maximum of none is an error
    theirs = on.results(operator.pytorch(**on.exact(inputs)))
    for mine, exact in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.double(), exact, rtol=1e-3, atol=1e-3)
    return None


@EVERY
@QUICK
@given(data=strategies.data())
def test_any_shapes_are_right_or_refused_with_the_shapes(operator, data):
    """Never wrong, never past the end: one input in two has another shape than the launch would give it."""
    problem, tiling = data.draw(problems(operator))
    tensors = {name[:-4]: tensor for name, tensor in operator.plan(problem, tiling).tensors.items() if tensor.filling}
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    changed = data.draw(strategies.sampled_from([None, *shapes]))
    if changed:
        near = strategies.integers(0, 6) | strategies.sampled_from([*shapes[changed], *(one + 1 for one in shapes[changed])])
        shapes[changed] = tuple(data.draw(strategies.lists(near, max_size=3)))
    inputs = {name: torch.rand(shape) + 0.5 for name, shape in shapes.items()}
    said = right_or_refused(operator, inputs, tiling)
    if said:
        assert any(str(tuple(shape)) in said for shape in shapes.values()), said
    if not changed:
        assert said is None


@EVERY
@QUICK
@given(data=strategies.data())
def test_any_tiling_is_right_or_refused_with_the_nearest(operator, data):
    problem, tiling = data.draw(problems(operator))
    fields = [*(block.name for block in operator.blocks), "num_warps", "num_stages"]
    field = data.draw(strategies.sampled_from(fields))
    value = data.draw(strategies.integers(-3, 40) | strategies.sampled_from([2**20 + 1, 2**31, 2**64, -(2**31)]))
    tiling = on.with_value(tiling, field, value)
    tensors = {name[:-4]: tensor for name, tensor in operator.plan(problem, on.small(operator)).tensors.items()}
    inputs = {name: torch.rand(tensor.shape) + 0.5 for name, tensor in tensors.items() if tensor.filling}
    said = right_or_refused(operator, inputs, tiling)
    if said:
        assert said.startswith(f"{field}: "), said
        assert "nearest" in said


def test_gradients_that_do_not_fit_are_refused_not_read_past_their_end():
    for grad, x, weight in (((2, 3), (2, 4), 4), ((2, 4), (2, 4), 3), ((4, 2), (2, 4), 4), ((1, 128), (64, 128), 128)):
        with pytest.raises(ValueError, match="is needed") as said:
            rms_norm_backward(torch.ones(grad), torch.ones(x), torch.ones(weight))
        assert str(x) in str(said.value) or str(x[-1:]) in str(said.value)


def test_sides_that_make_too_large_a_block_are_refused_with_the_nearest():
    a, b = torch.ones(4, 4), torch.ones(4, 4)
    for blocks, nearest in (((2048, 1024, 16), "BLOCK_M is 1,024"), ((16, 2048, 1024), "BLOCK_N is 1,024")):
        tiling = Tiling(Numbers(dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), blocks, strict=True)), GROUP_M=0))
        with pytest.raises(ValueError, match=rf"2,097,152 elements, and Triton takes 1,048,576; the nearest {nearest}\."):
            matmul_relu(a, b, tiling)


def test_a_grid_too_long_along_y_is_refused_and_the_rule_makes_none():
    b = torch.ones(1, 1).expand(1, 65536)
    tiling = Tiling(Numbers(BLOCK_M=1, BLOCK_N=1, BLOCK_K=1, GROUP_M=0))
    with pytest.raises(ValueError, match=r"65,536 programs along y, and a GPU takes 65,535"):
        matmul_relu(torch.ones(1, 1), b, tiling)
    operator = operators()["matmul_relu"]
    for n, grouped in ((64 * 65535, False), (64 * 65535 + 1, True)):
        problem = Problem(Numbers(m=64, n=n, k=1))
        launch = operator.plan(problem, operator.tiling(problem))
        assert (launch.grid[1] == 1) == grouped
        assert launch.programs == cdiv(n, 64)


def test_a_backward_pass_keeps_nothing_but_the_inputs():
    x = torch.rand(8, 8, requires_grad=True)
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: saved.append(tensor) or tensor, lambda tensor: tensor):
        matmul_relu(x, x)
    assert [tensor.data_ptr() for tensor in saved] == [x.data_ptr()] * 2


@EVERY
def test_the_source_shown_is_the_wrappers_own(operator):
    lines = source_of(operator.wrapper).lines
    assert lines[0].startswith(f"def {operator.wrapper.__name__}(")
    assert any("run(" in line for line in lines)
    assert any("chosen(tiling" in line for line in lines)


@pytest.mark.gpu
@pytest.mark.skipif(not GPUS, reason="no GPU that Triton can launch on is attached")
def test_blocks_too_short_for_tensor_cores_are_refused_in_tritons_words(workers):
    assert "K >= 16" in workers[GPUS[0].worker].call(on.short_blocks, "cuda", seconds=300)
