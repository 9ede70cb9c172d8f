"""What Triton itself would build at a launch, up to the launch: `python -m tests.as_launched REQUEST...` prints hashes.

A stand-in for the driver tells Triton of a GPU that is not there; `JITFunction.warmup` then specialises the arguments and
compiles as a launch does.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

from kernels.arguments import resolved
from kernels.launch import Tensor
from kernels.runtime.device import Target, find_target
from kernels.runtime.request import Request
from kernels.runtime.settings import corrected


def hash_of(request: Request, target: Target) -> str:
    """The hash of the kernel that a launch of the request on such a GPU would run."""
    import torch
    from triton.backends.compiler import GPUTarget
    from triton.runtime import driver

    gpu = GPUTarget(target.backend, target.arch, target.warp_size)
    driver.set_active(
        SimpleNamespace(
            get_current_target=lambda: gpu, get_current_device=lambda: target.arch, get_current_stream=lambda device: 0
        )
    )
    launch = request.launch()
    arguments = {
        name: torch.empty(value.shape, dtype=getattr(torch, value.dtype)) if isinstance(value, Tensor) else value
        for name, value in launch.arguments.items()
    }
    options = {"num_warps": launch.num_warps, "num_stages": launch.num_stages}
    return launch.kernel.warmup(grid=launch.grid, **arguments, **resolved(launch.constants), **options).metadata.hash


if __name__ == "__main__":
    for line in sys.argv[1:]:
        target, *pairs = line.split()
        settings, _ = corrected(dict(pair.split("=") for pair in pairs))
        print(hash_of(settings.request, find_target(target)))
