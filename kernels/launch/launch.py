"""One launch of a kernel, with or without an operator that describes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from .tensor import Descriptor, Tensor


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel: this alone is enough to trace, compile or run it.

    kernel    -- a jit function; see `unwrapped` for one that is autotuned or has heuristics
    grid      -- programs along x, y and z
    arguments -- the run-time arguments in the order of the signature: tensors, descriptors, numbers, None, tuples of them
    constants -- the compile-time ones; a TypeName stands for a type of `triton.language`
    blocks    -- the names of those that are lengths of blocks, where they are known; the two largest make a tile
    """

    kernel: Any
    grid: tuple[int, int, int]
    arguments: Mapping[str, Any]
    constants: Mapping[str, Any]
    num_warps: int = 4
    num_stages: int = 3
    blocks: tuple[str, ...] = ()

    @property
    def programs(self) -> int:
        return prod(self.grid)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """Every tensor among the arguments by name, those of a tuple as `name[0]`."""
        return {name: tensor for given, value in self.arguments.items() for name, tensor in tensors_of(given, value)}

    def with_arguments(self, **arguments: Any) -> Launch:
        """The same launch with other values for some run-time arguments."""
        return replace(self, arguments={**self.arguments, **arguments})

    def with_constants(self, **constants: Any) -> Launch:
        """The same launch with other compile-time constants."""
        return replace(self, constants={**self.constants, **constants})


def short(argument: str) -> str:
    """An argument's name as people read it: without the `_ptr` that many kernels end a pointer's name in."""
    return argument.removesuffix("_ptr")


def tensors_of(name: str, value: Any) -> Iterator[tuple[str, Tensor]]:
    """The tensors within an argument, each with its name."""
    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, Descriptor):
        yield name, value.tensor
    elif isinstance(value, tuple):
        for place, item in enumerate(value):
            yield from tensors_of(f"{name}[{place}]", item)


def unwrapped(launch: Launch) -> tuple[Launch, str]:
    """The launch of the jit function within an autotuned or heuristic kernel, and which configuration was taken, if any.

    An autotuner's first configuration is taken, which without a GPU nobody has tuned; heuristics are asked with the arguments.
    Constants that the launch names itself stay.
    """
    kernel, constants, said = launch.kernel, dict(launch.constants), ""
    options = {"num_warps": launch.num_warps, "num_stages": launch.num_stages}
    while not hasattr(kernel, "rewriter") and not hasattr(kernel, "_pack_args") and hasattr(kernel, "fn"):
        configurations = getattr(kernel, "configs", None)
        if configurations:
            first = configurations[0]
            constants = {**first.kwargs, **constants}
            options = {"num_warps": first.num_warps, "num_stages": first.num_stages}
            said = f"The first of {len(configurations)} configurations is taken, not tuned: {first}."
        for name, rule in (getattr(kernel, "values", None) or {}).items():
            constants.setdefault(name, rule({**launch.arguments, **constants}))
        kernel = kernel.fn
    return replace(launch, kernel=kernel, constants=constants, **options), said
