"""Launching a TTGIR text on the attached GPU, with the tensors of the launch it came from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..launch import Launch, Tensor
from ..runtime.device import Target
from ..runtime.launch import needed_bytes
from ..values import torch_values
from .instrument import compiled, parameters

if TYPE_CHECKING:
    import torch


def filled(launch: Launch, seed: int = 0) -> dict[str, Any]:
    """The run-time arguments by name, tensors on the GPU; outputs are not initialised.

    Raises MemoryError, with figures, where the tensors do not fit.
    """
    import torch

    needed, free = needed_bytes(launch), torch.cuda.mem_get_info()[0]
    if needed > 0.9 * free:
        raise MemoryError(f"The tensors need {needed / 1e9:,.1f} GB, and the GPU has {free / 1e9:,.1f} GB free.")
    return {name: _value(value, seed) for name, value in launch.arguments.items()}


def _value(value: Tensor | int | float, seed: int) -> Any:
    import torch

    if not isinstance(value, Tensor):
        return value
    if value.filling is not None:
        return torch_values(value, seed, "cuda")
    return torch.empty(value.shape, dtype=getattr(torch, value.dtype), device="cuda")


def ready(
    text: str, launch: Launch, target: Target, arguments: dict[str, Any], probe: torch.Tensor | None = None
) -> tuple[Any, Callable[[tuple[int, int, int]], None]]:
    """Triton's CompiledKernel of a TTGIR text, and what launches it on a grid with these arguments, `probe` the last."""
    kernel = compiled(text, launch, target)
    given = [probe if name == "probe" else arguments[name] for name in parameters(text)]
    return kernel, lambda grid: kernel[grid](*given)
