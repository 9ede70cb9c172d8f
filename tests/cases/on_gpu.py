"""What the tests of public cases run inside the worker that has the GPU; nothing here may need Triton's interpreter."""

from __future__ import annotations

import math

from kernels import Numbers, Tiling

NAN, INF = math.nan, math.inf


def devices() -> list[str]:
    """What the function says to tensors on the CPU, and to one on each."""
    import torch

    from kernels.vector_add import add

    here, there = torch.ones(10), torch.ones(10, device="cuda")
    said = []
    for x, y in ((here, here), (here, there), (there, here)):
        try:
            add(x, y)
        except ValueError as error:
            said.append(str(error))
    return said


def maxima() -> dict[str, list]:
    """Softmax of rows in which a masked lane would be the largest, and of rows without a finite entry."""
    import torch

    from kernels.softmax import softmax

    rows = {"low": [-5.0] * 5, "none": [-INF] * 5, "large": [1000.0, 1001, 1002, 1003, 1004], "far": [-1e30] * 5}
    return {name: softmax(torch.tensor([row], device="cuda"))[0].tolist() for name, row in rows.items()}


def relu() -> list[float]:
    """ReLU of NaN, of a negative number, of a positive one, of minus infinity."""
    import torch

    from kernels.elementwise_chain import chain

    values = torch.tensor([NAN, -1.0, 2.0, -INF], device="cuda")
    return chain(values, torch.zeros_like(values), torch.ones_like(values)).tolist()


def norms() -> dict[str, float]:
    """RMSNorm where float16 overflows, where eps decides, of a row of zeros; of one element each."""
    import torch

    from kernels.rms_norm import pytorch, rms_norm

    def full(value: float, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.full((1, 64), value, device="cuda", dtype=dtype), torch.ones(64, device="cuda", dtype=dtype)

    large, small, zeros = full(300.0, torch.float16), full(1e-3, torch.float32), full(0.0, torch.float32)
    return {
        "fused": float(rms_norm(*large, 1e-6)[0, 0]),
        "unfused": float(pytorch(*large, 1e-6)[0, 0]),
        "inside": float(rms_norm(*small, 1e-6)[0, 0]),
        "eps 0": float(rms_norm(*zeros, 0.0)[0, 0]),
        "eps 1e-6": float(rms_norm(*zeros, 1e-6)[0, 0]),
    }


def long_row(columns: int) -> float:
    """How far two rows of so many columns are from float64."""
    import torch

    from kernels.rms_norm import rms_norm

    torch.manual_seed(0)
    x, weight = torch.randn(2, columns, device="cuda"), torch.rand(columns, device="cuda") + 0.5
    exact = x.double() * torch.rsqrt(x.double().pow(2).mean(-1, keepdim=True) + 1e-6) * weight.double()
    return float((rms_norm(x, weight).double() - exact).abs().max())


def products() -> dict[str, float]:
    """How far float32 products of 512 by 512 are from float64: ours, PyTorch's in float32, PyTorch's in TF32."""
    import torch

    from kernels.matmul_relu import matmul_relu

    torch.manual_seed(0)
    a, b = torch.randn(512, 512, device="cuda"), torch.randn(512, 512, device="cuda")
    exact = torch.relu(a.double() @ b.double())
    found = {"ours": matmul_relu(a, b)}
    before = torch.backends.cuda.matmul.allow_tf32
    try:
        for name, allowed in (("float32", False), ("TF32", True)):
            torch.backends.cuda.matmul.allow_tf32 = allowed
            found[name] = torch.relu(a @ b)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
    return {name: float((one.double() - exact).abs().max()) for name, one in found.items()}


def weight_gradients() -> set[tuple[float, ...]]:
    """The gradients of the weight and of x of a row of zeros, of ten runs in memory that held something else."""
    import torch

    from kernels.rms_norm import rms_norm

    found = set()
    for _ in range(10):
        junk = torch.full((1 << 20,), 1e20, device="cuda")
        del junk
        x = torch.zeros(1, 4, device="cuda", requires_grad=True)
        weight = torch.ones(4, device="cuda", requires_grad=True)
        (-rms_norm(x, weight, 1e-5).sum()).backward()
        found.add((*weight.grad.tolist(), *x.grad.flatten().tolist()))
    return found


def same_gradient_twice() -> list[bool]:
    """Whether the gradient that came in is as it was after two backward passes, and whether both gave the same."""
    import torch

    from kernels.rms_norm import rms_norm

    torch.manual_seed(0)
    same = []
    for tiling in (None, Tiling(Numbers(BLOCK_SIZE=64))):
        x = torch.randn(64, 200, device="cuda", requires_grad=True)
        weight = torch.rand(200, device="cuda", requires_grad=True)
        grad = torch.randn(64, 200, device="cuda")
        before, output = grad.clone(), rms_norm(x, weight, tiling=tiling)
        first = torch.autograd.grad(output, (x, weight), grad, retain_graph=True)
        second = torch.autograd.grad(output, (x, weight), grad)
        same.append(torch.equal(grad, before) and all(map(torch.equal, first, second)))
    return same
