"""One real launch, on a GPU or in Triton's interpreter, compared with PyTorch and with float64."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..arguments import adjustments, interpreted, run
from ..launch import Launch, Tensor, short
from ..operator import Numbers
from ..values import torch_values
from .compare import Difference, differences
from .request import Request, first_input

if TYPE_CHECKING:
    import torch


# Below what the interpreter takes here: vector add of 4 elements takes 0.96 ms of processor time per program, and a program of
# nothing but a store 0.05 ms (2 cores, busy, Triton 3.9).
PROGRAM_SECONDS = 1e-4


@dataclass(frozen=True)
class Result:
    """What a launch gave. `engine` is "GPU" or "interpreter"; `compile_seconds` is None where nothing was compiled."""

    device: str
    engine: str
    grid: tuple[int, int, int]
    blocks: Mapping[str, int]
    printed: Mapping[str, str]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...]
    compile_seconds: float | None
    from_cache: bool
    versions: Mapping[str, str]

    @property
    def within(self) -> bool:
        return all(difference.within for difference in self.differences)


def needed_bytes(launch: Launch) -> int:
    """Memory for the tensors of a launch, in bytes; the comparison needs up to a few hundred megabytes more."""
    return sum(tensor.nbytes for tensor in launch.tensors.values())


def interpreter_bytes() -> int:
    """What tensors of a launch in the interpreter may take: a quarter of this machine's memory."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4 if hasattr(os, "sysconf") else 2**31


def largest(request: Request, programs: int) -> tuple[str, int] | None:
    """(size, value): the largest value of one size for which a launch has at most so many programs; None where none has."""

    def count(name: str, value: int) -> int:
        problem = replace(request.problem, sizes=Numbers(request.problem.sizes, {name: value}))
        return replace(request, problem=problem).launch().programs

    for name, now in request.problem.sizes.items():
        low, high = 1, now
        if now < 1 or count(name, 1) > programs:
            continue
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if count(name, middle) <= programs else (low, middle - 1)
        return name, low
    return None


def launch_once(request: Request, device: str, progress: Callable[[int, int], None] | None = None) -> Result:
    """Fills the inputs, calls the operator's wrapper on the device ("cuda" or "cpu"), compares every output.

    In the interpreter `progress` gets the programs done and their number. Raises MemoryError, with figures, where the tensors
    do not fit, and what Triton raises.
    """
    import torch
    import triton

    operator, launch = request.description, request.launch()
    _refuse_too_large(launch, device)
    inputs = prepared(request, launch, device) if operator.wrapper else {}
    slow = interpreted(launch.kernel)
    with _compile_times() as times, _reported(launch.programs, progress if slow else None):
        if operator.wrapper:
            given = operator.wrapper(**inputs, **operator.values(request.problem), tiling=request.tiling)
            outputs = dict(zip(operator.outputs, given if isinstance(given, tuple) else (given,), strict=True))
        else:
            outputs = launched_alone(launch, request.seed, device)
    notes = adjustments(inputs)
    compared = operator.wrapper is not None and operator.pytorch is not None
    if not compared:
        notes.append("Nothing to compare with: the operator has no `wrapper` and `pytorch` of one computation.")
    if slow and request.problem.dtype == "bfloat16":
        notes.append("Triton's interpreter has no bfloat16: computed in float32, rounded to bfloat16 when stored.")
    return Result(
        device="Triton's interpreter on the CPU" if slow else torch.cuda.get_device_name(),
        engine="interpreter" if slow else "GPU",
        grid=launch.grid,
        blocks=dict(request.tiling.blocks),
        printed={name: _printed(tensor) for name, tensor in outputs.items()},
        differences=differences(request, inputs, outputs) if compared else (),
        notes=tuple(notes),
        compile_seconds=sum(seconds for seconds, _ in times) if times else None,
        from_cache=bool(times) and all(cached for _, cached in times),
        versions={"torch": str(torch.__version__), "triton": triton.__version__},
    )


def prepared(request: Request, launch: Launch, device: str) -> dict[str, torch.Tensor]:
    """The inputs by the wrapper's names, the first laid out in memory as the request wants it."""
    first = first_input(launch)
    return {
        short(name): laid_out(values, request.layout if name == first else "contiguous")
        for name, tensor in launch.tensors.items()
        if tensor.filling is not None
        for values in [torch_values(tensor, request.seed, device)]
    }


def launched_alone(launch: Launch, seed: int, device: str) -> dict[str, torch.Tensor]:
    """Launches a kernel that has no wrapper on tensors laid out as its launch says; its outputs, or all where it has none."""
    tensors = {name: _view(tensor, seed, device) for name, tensor in launch.tensors.items()}
    run(launch, **tensors)
    outputs = {name: tensors[name] for name, tensor in launch.tensors.items() if tensor.is_output}
    return outputs or tensors


def _view(tensor: Tensor, seed: int, device: str) -> torch.Tensor:
    """The tensor in a storage of its own, with its strides, offset and values."""
    import torch

    storage = torch.zeros(max(tensor.extent, 1), dtype=getattr(torch, tensor.dtype), device=device)
    view = storage.as_strided(tensor.shape, tensor.steps, tensor.offset)
    if tensor.data is not None:
        view.copy_(torch.as_tensor(tensor.data, device=device).view(tensor.shape))
    elif tensor.filling is not None:
        view.copy_(torch_values(tensor, seed, device))
    return view


def laid_out(values: torch.Tensor, layout: str) -> torch.Tensor:
    """The same values in another memory layout; see LAYOUTS."""
    if layout == "strided":
        longer = values.new_zeros((*values.shape[:-1], values.shape[-1] * 2))
        longer[..., ::2] = values
        return longer[..., ::2]
    if layout == "transposed":
        return values.t().contiguous().t()
    if layout == "broadcast" and values.numel():
        return values[:1].expand(values.shape)
    return values


def _refuse_too_large(launch: Launch, device: str) -> None:
    import torch

    needed = needed_bytes(launch)
    free = interpreter_bytes() if device == "cpu" else torch.cuda.mem_get_info()[0]
    if needed > free * 0.9:
        where = "a quarter of this machine's memory" if device == "cpu" else "the GPU's free memory"
        raise MemoryError(
            f"The tensors need {needed / 1e9:,.1f} GB, and {where} is {free / 1e9:,.1f} GB: "
            f"about {free * 0.9 / needed:.0%} of the elements fit."
        )


@contextlib.contextmanager
def _compile_times() -> Iterator[list[tuple[float, bool]]]:
    """Collects (seconds, taken from the cache) for every kernel that Triton compiles meanwhile."""
    from triton import knobs

    times: list[tuple[float, bool]] = []
    before = knobs.compilation.listener
    knobs.compilation.listener = lambda **facts: times.append((facts["times"].total / 1e6, facts["cache_hit"]))
    try:
        yield times
    finally:
        knobs.compilation.listener = before


@contextlib.contextmanager
def _reported(programs: int, progress: Callable[[int, int], None] | None) -> Iterator[None]:
    """Reports the interpreter's programs as they start, at most five times a second."""
    if progress is None:
        yield
        return
    from triton.runtime.interpreter import interpreter_builder

    original, done, last = interpreter_builder.set_grid_idx, 0, 0.0

    def counting(x: int, y: int, z: int) -> None:
        nonlocal done, last
        if time.monotonic() - last > 0.2:
            last = time.monotonic()
            progress(done, programs)
        done += 1
        original(x, y, z)

    interpreter_builder.set_grid_idx = counting
    try:
        yield
    finally:
        del interpreter_builder.set_grid_idx


def _printed(tensor: torch.Tensor) -> str:
    """The tensor as PyTorch prints it: its first and last elements."""
    import torch

    torch.set_printoptions(threshold=24, edgeitems=3, linewidth=100, precision=4)
    return str(tensor.cpu())
