"""What every wrapper does with torch tensors before and at the launch; torch is imported inside the functions only."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .language import tl, triton
from .operator import ITEMSIZE, Launch, grid_refusal

if TYPE_CHECKING:
    import torch


def dtype_name(tensor: torch.Tensor) -> str:
    """The dtype as the value types name it, "float32" for torch.float32."""
    return str(tensor.dtype).removeprefix("torch.")


def alike(**tensors: torch.Tensor) -> list[torch.Tensor]:
    """The tensors on one device, promoted to one dtype as PyTorch promotes, and contiguous (copied where they are not).

    Raises ValueError where they lie on different devices or the common dtype is not one the kernels compute in.
    """
    import functools

    import torch

    devices = {name: str(tensor.device) for name, tensor in tensors.items()}
    if len(set(devices.values())) > 1:
        places = ", ".join(f"{name} is on {device}" for name, device in devices.items())
        raise ValueError(f"{places}: move them to one device, x.to({next(iter(devices.values()))!r}) for one.")
    common = functools.reduce(torch.promote_types, (tensor.dtype for tensor in tensors.values()))
    if str(common).removeprefix("torch.") not in ITEMSIZE:
        raise ValueError(f"{common} is not computed here: {', '.join(ITEMSIZE)} are; x.float() gives float32.")
    return [tensor.to(common).contiguous() for tensor in tensors.values()]


def adjustments(tensors: Mapping[str, torch.Tensor]) -> list[str]:
    """What `alike` will do to these tensors, a sentence each; nothing for tensors it takes as they are."""
    import functools

    import torch

    common = functools.reduce(torch.promote_types, (tensor.dtype for tensor in tensors.values()))
    said = []
    for name, tensor in tensors.items():
        if tensor.dtype != common:
            said.append(f"{name} is {dtype_name(tensor)}: converted to {str(common)[6:]}, as PyTorch promotes.")
        if not tensor.is_contiguous():
            size = tensor.numel() * common.itemsize
            said.append(f"{name} has strides {tuple(tensor.stride())}: copied first, {size:,} B more to move each way.")
    return said


def same_shape(**tensors: torch.Tensor) -> None:
    """Raises ValueError, with every shape, unless all are of one shape."""
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if len(set(shapes.values())) > 1:
        found = ", ".join(f"{name} has {shape}" for name, shape in shapes.items())
        raise ValueError(f"{found}: one shape is needed; torch.broadcast_tensors gives it where they broadcast.")


def interpreted(kernel: Any) -> bool:
    """Whether this kernel runs in Triton's interpreter."""
    return not isinstance(kernel, triton.JITFunction)


def run(launch: Launch, **tensors: torch.Tensor) -> None:
    """Launches on these tensors, named like the kernel's arguments; an empty grid launches nothing.

    The interpreter computes bfloat16 as garbage (bit patterns added as integers), so there the tensors are float32 copies
    and what is stored is rounded back to bfloat16.

    Raises ValueError for CPU tensors where Triton compiles for a GPU, and for a grid that Triton would silently not launch.
    """
    import torch

    if not launch.programs:
        return
    if reason := grid_refusal(launch.grid):
        raise ValueError(reason)
    on_cpu = [name for name, tensor in tensors.items() if tensor.device.type == "cpu"]
    slow = interpreted(launch.kernel)
    if on_cpu and not slow:
        raise ValueError(f"{on_cpu[0]} is on the CPU, and a compiled kernel reads a GPU's memory; .cuda() moves a tensor.")
    given = {name: widened(tensor) if slow else tensor for name, tensor in tensors.items()}
    arguments = {name: given.get(name, value) for name, value in launch.arguments.items()}
    options = {"num_warps": launch.num_warps, "num_stages": launch.num_stages}
    device = next(iter(tensors.values())).device
    with torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext():
        launch.kernel[launch.grid](**arguments, **resolved(launch.constants), **options)
    for name, tensor in tensors.items():
        if given[name] is not tensor:
            tensor.copy_(given[name])


def widened(tensor: torch.Tensor) -> torch.Tensor:
    """A bfloat16 tensor as float32; any other as it is."""
    return tensor.float() if dtype_name(tensor) == "bfloat16" else tensor


def resolved(constants: Mapping[str, int | str]) -> dict[str, Any]:
    """The compile-time constants as Triton takes them: names of types become the types."""
    return {name: getattr(tl, value) if isinstance(value, str) else value for name, value in constants.items()}
