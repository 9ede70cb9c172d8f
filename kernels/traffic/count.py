"""The steps of an operator's PyTorch version, counted from what PyTorch dispatches for tensors without memory.

Needs torch, so it runs in a worker. On the meta device every operation works out shapes and strides and computes nothing:
2^40 elements take as long as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ..launch import short
from ..operator import Step
from ..runtime.launch import laid_out
from ..runtime.request import Request, first_input
from .steps import Counted

# Schemas say that these write their argument, and of no operation whether it reads what was there before.
OVERWRITES = ("copy_", "fill_", "zero_")
UNTOUCHED = ("empty", "new_empty")  # memory is reserved, no kernel runs


def counted(request: Request) -> Counted:
    """The steps of one call of the operator's `pytorch`; raises what PyTorch raises, and ValueError where there is none."""
    operator = request.description
    if operator.pytorch is None:
        raise ValueError(f"{operator.title} has no PyTorch version, so there is nothing to count.")
    inputs = _inputs(request)
    return steps_of(lambda: operator.pytorch(**inputs, **operator.values(request.problem)))


def steps_of(call: Callable[[], Any]) -> Counted:
    """The steps of a call, one for every dispatched operation that launches a kernel, in order."""
    with _Counter() as counter:
        call()
    return Counted(tuple(counter.forward), tuple(counter.backward))


def _inputs(request: Request) -> Mapping[str, torch.Tensor]:
    """The inputs of the wrapper on the meta device, the first laid out in memory as the request wants it."""
    launch = request.launch()
    first = first_input(launch)
    return {
        short(name): laid_out(
            torch.empty(tensor.shape, dtype=getattr(torch, tensor.dtype), device="meta"),
            request.layout if name == first else "contiguous",
        )
        for name, tensor in launch.tensors.items()
        if tensor.filling is not None
    }


class _Counter(TorchDispatchMode):
    """Notes a step for every operation, apart for those that autograd's engine runs."""

    def __init__(self) -> None:
        super().__init__()
        self.forward: list[Step] = []
        self.backward: list[Step] = []

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = operation(*args, **(kwargs or {}))
        given, made = list(_tensors((args, kwargs or {}))), list(_tensors(result))
        if _launches(operation, given, made):
            phase = self.forward if torch._C._current_graph_task_id() == -1 else self.backward
            phase.append(_step(operation, args, kwargs or {}, made))
        return result


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """The tensors with memory of the device's; a number that PyTorch wrapped into a tensor lies on the CPU."""
    return (leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor) and leaf.device.type == "meta")


def _launches(operation: Any, given: list[torch.Tensor], made: list[torch.Tensor]) -> bool:
    """Whether a kernel runs: not for a view, whose memory is an input's that is not written, nor for memory left as it is."""
    if operation._schema.is_mutable:
        return True
    ours = {_storage(tensor) for tensor in given}
    return any(_storage(tensor) not in ours for tensor in made) and not _name(operation).startswith(UNTOUCHED)


def _step(operation: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], made: list[torch.Tensor]) -> Step:
    """What an operation reads and writes, every element once; where it has no element to write it moves nothing."""
    read: list[torch.Tensor] = []
    written = list(made)
    shape_alone = _name(operation).startswith("new_") or _name(operation).endswith("_like")
    for argument, value in _arguments(operation, args, kwargs):
        writes = argument.alias_info is not None and argument.alias_info.is_write
        overwritten = writes and (argument.is_out or _name(operation) in OVERWRITES)
        written += _tensors(value) if writes else ()
        read += () if overwritten or shape_alone else _tensors(value)
    if not any(tensor.numel() for tensor in written):
        return Step(_name(operation), 0, 0)
    return Step(_name(operation), _bytes(read), _bytes(written))


def _arguments(operation: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Every argument that was given, with what the schema says of it."""
    for place, argument in enumerate(operation._schema.arguments):
        if place < len(args):
            yield argument, args[place]
        elif argument.name in kwargs:
            yield argument, kwargs[argument.name]


def _bytes(tensors: list[torch.Tensor]) -> int:
    """The bytes of all distinct elements: a dimension that is expanded counts once, and so does what is given twice."""
    distinct = {_place(tensor): _elements(tensor) * tensor.element_size() for tensor in tensors}
    return sum(distinct.values())


def _place(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Where the elements of a tensor lie, whatever the order of its dimensions."""
    dimensions = sorted(
        (stride, size) for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if size > 1 and stride
    )
    return _storage(tensor), tensor.storage_offset(), tuple(dimensions)


def _elements(tensor: torch.Tensor) -> int:
    """How many elements of memory a tensor has; those of windows that overlap are at most what lies between first and last."""
    if not tensor.numel():
        return 0
    pairs = [(size, stride) for size, stride in zip(tensor.shape, tensor.stride(), strict=True) if stride]
    count, reach = 1, 1
    for size, stride in pairs:
        count *= size
        reach += (size - 1) * stride
    return min(count, reach)


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def _name(operation: Any) -> str:
    """The name as people write it: "pow" of aten.pow.Tensor_Scalar."""
    return operation._schema.name.split("::")[-1]
