"""What kernels over the rows of a matrix share: one program a row, in one block where BLOCK_SIZE holds the row, else a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .operator import (
    MAX_LOOPED,
    Axis,
    Expected,
    Numbers,
    Problem,
    Size,
    Tiling,
    cdiv,
    next_power_of_2,
    offset_type,
)

if TYPE_CHECKING:
    import torch

SIZES = (
    Size("rows", "How many rows the matrix has: one program works on each.", default=6),
    Size("columns", "How many elements a row has.", default=5, maximum=MAX_LOOPED),
)
BLOCKS = (Size("BLOCK_SIZE", "Lanes of a program: a power of two; a shorter block than the row makes a loop.", default=1024),)

# A row in one block keeps it in registers; past this it spills (H200, Triton 3.6: 65,536 float32 columns in one block ran at
# 0.78 TB/s, slower than unfused), so longer rows are read in turns of a loop.
LONGEST_BLOCK = 16384
LOOP_BLOCK = 4096


def block_size(columns: int) -> int:
    """The rule: the row padded to a power of two, or a block of 4096 in a loop where that would not fit in registers."""
    padded = next_power_of_2(columns)
    return padded if padded <= LONGEST_BLOCK else LOOP_BLOCK


def tiling(problem: Problem) -> Tiling:
    """The rule's block, and a warp for every 512 lanes, from 4 to 16."""
    block = block_size(problem["columns"])
    return Tiling(Numbers(BLOCK_SIZE=block), num_warps=min(max(block // 512, 4), 16))


def in_one_block(problem: Problem, tiling: Tiling) -> bool:
    """Whether a program holds its whole row at once."""
    return tiling["BLOCK_SIZE"] >= problem["columns"]


def grid(problem: Problem, meta: Mapping[str, int], divide: Callable[[int, int], int] = cdiv) -> tuple[int]:
    """One program a row; a matrix without columns has nothing to compute."""
    return (problem["rows"] if problem["columns"] else 0,)


def constants(problem: Problem, tiling: Tiling) -> dict[str, int | str]:
    """The block, and the offset type that holds the last offset of the last row, masked lanes included."""
    block = tiling["BLOCK_SIZE"]
    padded = cdiv(problem["columns"], block) * block
    return {
        "BLOCK_SIZE": block,
        "OFFSET_TYPE": offset_type(max(problem["rows"] - 1, 0) * problem["columns"] + padded - 1),
    }


def turns(problem: Problem, tiling: Tiling) -> Iterator[np.ndarray]:
    """The columns of each turn of a loop over a row, masked ones included."""
    block = tiling["BLOCK_SIZE"]
    for start in range(0, problem["columns"], block):
        yield start + np.arange(block, dtype=np.int64)


def axes(problem: Problem, tiling: Tiling, divide: Callable[[int, int], int] = cdiv) -> tuple[Axis, ...]:
    """Programs down the rows; along a row every program has the same live lanes."""
    columns, block = problem["columns"], tiling["BLOCK_SIZE"]
    rows = grid(problem, tiling.blocks, divide)[0]
    lanes = cdiv(columns, block) * block
    return (Axis(rows, lanes, columns, columns if rows else 0),)


def access(kind: str, argument: str, problem: Problem, row: int, columns: np.ndarray) -> Expected:
    """A load or store of some columns of a row."""
    return Expected(kind, argument, row * problem["columns"] + columns, columns < problem["columns"])


def owner(problem: Problem, tiling: Tiling, argument: str, element: Any) -> Any:
    """The program of the element's row; the weight is read by all, first by program 0."""
    return element * 0 if argument == "weight_ptr" else element // problem["columns"]


def row_of(problem: Problem, element: int) -> np.ndarray:
    """Every element of the row that holds this one."""
    start = element // problem["columns"] * problem["columns"]
    return np.arange(start, start + problem["columns"])


def as_matrix(tensor: torch.Tensor) -> torch.Tensor:
    """A contiguous tensor of any rank as rows of its last dimension; a single number is one row of one column."""
    if tensor.dim() == 0:
        return tensor.view(1, 1)
    return tensor.view(prod(tensor.shape[:-1]), tensor.shape[-1])


def weighted(x: torch.Tensor, weight: torch.Tensor) -> None:
    """Raises ValueError, with the shapes, unless x has rows and the weight has the length of one."""
    if x.dim() == 0:
        raise ValueError("x has (), which is no row: at least one dimension is needed; x.reshape(1) has one.")
    if weight.shape != x.shape[-1:]:
        raise ValueError(f"weight has {tuple(weight.shape)} and a row of x has {tuple(x.shape[-1:])}: one length is needed.")


def counts(problem: Problem) -> tuple[int, int, int]:
    """Elements of the matrix, of a column and of a row; a matrix without elements has no kernels to count."""
    if not problem["rows"] or not problem["columns"]:
        return 0, 0, 0
    return problem["rows"] * problem["columns"], problem["rows"], problem["columns"]


def story(problem: Problem, tiling: Tiling) -> str:
    """The launch in one sentence, numbers between `**`."""
    rows, columns, block = problem["rows"], problem["columns"], tiling["BLOCK_SIZE"]
    if not rows or not columns:
        return f"**{rows:,}** rows of **{columns:,}** columns: **0** programs, nothing to launch."
    one = rows == 1
    many = f"**{rows:,}** rows of **{columns:,}** make **{rows:,}** programs, one a row. "
    made = f"**1** row of **{columns:,}** makes **1** program. " if one else many
    if not in_one_block(problem, tiling):
        count = cdiv(columns, block)
        return made + f"Each reads its row in **{count:,}** turns of {block:,} lanes."
    if columns == block:
        return made + f"Each of its {block:,} lanes has a column."
    return made + f"Each uses **{columns:,}** of its {block:,} lanes."


def preset(rows: int, columns: int, block: int = 0) -> tuple[Numbers, Numbers]:
    """Sizes and blocks of an example; without a block the rule chooses."""
    return Numbers(rows=rows, columns=columns), Numbers(BLOCK_SIZE=block or block_size(columns))
