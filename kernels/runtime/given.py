"""The arguments of a launch as the interpreter takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime.interpreter import TensorHandle

from ..launch import Descriptor, Launch, Tensor
from .memory import VirtualTensor


def given(launch: Launch, memory: Mapping[str, VirtualTensor]) -> dict[str, Any]:
    """The run-time arguments by name, every tensor virtual."""
    return {name: _given(name, value, memory) for name, value in launch.arguments.items()}


def _given(name: str, value: Any, memory: Mapping[str, VirtualTensor]) -> Any:
    """One argument; a float becomes what it is on a GPU, a float32 that has `.to` (the interpreter leaves Python's)."""
    if isinstance(value, Tensor):
        return memory[name]
    if isinstance(value, Descriptor):
        return _descriptor(value, memory[name])
    if isinstance(value, tuple):
        return tuple(_given(f"{name}[{place}]", item, memory) for place, item in enumerate(value))
    if isinstance(value, float):
        return tl.tensor(TensorHandle(np.array([value], np.float32), tl.float32), tl.float32)
    return value


def _descriptor(value: Descriptor, tensor: VirtualTensor) -> Any:
    from triton.tools.tensor_descriptor import TensorDescriptor

    return TensorDescriptor(tensor, list(value.tensor.shape), list(value.tensor.steps), list(value.block_shape))


class LoopVariable(int):
    """The variable of a `for`: on a GPU a tensor, in the interpreter a Python int without `.to`."""

    dtype = tl.int32

    def to(self, dtype: Any, *rest: Any, **options: Any) -> Any:
        """The variable as a tensor of that dtype."""
        return tl.tensor(TensorHandle(np.array([int(self)], np.int32), tl.int32), tl.int32).to(dtype)
