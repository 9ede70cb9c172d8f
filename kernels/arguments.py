"""What every wrapper does with torch tensors before and at the launch; torch is imported inside the functions only."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .language import MISSING, tl, triton
from .launch import DTYPES, Launch, TypeName, short
from .operator import grid_refusal

if TYPE_CHECKING:
    import torch

INTEGERS = ("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")
MAX_ALONG = 65535  # programs along y and z: CUDA C++ Programming Guide, technical specifications per compute capability


def dtype_name(tensor: torch.Tensor) -> str:
    """The dtype as the value types name it, "float32" for torch.float32."""
    return str(tensor.dtype).removeprefix("torch.")


def alike(**tensors: torch.Tensor) -> list[torch.Tensor]:
    """The tensors on one device, promoted to one dtype as PyTorch promotes, and contiguous (copied where they are not).

    Raises TypeError for what is not a tensor, and ValueError where tensors lie on different devices, have a dtype that the
    kernels do not compute in, or have no memory that a kernel could read.
    """
    import torch

    for name, value in tensors.items():
        if not isinstance(value, torch.Tensor):
            hint = "" if value is None else f"; torch.as_tensor({name}) makes one of numbers"
            raise TypeError(f"{name} is {_kind(value)}: a torch.Tensor is needed{hint}.")
    devices = {name: tensor.device for name, tensor in tensors.items()}
    if len(set(devices.values())) > 1:
        places = ", ".join(f"{name} is on {device}" for name, device in devices.items())
        raise ValueError(f"{places}: move them to one device, x.to({str(next(iter(devices.values())))!r}) for one.")
    common = common_dtype(tensors)
    for name, tensor in tensors.items():
        if reason := _unreadable(tensor):
            raise ValueError(f"{name} {reason}.")
    return [_plain(tensor, common) for tensor in tensors.values()]


def _plain(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The tensor in this dtype, its elements in order in memory, and as they are: not a view that only negates them."""
    converted = tensor if tensor.dtype == dtype else tensor.to(dtype)
    contiguous = converted if converted.is_contiguous() else converted.contiguous()
    return contiguous.resolve_neg() if contiguous.is_neg() else contiguous


def common_dtype(tensors: Mapping[str, torch.Tensor]) -> torch.dtype:
    """What PyTorch promotes these dtypes to: whole numbers take the others' dtype.

    Raises ValueError, with the way to a dtype that the kernels compute in, where there is a tensor of another one, and where
    all are whole numbers.
    """
    import torch

    dtypes = {tensor.dtype: dtype_name(tensor) for tensor in tensors.values()}
    floating = [dtype for dtype, name in dtypes.items() if name not in INTEGERS]
    computed = (*DTYPES, *INTEGERS) if floating else ()
    for name, tensor in tensors.items():
        if dtypes[tensor.dtype] not in computed:
            way = "dequantize()" if tensor.is_quantized else "real.float()" if tensor.is_complex() else "float()"
            raise ValueError(f"{tensor.dtype} is not computed here: {', '.join(DTYPES)} are; {name}.{way} gives float32.")
    return functools.reduce(torch.promote_types, floating)


def _unreadable(tensor: torch.Tensor) -> str | None:
    """Why a kernel cannot read the tensor, said after its name; None where it can."""
    import torch

    if tensor.is_nested:
        return "is a nested tensor: a dense one is needed, as torch.nested.to_padded_tensor gives it"
    if tensor.layout != torch.strided:
        return f"has the layout {tensor.layout}: a dense tensor is needed, as to_dense() gives it"
    try:
        missing = tensor.data_ptr() == 0 and tensor.numel() > 0
    except RuntimeError:
        missing = True
    if missing:
        return (
            "has no memory of its own that a kernel could read (a tensor on meta, a fake one, or one inside torch.func.grad, "
            "vmap or jvp): give plain tensors; torch.autograd.grad differentiates"
        )
    if torch.autograd.forward_ad.unpack_dual(tensor).tangent is not None:
        return "carries a tangent, and forward-mode gradients are not computed here: torch.autograd.grad computes backward"
    return None


def _kind(value: Any) -> str:
    """What a value is, for a sentence: "None", "a list", "a numpy.ndarray"."""
    if value is None:
        return "None"
    kind = type(value)
    return f"a {kind.__qualname__}" if kind.__module__ == "builtins" else f"a {kind.__module__}.{kind.__qualname__}"


def adjustments(tensors: Mapping[str, torch.Tensor]) -> list[str]:
    """What `alike` will do to these tensors, a sentence each; nothing for tensors it takes as they are."""
    common = common_dtype(tensors)
    said = []
    for name, tensor in tensors.items():
        if tensor.dtype != common:
            before, after = tensor.numel() * tensor.dtype.itemsize, tensor.numel() * common.itemsize
            changed = f"{name} is {dtype_name(tensor)}: converted to {str(common)[6:]} first, as PyTorch promotes"
            said.append(f"{changed}, {before:,} B to read and {after:,} B to write.")
        if not tensor.is_contiguous():
            size = tensor.numel() * common.itemsize
            said.append(f"{name} has strides {tuple(tensor.stride())}: copied first, {size:,} B more to move each way.")
    return said


def same_shape(**tensors: torch.Tensor) -> None:
    """Raises ValueError, with every shape, unless all are of one shape."""
    if len({tensor.shape for tensor in tensors.values()}) > 1:
        found = ", ".join(f"{name} has {tuple(tensor.shape)}" for name, tensor in tensors.items())
        raise ValueError(f"{found}: one shape is needed; torch.broadcast_tensors gives it where they broadcast.")


def interpreted(kernel: Any) -> bool:
    """Whether this kernel runs in Triton's interpreter."""
    return not isinstance(kernel, triton.JITFunction)


def run(launch: Launch, **tensors: torch.Tensor) -> None:
    """Launches on these tensors, named like the kernel's arguments; an empty grid launches nothing.

    The interpreter computes bfloat16 as garbage (bit patterns added as integers), so there the tensors are float32 copies
    and what is stored is rounded back to bfloat16.

    Raises ValueError for CPU tensors where Triton compiles for a GPU, for a grid that is not launched as it stands, and for
    blocks that Triton does not compile; RuntimeError where there is no Triton.
    """
    import torch

    if not launch.programs:
        return
    if MISSING:
        raise RuntimeError(MISSING)
    if reason := grid_refusal(launch.grid) or _too_long(launch.grid):
        raise ValueError(reason)
    on_cpu = [name for name, tensor in tensors.items() if tensor.device.type == "cpu"]
    slow = interpreted(launch.kernel)
    if on_cpu and not slow:
        name = short(on_cpu[0])
        raise ValueError(f"{name} is on the CPU, and a compiled kernel reads a GPU's memory; .cuda() moves a tensor.")
    given = {name: widened(tensor) if slow else tensor for name, tensor in tensors.items()}
    arguments = {name: given.get(name, value) for name, value in launch.arguments.items()}
    options = {"num_warps": launch.num_warps, "num_stages": launch.num_stages}
    device = next(iter(tensors.values())).device
    with torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext():
        try:
            launch.kernel[launch.grid](**arguments, **resolved(launch.constants), **options)
        except triton.CompilationError as error:
            raise ValueError(f"Triton does not compile this with {_blocks(launch)}: {_reason(error)}.") from error
    for name, tensor in tensors.items():
        if given[name] is not tensor:
            tensor.copy_(given[name])


def _too_long(grid: tuple[int, int, int]) -> str | None:
    """Why a grid is refused for what lies along y or z; None where it is not."""
    for axis, programs in zip("yz", grid[1:], strict=True):
        if programs > MAX_ALONG:
            return f"The grid has {programs:,} programs along {axis}, and a GPU takes {MAX_ALONG:,}; the axis x takes more."
    return None


def _blocks(launch: Launch) -> str:
    """The compile-time numbers of a launch, for a sentence."""
    return ", ".join(f"{name} {value:,}" for name, value in launch.constants.items() if isinstance(value, int))


def _reason(error: BaseException) -> str:
    """Triton's own sentence, without the source that it prints around it."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).strip().split("\n")[-1].removesuffix(".")


def widened(tensor: torch.Tensor) -> torch.Tensor:
    """A bfloat16 tensor as float32; any other as it is."""
    return tensor.float() if dtype_name(tensor) == "bfloat16" else tensor


def resolved(constants: Mapping[str, Any]) -> dict[str, Any]:
    """The compile-time constants as Triton takes them: names of types become the types."""
    return {name: getattr(tl, value) if isinstance(value, TypeName) else value for name, value in constants.items()}
