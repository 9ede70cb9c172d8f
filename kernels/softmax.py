"""Softmax over rows: output = exp(x - max(x)) / sum(exp(x - max(x))), one row a program.

Two reductions stand between reading a row and writing it. Unfused, each step goes through DRAM; in one kernel the row is
read once, stays on the chip while its maximum and its sum are found, and is written once.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from . import rows
from .arguments import alike, dtype_name, run
from .gradients import differentiable, through
from .language import tl, triton
from .launch import ITEMSIZE, Filling, Launch, Tensor
from .operator import Expected, Library, Numbers, Operator, Preset, Problem, Step, Tiling, Tolerance, Traffic, cdiv, rounding
from .tilings import chosen

if TYPE_CHECKING:
    import torch


def pytorch(x: "torch.Tensor") -> "torch.Tensor":
    """Five kernels: max, subtract, exp, sum, divide."""
    x_max = x.max(dim=-1, keepdim=True).values
    shifted = x - x_max
    numerator = shifted.exp()
    denominator = numerator.sum(dim=-1, keepdim=True)
    return numerator / denominator


def library(x: "torch.Tensor") -> "torch.Tensor":
    """PyTorch's own fused softmax."""
    import torch

    return torch.softmax(x, -1)


@triton.jit
def softmax_kernel(x_ptr, output_ptr, n_columns, BLOCK_SIZE: tl.constexpr, OFFSET_TYPE: tl.constexpr):
    row = tl.program_id(axis=0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_columns
    offsets = row.to(OFFSET_TYPE) * n_columns + columns
    x = tl.load(x_ptr + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    row_max = tl.max(x, axis=0)
    numerator = tl.exp(x - row_max)
    denominator = tl.sum(numerator, axis=0)
    output = numerator / denominator
    tl.store(output_ptr + offsets, output.to(output_ptr.dtype.element_ty), mask=mask)


@triton.jit
def softmax_loop_kernel(x_ptr, output_ptr, n_columns, BLOCK_SIZE: tl.constexpr, OFFSET_TYPE: tl.constexpr):
    row_start = tl.program_id(axis=0).to(OFFSET_TYPE) * n_columns
    row_max = -float("inf")
    for start in range(0, n_columns, BLOCK_SIZE):
        columns = start + tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + row_start + columns, mask=columns < n_columns, other=-float("inf")).to(tl.float32)
        row_max = tl.maximum(row_max, tl.max(x, axis=0))
    denominator = 0.0
    for start in range(0, n_columns, BLOCK_SIZE):
        columns = start + tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + row_start + columns, mask=columns < n_columns, other=-float("inf")).to(tl.float32)
        denominator += tl.sum(tl.exp(x - row_max), axis=0)
    for start in range(0, n_columns, BLOCK_SIZE):
        columns = start + tl.arange(0, BLOCK_SIZE)
        mask = columns < n_columns
        x = tl.load(x_ptr + row_start + columns, mask=mask, other=-float("inf")).to(tl.float32)
        output = tl.exp(x - row_max) / denominator
        tl.store(output_ptr + row_start + columns, output.to(output_ptr.dtype.element_ty), mask=mask)


def plan(problem: Problem, tiling: Tiling, divide: Callable[[int, int], int] = cdiv) -> Launch:
    """The row in one block where it fits, else the loop."""
    shape = (problem["rows"], problem["columns"])
    return Launch(
        kernel=softmax_kernel if rows.in_one_block(problem, tiling) else softmax_loop_kernel,
        grid=(*rows.grid(problem, tiling.blocks, divide), 1, 1),
        arguments={
            "x_ptr": Tensor(shape, problem.dtype, Filling(0)),
            "output_ptr": Tensor(shape, problem.dtype),
            "n_columns": problem["columns"],
        },
        constants=rows.constants(problem, tiling),
        num_warps=tiling.num_warps,
        num_stages=tiling.num_stages,
    )


@differentiable(through(library))
def softmax(x: "torch.Tensor", tiling: Tiling | None = None) -> "torch.Tensor":
    """Softmax over the last dimension of a tensor of any rank. Differentiable: the backward pass is PyTorch's own softmax's.

    Raises ValueError for a dtype that is not computed here, and for an illegal tiling.
    """
    import torch

    (x,) = alike(x=x)
    output = torch.empty_like(x)
    matrix = rows.as_matrix(x)
    problem = Problem(Numbers(rows=matrix.shape[0], columns=matrix.shape[1]), dtype_name(x))
    launch = plan(problem, chosen(tiling, rows.tiling(problem), rows.BLOCKS))
    run(launch, x_ptr=matrix, output_ptr=rows.as_matrix(output))
    return output


def accesses(problem: Problem, tiling: Tiling, program: tuple[int, int, int]) -> Iterator[Expected]:
    """One load and one store of the row; in the loop two passes that only load come first."""
    if not rows.in_one_block(problem, tiling):
        for _ in range(2):
            for columns in rows.turns(problem, tiling):
                yield rows.access("load", "x_ptr", problem, program[0], columns)
    for columns in rows.turns(problem, tiling):
        yield rows.access("load", "x_ptr", problem, program[0], columns)
        yield rows.access("store", "output_ptr", problem, program[0], columns)


def feeds(problem: Problem, tiling: Tiling, output: str, element: int) -> dict[str, Any]:
    """Through the maximum and the sum, every element of its row."""
    return {"x_ptr": rows.row_of(problem, element)}


def traffic(problem: Problem, tiling: Tiling) -> Traffic:
    """The matrix read once and written once."""
    matrix = problem["rows"] * problem["columns"] * ITEMSIZE[problem.dtype]
    operations = 5 * problem["rows"] * problem["columns"]
    return Traffic(fused=(Step("softmax_kernel", matrix, matrix),), operations=operations)


def tolerance(problem: Problem) -> Tolerance:
    """Outputs are below 1 and carry the rounding of exp and of a float32 sum of the row."""
    return rounding(problem.dtype, terms=16)


OPERATOR = Operator(
    name="softmax",
    title="Softmax",
    lesson=3,
    idea="Every program holds one row: finds its maximum, its sum, and writes it back.",
    formula="output = exp(x - max(x)) / sum(exp(x - max(x)))",
    sizes=rows.SIZES,
    blocks=rows.BLOCKS,
    plan=plan,
    tiling=rows.tiling,
    story=rows.story,
    axes=rows.axes,
    owner=rows.owner,
    accesses=accesses,
    feeds=feeds,
    grid=rows.grid,
    wrapper=softmax,
    pytorch=pytorch,
    expression="torch.softmax(x, -1)",
    fold=("numerator", "row_max", "denominator", "output"),
    traffic=traffic,
    tolerance=tolerance,
    library=Library("torch.softmax", library),
    measured=Numbers(rows=16384, columns=8192),
    rowwise=True,
    presets=(
        Preset("Six rows", "Six rows, six programs: at most six multiprocessors work.", *rows.preset(6, 5)),
        Preset(
            "In turns",
            "A block shorter than the row: the kernel loops, three passes over the row.",
            *rows.preset(4, 20, 8),
        ),
        Preset("Padded", "781 columns padded to 1024: 243 lanes of every program are masked.", *rows.preset(1823, 781)),
        Preset("Long rows", "131,072 columns do not fit in registers: 32 turns of 4096.", *rows.preset(64, 131072)),
    ),
)
