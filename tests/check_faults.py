"""Checks with a planted fault each, for the process that runs them."""

from __future__ import annotations

import os
import signal
import sys
import time

from kernels.check.values import PASS, Result


def right(context):
    print("a library prints this")
    yield Result("right", "Right", "truth", PASS, said=f"quick {context.quick}, slice {context.mig}")


def process_id(context):
    yield Result("process", "Process", "truth", PASS, said=str(os.getpid()))


def killed(context):
    yield from right(context)
    os.kill(os.getpid(), signal.SIGKILL)


def crashed(context):
    print("Fatal Python error: Segmentation fault", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)
    yield


def hung(context):
    time.sleep(600)
    yield


def illegal(context):
    raise RuntimeError("CUDA error: an illegal memory access was encountered")
    yield


def ended(context):
    print("libcuda.so cannot found!", file=sys.stderr, flush=True)
    os._exit(7)
    yield


def environment(context):
    shown = {name: os.environ.get(name) for name in ("TRITON_INTERPRET", "CUDA_VISIBLE_DEVICES")}
    yield Result("environment", "Environment", "truth", PASS, said=str(shown))


def poisoned_context(context):
    """On a GPU: writes to an address that is nobody's. (An index too large for torch would end in an assertion of torch's.)"""
    import torch

    from .check_probes import far_kernel

    far_kernel[(1,)](torch.ones(10, device="cuda"), 2**40)
    torch.cuda.synchronize()
    yield


def unmasked(context):
    """On a GPU: the ragged add by a kernel that stores without its mask."""
    from kernels.check.truth import ragged_add

    from .check_probes import unmasked_kernel

    yield ragged_add(unmasked_kernel, 1_000_003, "cuda")


def late(context):
    """Right so far, but what it has started on the GPU fails when it is waited for; torch is a stand-in."""
    from types import SimpleNamespace

    def synchronize():
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    sys.modules["torch"] = SimpleNamespace(cuda=SimpleNamespace(is_initialized=lambda: True, synchronize=synchronize))
    yield from right(context)
