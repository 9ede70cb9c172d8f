"""Which thread holds which element, read in a real launch: an instrumented copy of the kernel writes `%tid.x`."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from ..runtime.device import Target
from ..runtime.request import Request
from .held import Held
from .instrument import plain, with_threads
from .layouts import owners, understood

NOT_REACHED = -1


@dataclass(frozen=True)
class Read:
    """A tensor of the kernel, and for each of its elements, row-major, the thread that held it in a real launch.

    `threads` is None where the launch did not reach it; where several threads hold an element, the one that stores is told.
    """

    tensor: Held
    threads: np.ndarray | None

    @property
    def agrees(self) -> bool | None:
        """Whether the layout's text says the same; None where it is not understood, or the launch did not reach it."""
        return agrees(self.tensor, self.threads)


@dataclass(frozen=True)
class Threads:
    """What one launch of program 0 told; registers a thread, of the kernel and of its instrumented copy."""

    device: str
    read: tuple[Read, ...]
    registers: tuple[int, int]


def agrees(tensor: Held, threads: np.ndarray | None) -> bool | None:
    """Whether every thread that was read is one that holds the element by the tensor's layout; None where that is not told."""
    if threads is None or not understood(tensor.layout):
        return None
    return bool(owners(tensor.layout, tensor.shape).holds(threads).all())


def read_threads(request: Request, target: Target) -> Threads:
    """Launches one program of the instrumented kernel; in the worker of the GPU, whose target is given.

    Raises ValueError on other than NVIDIA's GPUs, MemoryError where the tensors do not fit, and what Triton raises.
    """
    import torch

    from .device_launch import filled, ready

    if target.backend != "cuda":
        raise ValueError(f"{target.name} has no register that tells a thread's number in this way.")
    launch = request.without_change().launch()
    _, ttgir, tensors = plain(launch, target)
    sizes = [prod(one.shape) for one in tensors]
    probe = torch.full((sum(sizes),), NOT_REACHED, dtype=torch.int32, device="cuda")
    arguments = filled(launch, request.seed)
    kernel, start = ready(with_threads(ttgir, tensors), launch, target, arguments, probe)
    before, start_plain = ready(ttgir, launch, target, arguments)
    start_plain((1, 1, 1))  # loading it is what tells its registers
    start((1, 1, 1))
    torch.cuda.synchronize()
    parts = np.split(probe.cpu().numpy().astype(np.int64), np.cumsum(sizes)[:-1])
    read = tuple(Read(one, None if NOT_REACHED in part else part) for one, part in zip(tensors, parts, strict=True))
    return Threads(torch.cuda.get_device_name(), read, (before.n_regs, kernel.n_regs))
