"""From torch to a right result, a step at a time: load torch and Triton, compile to PTX and cubin, load, launch, verify."""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..errors import sentence
from ..runtime.device import DEFAULT_TARGET, Target, find_target
from .failures import advice, known
from .values import FAIL, NOT_MEASURED, PASS, WARN, Result
from .worker import Context

STAGE = "bring-up"
N = 98_432
BLOCK = 1024
TRITON_CAPABILITY = 80  # Triton's README: compute capability 8.0 and newer


def torch_loads(context: Context) -> Iterator[Result]:
    """torch is imported, sees the GPU, and adds two tensors on it."""
    here = Result("torch loads", "torch sees the GPU", STAGE, PASS, limit="1 + 1 = 2 on the GPU", source="torch")
    started = time.monotonic()
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        yield replace(here, status=NOT_MEASURED, said="torch is not installed")
        return
    seconds = time.monotonic() - started
    if not torch.cuda.is_available():
        yield replace(here, status=FAIL, said="torch.cuda.is_available() is False", step=_why_not(torch))
        return
    one = torch.ones(1000, device="cuda")
    total = float((one + one).sum())
    status = PASS if total == 2000.0 else FAIL
    said = f"{torch.cuda.get_device_name()}; imported in {seconds:.1f} s"
    yield replace(here, status=status, said=said, step="" if status == PASS else known("ecc").fix)


def _why_not(torch: Any) -> str:
    """What to do where torch sees no GPU: its own message tells."""
    try:
        torch.zeros(1, device="cuda")
    except Exception as error:
        return advice(str(error)) or str(error).split("\n")[0][:200]
    return known("no-device").fix


def covered_by_torch(context: Context) -> Iterator[Result]:
    """The wheel has machine code, or PTX, for this GPU's architecture."""
    import torch

    if torch.version.hip:
        arch = torch.cuda.get_device_properties(0).gcnArchName.partition(":")[0]
        yield covers(arch, torch.cuda.get_arch_list())
        return
    major, minor = torch.cuda.get_device_capability()
    yield covers(f"sm_{major}{minor}", torch.cuda.get_arch_list())


def covers(arch: str, listed: Sequence[str]) -> Result:
    """Whether a wheel built for `listed` runs on `arch`: the same major with a minor up to its own, or older PTX."""
    here = Result(
        "architecture",
        "torch covers the GPU",
        STAGE,
        PASS,
        limit=f"code for {arch}",
        source="torch.cuda.get_arch_list()",
        origin="read",
    )
    said = f"{arch}; the wheel has {', '.join(listed) or 'nothing'}"
    if arch in listed:
        return replace(here, said=said)
    lacks = known("wheel-architecture" if arch.startswith("sm_") else "hip-device-function")
    if arch.startswith("sm_"):
        major, minor = int(arch[3:-1]), int(arch[-1])
        known_ones = [one.partition("_") for one in listed]
        machine = [(int(text[:-1]), int(text[-1])) for kind, _, text in known_ones if kind == "sm" and text.isdecimal()]
        ptx = [(int(text[:-1]), int(text[-1])) for kind, _, text in known_ones if kind == "compute" and text.isdecimal()]
        if any(one[0] == major and one[1] <= minor for one in machine):
            return replace(here, said=said)
        if any(one <= (major, minor) for one in ptx):
            return replace(here, status=WARN, said=f"{said}: by PTX, translated at the first use", step=lacks.fix)
    return replace(here, status=FAIL, said=said, step=lacks.fix)


def triton_loads(context: Context) -> Iterator[Result]:
    """Triton is imported, and supports the GPU."""
    here = Result(
        "triton loads", "Triton loads", STAGE, PASS, limit="imported; compute capability 8.0 or newer", source="Triton's README"
    )
    started = time.monotonic()
    import triton

    said = f"Triton {triton.__version__}; imported in {time.monotonic() - started:.1f} s"
    target = context.gpu.target if context.gpu else None
    if target and target.backend == "cuda" and target.arch < TRITON_CAPABILITY:
        step = "Some kernels work; for the others take an older Triton (3.2 knew compute capability 7)."
        yield replace(here, status=WARN, said=f"{said}; {target.name} is older than it supports", step=step)
        return
    yield replace(here, said=said)


def compiles(context: Context) -> Iterator[Result]:
    """A kernel is compiled anew, past the cache: first to the vendor's assembly, then to machine code."""
    target = context.gpu.target if context.gpu else find_target(DEFAULT_TARGET)
    yield from compiled_for(target)


def compiled_for(target: Target) -> Iterator[Result]:
    """Results for both halves of the compilation; where it fails, the message tells which half did."""
    assembly, binary = ("PTX", "cubin") if target.backend == "cuda" else ("AMD assembly", "hsaco")
    first = Result(
        "ptx", f"Compile to {assembly}", STAGE, PASS, limit=f"for {target.name}, past the cache", source="Triton's compiler"
    )
    second = Result(
        "cubin",
        f"Compile to {binary}",
        STAGE,
        PASS,
        limit=f"for {target.name}",
        source="ptxas" if target.backend == "cuda" else "Triton's compiler",
    )
    started = time.monotonic()
    try:
        kernel = _compiled(target)
    except (TypeError, AttributeError, ImportError) as error:
        if not older_triton():
            yield from _broken(first, second, error)
            return
        said = f"this Triton is older than the explorer's own compile call: {sentence(error).text}"
        yield replace(first, status=NOT_MEASURED, said=said, step="The launch below goes Triton's own way, and tells.")
        yield replace(second, status=NOT_MEASURED, said=f"needs {assembly}")
        return
    except Exception as error:
        yield from _broken(first, second, error)
        return
    seconds = time.monotonic() - started
    sizes = {
        name: len(kernel.asm[key])
        for name, keys in ((assembly, ("ptx", "amdgcn")), (binary, ("cubin", "hsaco")))
        for key in keys
        if key in kernel.asm
    }
    yield replace(first, said=f"{sizes[assembly]:,} characters", seconds=0.001)
    yield replace(second, said=f"{sizes[binary]:,} B, both in {seconds:.1f} s", seconds=seconds)


OLDEST_TRITON = (3, 6)


def older_triton() -> bool:
    """Whether Triton is older than the app supports: then a name or an argument that is missing is no fault."""
    import triton

    return tuple(int(part) for part in triton.__version__.split(".")[:2]) < OLDEST_TRITON


def _broken(first: Result, second: Result, error: Exception) -> Iterator[Result]:
    """Which half of the compilation an error belongs to, by its message."""
    told = sentence(error)
    text, said = told.whole, told.text
    step = advice(text) or "The reason is not known: paste the whole message into `python -m kernels explain`."
    if "ptxas" in text.lower():
        yield replace(first, said="done")
        yield replace(second, status=FAIL, said=said, step=step)
    else:
        yield replace(first, status=FAIL, said=said, step=step)
        yield replace(second, status=NOT_MEASURED, said=f"needs “{first.title}”")


@functools.cache
def _compiled(target: Target) -> Any:
    """The probe's kernel for a target, never from the cache."""
    from ..runtime.compile import build
    from .probes import add_launch

    with _set("TRITON_ALWAYS_COMPILE", "1"):
        return build(add_launch(N, BLOCK), target)


@contextlib.contextmanager
def _set(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def loads(context: Context) -> Iterator[Result]:
    """The driver loads the machine code."""
    here = Result(
        "load", "Load into the driver", STAGE, PASS, limit="the driver takes the machine code", source="cuModuleLoadData"
    )
    import torch

    torch.cuda.current_stream()  # a context to load into
    torch.zeros(1, device="cuda")
    kernel = _compiled(context.gpu.target)
    if not hasattr(kernel, "_init_handles"):
        yield replace(here, status=NOT_MEASURED, said="this Triton loads at the launch only")
        return
    kernel._init_handles()
    registers, spills = getattr(kernel, "n_regs", None), getattr(kernel, "n_spills", None)
    yield replace(here, said="loaded" + (f"; {registers} registers a thread, {spills} spilled" if registers else ""))


def launches(context: Context) -> Iterator[Result]:
    """The kernel is launched as a user launches it, and its result is torch's, bit for bit."""
    here = Result("launch", "Launch and verify", STAGE, PASS, limit="equal to torch, bit for bit", source="x + y in float32")
    import torch

    from .probes import add_kernel

    x, y = (torch.randn(N, device="cuda") for _ in range(2))
    output = torch.full_like(x, float("nan"))
    started = time.perf_counter()
    add_kernel[(-(-N // BLOCK),)](x, y, output, N, BLOCK_SIZE=BLOCK)
    torch.cuda.synchronize()
    first = time.perf_counter() - started
    started = time.perf_counter()
    add_kernel[(-(-N // BLOCK),)](x, y, output, N, BLOCK_SIZE=BLOCK)
    torch.cuda.synchronize()
    again = time.perf_counter() - started
    wrong = int((output != x + y).sum())
    said = f"first launch {first * 1e3:,.0f} ms, with what the cache did not have; the next {again * 1e6:,.0f} us"
    if wrong:
        yield replace(
            here,
            status=FAIL,
            said=f"{wrong:,} of {N:,} elements differ",
            step=f"The GPU computes wrong results. {known('ecc').fix}",
        )
        return
    yield replace(here, said=said)


def cross_compiles(context: Context) -> Iterator[Result]:
    """Where there is no GPU: a kernel is compiled for one."""
    yield from compiled_for(find_target(DEFAULT_TARGET))
