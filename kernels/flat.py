"""What elementwise kernels over a flat vector share: one program a block, the same offsets and mask for every access."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .launch import ITEMSIZE, Filling, Launch, Tensor
from .operator import Axis, Expected, Numbers, Problem, Size, Tiling, Tolerance, cdiv, offset_type, rounding

SIZES = (Size("n_elements", "How many elements each vector has.", default=7),)
BLOCKS = (Size("BLOCK_SIZE", "How many elements one program works on; known when the kernel is compiled.", default=1024),)


def grid(problem: Problem, meta: Mapping[str, int], divide: Callable[[int, int], int] = cdiv) -> tuple[int]:
    """One program for every block of BLOCK_SIZE elements, the last block perhaps ragged."""
    return (divide(problem["n_elements"], meta["BLOCK_SIZE"]),)


def tiling(problem: Problem) -> Tiling:
    """1024 elements a program: 8 a thread of 4 warps, two 16-byte loads in float32."""
    return Tiling(Numbers(BLOCK_SIZE=1024), num_warps=4)


def plan_with(kernel: Any, inputs: tuple[str, ...]) -> Callable[..., Launch]:
    """The launch rule for a kernel of this kind with these inputs and the output `output_ptr`."""

    def plan(problem: Problem, tiling: Tiling, divide: Callable[[int, int], int] = cdiv) -> Launch:
        shape, block = (problem["n_elements"],), tiling["BLOCK_SIZE"]
        programs = grid(problem, tiling.blocks, divide)[0]
        vectors = {name: Tensor(shape, problem.dtype, Filling(stream)) for stream, name in enumerate(inputs)}
        return Launch(
            kernel=kernel,
            grid=(programs, 1, 1),
            arguments={**vectors, "output_ptr": Tensor(shape, problem.dtype), "n_elements": problem["n_elements"]},
            constants={"BLOCK_SIZE": block, "OFFSET_TYPE": offset_type(programs * block - 1)},
            num_warps=tiling.num_warps,
            num_stages=tiling.num_stages,
        )

    return plan


def accesses_of(inputs: tuple[str, ...]) -> Callable[..., Iterator[Expected]]:
    """The closed form: program p holds offsets p * BLOCK_SIZE and on, live below n_elements."""

    def accesses(problem: Problem, tiling: Tiling, program: tuple[int, int, int]) -> Iterator[Expected]:
        offsets = program[0] * tiling["BLOCK_SIZE"] + np.arange(tiling["BLOCK_SIZE"], dtype=np.int64)
        mask = offsets < problem["n_elements"]
        for name in inputs:
            yield Expected("load", name, offsets, mask)
        yield Expected("store", "output_ptr", offsets, mask)

    return accesses


def axes(problem: Problem, tiling: Tiling, divide: Callable[[int, int], int] = cdiv) -> tuple[Axis, ...]:
    """One axis: the blocks of the vector."""
    return (Axis.over(problem["n_elements"], tiling["BLOCK_SIZE"], divide),)


def owner(problem: Problem, tiling: Tiling, argument: str, element: Any) -> Any:
    """The program whose block holds the element."""
    return element // tiling["BLOCK_SIZE"]


def feeds_from(inputs: tuple[str, ...]) -> Callable[..., dict[str, list[int]]]:
    """Element i of the output depends on element i of every input."""

    def feeds(problem: Problem, tiling: Tiling, output: str, element: int) -> dict[str, list[int]]:
        return {name: [element] for name in inputs}

    return feeds


def story(problem: Problem, tiling: Tiling) -> str:
    """The launch in one sentence, numbers between `**`."""
    axis, count = axes(problem, tiling)[0], problem["n_elements"]
    elements = f"**{count:,}** element{'' if count == 1 else 's'}"
    if not axis.programs:
        return f"{elements}: **0** programs, nothing to launch."
    made = f"{elements} in blocks of **{axis.lanes:,}** make{'s' if count == 1 else ''} **{axis.programs:,}** program"
    if axis.last == axis.lanes:
        return f"{made}{'s' if axis.programs > 1 else ''}. Every lane has an element."
    which = f"s. Program {axis.programs - 1:,}" if axis.programs > 1 else ". It"
    return f"{made}{which} uses **{axis.last:,}** of its {axis.lanes:,} lanes."


def vector_bytes(problem: Problem) -> int:
    """One vector, in bytes."""
    return problem["n_elements"] * ITEMSIZE[problem.dtype]


def preset(n_elements: int, block_size: int) -> tuple[Numbers, Numbers]:
    """Sizes and blocks of an example."""
    return Numbers(n_elements=n_elements), Numbers(BLOCK_SIZE=block_size)


def tolerance(problem: Problem) -> Tolerance:
    """Rounding of a few operations."""
    return rounding(problem.dtype, terms=4)
