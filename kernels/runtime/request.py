"""What a person asks for, as one plain value: it travels to workers, into URLs and through caches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from .. import find
from ..launch import Filling, Launch, Tensor, TypeName
from ..operator import Numbers, Operator, Problem, Tiling, cdiv, floordiv
from .records import WhatIf

LAYOUTS = {
    "contiguous": "one element after the other",
    "strided": "every second element of a longer tensor, x[::2]",
    "transposed": "a transposed view, x.t()",
    "broadcast": "one element or row seen many times, x.expand(...)",
}

WHAT_IFS = {
    "no_mask": "no mask: every lane loads and stores",
    "floor_grid": "the grid rounded down instead of up",
    "other": "another value for masked lanes",
    "stride": "a view of stride 2 given without a copy",
    "int32": "offsets in 32 bits",
}


@dataclass(frozen=True)
class Request:
    """An operator, its sizes and blocks, the seed of its inputs, how the first input lies in memory, and one what-if.

    `other` is what the what-if of that name gives masked lanes.
    """

    operator: str
    problem: Problem
    tiling: Tiling
    seed: int = 0
    layout: str = "contiguous"
    what_if: str = ""
    other: float = 1.0

    @property
    def description(self) -> Operator:
        return find(self.operator)

    @property
    def divide(self) -> Callable[[int, int], int]:
        """How the grid is rounded."""
        return floordiv if self.what_if == "floor_grid" else cdiv

    def launch(self) -> Launch:
        """The launch, with what the what-if changes of it and the values that the layout leaves."""
        operator = self.description
        launch = replace(operator.plan(self.problem, self.tiling, self.divide), blocks=operator.extents)
        if self.what_if == "int32":
            launch = launch.with_constants(OFFSET_TYPE=TypeName("int32"))
        return _broadcast(launch) if self.layout == "broadcast" else launch

    def changes(self) -> WhatIf:
        """What the what-if changes of the trace."""
        return WhatIf(
            no_mask=self.what_if == "no_mask",
            other=self.other if self.what_if == "other" else None,
            stride=2 if self.what_if == "stride" else 1,
        )

    def without_change(self) -> Request:
        """The same without its what-if: what is really launched."""
        return replace(self, what_if="", other=1.0)

    def with_blocks(self, **blocks: int) -> Request:
        """The same with other block sizes."""
        return replace(self, tiling=replace(self.tiling, blocks=Numbers(self.tiling.blocks, blocks)))


def _broadcast(launch: Launch) -> Launch:
    """The first input repeats its first row, or of a vector its first element."""
    name, tensor = next(iter(launch.tensors.items()))
    assert isinstance(tensor.filling, Filling)
    period = tensor.shape[-1] if len(tensor.shape) > 1 else 1
    repeated = Tensor(tensor.shape, tensor.dtype, replace(tensor.filling, period=period))
    return replace(launch, arguments={**launch.arguments, name: repeated})


def first_input(launch: Launch) -> str:
    """The name of the first input tensor."""
    return next(name for name, tensor in launch.tensors.items() if tensor.filling is not None)


def is_of_vectors(operator: Operator) -> bool:
    """Whether the operator's first input is a vector: it has no transpose, and one stride."""
    start = operator.start
    problem = Problem(start.sizes, start.dtype)
    tensors = operator.plan(problem, operator.tiling(problem)).tensors.values()
    first = next((tensor for tensor in tensors if not tensor.is_output), None)
    return first is not None and len(first.shape) == 1


def possible_layouts(operator: Operator) -> tuple[str, ...]:
    """The layouts that the operator's first input can have: a vector has no transpose."""
    if operator.wrapper is None:  # the kernel itself is launched, and strides are part of its launch
        return tuple(LAYOUTS)[:1]
    return tuple(name for name in LAYOUTS if name != "transposed" or not is_of_vectors(operator))


def known_what_ifs(operator: Operator) -> tuple[str, ...]:
    """The what-ifs that the operator can have, at some sizes: a stride is that of a vector, a matrix has two."""
    return tuple(name for name in WHAT_IFS if name != "stride" or is_of_vectors(operator))


def possible_what_ifs(request: Request) -> tuple[str, ...]:
    """The what-ifs that change something for this operator and these sizes."""
    plain = request.without_change()
    launch = plain.launch()
    found = ["no_mask"]
    if replace(plain, what_if="floor_grid").launch().grid != launch.grid:
        found.append("floor_grid")
    found.append("other")
    if is_of_vectors(request.description):
        found.append("stride")
    if launch.constants.get("OFFSET_TYPE") == "int64":
        found.append("int32")
    return tuple(found)
