"""What the tests run inside the worker that has the GPU; nothing here may need Triton's interpreter."""

from __future__ import annotations

import contextlib
import math
import time

import numpy as np

from kernels import Numbers, Tiling
from kernels.runtime.request import Request

NAN, INF = math.nan, math.inf


def special() -> list[str]:
    """What differs from PyTorch for NaN and infinities; nothing should."""
    import torch

    from kernels.elementwise_chain import chain
    from kernels.matmul_relu import matmul_relu
    from kernels.rms_norm import rms_norm
    from kernels.softmax import softmax

    def same(ours, theirs) -> bool:
        return torch.allclose(ours, theirs, rtol=1e-5, atol=1e-6, equal_nan=True)

    wrong = []
    values = torch.tensor([NAN, -1.0, 2.0, -INF, INF, 0.0], device="cuda")
    one, zero = torch.ones_like(values), torch.zeros_like(values)
    if not same(chain(values, zero, one), torch.relu(values)):
        wrong.append("relu")
    for row in ([1.0, NAN, 2.0], [-INF] * 3, [INF, 1.0, 2.0], [1000.0, 1001.0, 1004.0], [-INF, -INF, 1.0]):
        x = torch.tensor([row], device="cuda")
        for tiling in (None, Tiling(Numbers(BLOCK_SIZE=2))):
            if not same(softmax(x, tiling), torch.softmax(x, -1)):
                wrong.append(f"softmax {row} {tiling}")
    x = torch.tensor([[INF, 1.0], [NAN, 1.0], [0.0, 0.0]], device="cuda")
    if not same(rms_norm(x, torch.ones(2, device="cuda")), x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)):
        wrong.append("rms_norm")
    if not matmul_relu(torch.tensor([[NAN, 1.0]], device="cuda"), torch.ones(2, 1, device="cuda")).isnan().all():
        wrong.append("matmul_relu")
    return wrong


def repeated() -> int:
    """How many different results 20 backward passes give."""
    import torch

    from kernels.rms_norm_backward import rms_norm_backward

    torch.manual_seed(0)
    x, grad, weight = (torch.randn(shape, device="cuda") for shape in ((4096, 1000), (4096, 1000), (1000,)))
    runs = [torch.cat([one.flatten() for one in rms_norm_backward(grad, x, weight)]) for _ in range(20)]
    return len({bytes(run.cpu().numpy().tobytes()) for run in runs})


def gradients(dtype: str) -> float:
    """The largest difference of the gradients from autograd's in float64, against their size."""
    import torch

    from kernels.rms_norm import rms_norm

    torch.manual_seed(0)
    x = torch.randn(4, 512, 777, device="cuda", dtype=getattr(torch, dtype), requires_grad=True)
    weight = torch.rand(777, device="cuda", dtype=getattr(torch, dtype), requires_grad=True)
    grad = torch.randn_like(x)
    ours = torch.autograd.grad(rms_norm(x, weight), (x, weight), grad)
    exact = [one.detach().double().requires_grad_() for one in (x, weight)]
    y = exact[0] * torch.rsqrt(exact[0].pow(2).mean(-1, keepdim=True) + 1e-6) * exact[1]
    theirs = torch.autograd.grad(y, exact, grad.double())
    return max(float((mine.double() - their).norm() / their.norm()) for mine, their in zip(ours, theirs, strict=True))


def on_device(request_: Request, argument: str) -> np.ndarray:
    """An output of the launch, whole."""
    from kernels.runtime.launch import prepared

    output = request_.description.wrapper(**prepared(request_, request_.launch(), "cuda"), tiling=request_.tiling)
    return output.float().cpu().numpy()


def properties() -> dict[str, int]:
    import torch

    found = torch.cuda.get_device_properties(0)
    return {
        "multiprocessors": found.multi_processor_count,
        "memory_bytes": found.total_memory,
        "arch": found.major * 10 + found.minor,
    }


def poison() -> None:
    """Writes to an address that is nobody's. (An index too large for torch would end in an assertion of torch's.)"""
    import torch

    from .check_probes import far_kernel

    far_kernel[(1,)](torch.ones(10, device="cuda"), 2**40)
    torch.cuda.synchronize()


def poison_and_hide() -> str:
    """As `poison`, and says nothing of it."""
    with contextlib.suppress(RuntimeError):
        poison()
    return "hidden"


def poison_slowly() -> None:
    """As `poison`, after a second in which others come."""
    time.sleep(1)
    poison()


def measured_wrong(request_: Request, gpu):
    """A measurement with a kernel that is wrong in one element of thousands."""
    from kernels.measure import ways
    from kernels.measure.point import Task, measure

    right = ways.functions

    def planted(asked: Request):
        found = right(asked)
        title, function = found["triton"]

        def wrong(**inputs):
            output = function(**inputs)
            output.view(-1)[len(output) // 2] += 0.01
            return output

        return found | {"triton": (title, wrong)}

    ways.functions = planted
    try:
        return measure(Task(request_, "forward", ("pytorch", "triton"), brief=True), gpu)
    finally:
        ways.functions = right


def against_do_bench(request_: Request, gpu) -> tuple[float, float]:
    """Seconds of the Triton kernel by this program, and by Triton's own bench of the same launch."""
    import torch
    from triton.testing import do_bench

    from kernels.measure import ways
    from kernels.measure.point import Task, measure

    ours = measure(Task(request_, "forward", ("pytorch", "triton")), gpu).way("triton").events.median
    operator, inputs = request_.description, ways.inputs_of(request_, "forward")
    with torch.no_grad():
        call = ways.caller(request_, "forward", lambda **given: operator.wrapper(**given, tiling=request_.tiling), inputs)
        theirs = do_bench(call, warmup=100, rep=300, return_mode="median") / 1000
    return ours, theirs


def launched(request_: Request) -> list[dict]:
    """One launch; then of every kernel that this process compiled of that function its hash, PTX, registers and spills."""
    import torch

    from kernels.runtime.launch import prepared

    launch = request_.launch()
    request_.description.wrapper(**prepared(request_, launch, "cuda"), tiling=request_.tiling)
    torch.cuda.synchronize()
    kernels = launch.kernel.device_caches[torch.cuda.current_device()][0].values()
    return [
        {"hash": one.metadata.hash, "ptx": one.asm["ptx"], "registers": one.n_regs, "spills": one.n_spills} for one in kernels
    ]
