"""Gradients: K01 and K03."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from kernels import Numbers, Tiling
from kernels.rms_norm import pytorch, rms_norm
from kernels.rms_norm_backward import rms_norm_backward

from ..test_pages import launched, page, words

LOOPED = Tiling(Numbers(BLOCK_SIZE=2))


def gradients(tiling: Tiling | None) -> tuple[torch.Tensor, torch.Tensor]:
    x, weight = torch.zeros(1, 4, requires_grad=True), torch.ones(4, requires_grad=True)
    (-rms_norm(x, weight, 1e-5, tiling).sum()).backward()
    return x.grad, weight.grad


@pytest.mark.slow
def test_k01_the_weights_gradient_of_a_row_of_zeros_is_0_in_ten_runs_of_ten():
    for tiling in (None, LOOPED):
        for _ in range(10):
            junk = torch.full((4096,), 1e20)  # what the next allocation may find
            del junk
            grad_x, grad_weight = gradients(tiling)
            assert grad_weight.tolist() == [0.0] * 4
            assert_close(grad_x, torch.full((1, 4), -316.2278), rtol=1e-6, atol=0)


def test_k03_the_gradient_that_came_in_is_not_written_to_and_the_weight_gets_its_own():
    torch.manual_seed(0)
    for tiling in (None, LOOPED):
        x, weight = torch.randn(6, 5, requires_grad=True), torch.rand(5, requires_grad=True)
        grad = torch.randn(6, 5)
        before = grad.clone()
        output = rms_norm(x, weight, tiling=tiling)
        first = torch.autograd.grad(output, (x, weight), grad, retain_graph=True)
        second = torch.autograd.grad(output, (x, weight), grad)
        assert torch.equal(grad, before)
        theirs = torch.autograd.grad(pytorch(x, weight), (x, weight), grad)
        for one, again, their in zip(first, second, theirs, strict=True):
            assert torch.equal(one, again)
            assert_close(one, their, rtol=1e-5, atol=1e-6)
        rms_norm_backward(grad, x.detach(), weight.detach())
        assert torch.equal(grad, before)


def test_k03_the_page_compares_both_gradients():
    text = words(launched(page(operator="rms_norm_backward", rows="6", columns="5")))
    for name in ("grad_x", "grad_weight"):
        assert f"{name}: max |difference| from PyTorch" in text
    assert text.count("within tolerance") == 2
