"""RMSNorm: output = x * rsqrt(mean(x^2) + eps) * weight over rows, one row a program.

The note's four steps are six PyTorch kernels that move the matrix seven times. One kernel reads it once and writes it once. Its
backward pass is the operator of kernels/rms_norm_backward.py.
"""

from collections.abc import Callable, Iterator
from math import inf
from numbers import Real
from typing import TYPE_CHECKING, Any

from . import rows
from .arguments import alike, dtype_name, run
from .gradients import differentiable
from .language import tl, triton
from .launch import ITEMSIZE, Filling, Launch, Tensor
from .numerics import lost_beside_one, overflowing_squares, vanishing
from .operator import (
    Expected,
    Library,
    Numbers,
    Operator,
    Parameter,
    Preset,
    Problem,
    Remark,
    Step,
    Tiling,
    Tolerance,
    Traffic,
    cdiv,
    rounding,
)
from .tilings import chosen

if TYPE_CHECKING:
    import torch

EPS = 1e-6
LARGEST_EPS = (2 - 2**-23) * 2.0**127  # float32's largest number: the kernel takes eps in float32
EPSILON = Parameter("eps", "Added to the mean of the squares, inside the root: it keeps a row of zeros finite.", EPS, 0.0, 1.0)
WEIGHT = Filling(stream=1, mean=1.0, scale=0.1)


def pytorch(x: "torch.Tensor", weight: "torch.Tensor", eps: float = EPS) -> "torch.Tensor":
    """The note's four steps."""
    import torch

    squares = x.pow(2)
    mean = squares.mean(-1, keepdim=True)
    r = torch.rsqrt(mean + eps)
    return x * r * weight


def library(x: "torch.Tensor", weight: "torch.Tensor", eps: float = EPS) -> "torch.Tensor":
    """PyTorch's own RMSNorm, one fused operation."""
    from torch.nn import functional

    return functional.rms_norm(x, x.shape[-1:], weight, eps)


@triton.jit
def rms_norm_kernel(x_ptr, weight_ptr, output_ptr, n_columns, eps, BLOCK_SIZE: tl.constexpr, OFFSET_TYPE: tl.constexpr):
    row = tl.program_id(axis=0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_columns
    offsets = row.to(OFFSET_TYPE) * n_columns + columns
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    squares = x * x
    mean = tl.sum(squares, axis=0) / n_columns
    r = tl.rsqrt(mean + eps)
    output = x * r * weight
    tl.store(output_ptr + offsets, output.to(output_ptr.dtype.element_ty), mask=mask)


@triton.jit
def rms_norm_loop_kernel(x_ptr, weight_ptr, output_ptr, n_columns, eps, BLOCK_SIZE: tl.constexpr, OFFSET_TYPE: tl.constexpr):
    row_start = tl.program_id(axis=0).to(OFFSET_TYPE) * n_columns
    total = 0.0
    for start in range(0, n_columns, BLOCK_SIZE):
        columns = start + tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + row_start + columns, mask=columns < n_columns, other=0.0).to(tl.float32)
        total += tl.sum(x * x, axis=0)
    r = tl.rsqrt(total / n_columns + eps)
    for start in range(0, n_columns, BLOCK_SIZE):
        columns = start + tl.arange(0, BLOCK_SIZE)
        mask = columns < n_columns
        x = tl.load(x_ptr + row_start + columns, mask=mask, other=0.0).to(tl.float32)
        weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
        output = x * r * weight
        tl.store(output_ptr + row_start + columns, output.to(output_ptr.dtype.element_ty), mask=mask)


def plan(problem: Problem, tiling: Tiling, divide: Callable[[int, int], int] = cdiv) -> Launch:
    """The row in one block where it fits, else the loop."""
    shape = (problem["rows"], problem["columns"])
    return Launch(
        kernel=rms_norm_kernel if rows.in_one_block(problem, tiling) else rms_norm_loop_kernel,
        grid=(*rows.grid(problem, tiling.blocks, divide), 1, 1),
        arguments={
            "x_ptr": Tensor(shape, problem.dtype, Filling(0)),
            "weight_ptr": Tensor(shape[1:], problem.dtype, WEIGHT),
            "output_ptr": Tensor(shape, problem.dtype),
            "n_columns": problem["columns"],
            "eps": problem.parameters.get("eps", EPS),
        },
        constants=rows.constants(problem, tiling),
        num_warps=tiling.num_warps,
        num_stages=tiling.num_stages,
    )


def gradients(
    grad_outputs: tuple["torch.Tensor", ...],
    tensors: tuple["torch.Tensor", ...],
    wanted: tuple[bool, ...],
    eps: float,
    tiling: Tiling | None,
) -> tuple["torch.Tensor", "torch.Tensor"]:
    """The backward pass by the kernel of kernels/rms_norm_backward.py, with the blocks and the warps of the forward pass."""
    from .rms_norm_backward import alike_tiling, rms_norm_backward

    return rms_norm_backward(*grad_outputs, *tensors, eps, tiling and alike_tiling(tiling))


@differentiable(gradients)
def rms_norm(x: "torch.Tensor", weight: "torch.Tensor", eps: float = EPS, tiling: Tiling | None = None) -> "torch.Tensor":
    """RMSNorm over the last dimension of x, of any rank but 0; weight has that dimension's length.

    Differentiable: the backward pass is a kernel as well, which takes its block and its warps from `tiling`. Raises ValueError
    for a weight of another length, different devices, dtypes that are not computed here, a negative or infinite eps and an
    illegal tiling.
    """
    import torch

    x, weight = alike(x=x, weight=weight)
    rows.weighted(x, weight)
    output = torch.empty_like(x)
    matrix = rows.as_matrix(x)
    problem = Problem(Numbers(rows=matrix.shape[0], columns=matrix.shape[1]), dtype_name(x))
    launch = plan(problem, chosen(tiling, rows.tiling(problem), rows.BLOCKS)).with_arguments(eps=epsilon(eps))
    run(launch, x_ptr=matrix, weight_ptr=weight, output_ptr=rows.as_matrix(output))
    return output


def epsilon(eps: float) -> float:
    """eps in Python's float. Raises TypeError for what is no number, ValueError for one that is negative or past float32."""
    if isinstance(eps, bool) or not isinstance(eps, Real):
        raise TypeError(f"eps is {eps!r:.40}: a number is needed, {EPS} for one.")
    try:
        value = float(eps)
    except OverflowError:
        value = inf if eps > 0 else -inf
    if not 0 <= value <= LARGEST_EPS:
        nearest = LARGEST_EPS if value > 0 else 0 if value < 0 else EPS
        raise ValueError(f"eps is {value:g}: a number from 0 to {LARGEST_EPS:g} is needed; the nearest is {nearest:g}.")
    return value


def accesses(problem: Problem, tiling: Tiling, program: tuple[int, int, int]) -> Iterator[Expected]:
    """x, weight and output of the row; in the loop a pass over x comes first."""
    if not rows.in_one_block(problem, tiling):
        for columns in rows.turns(problem, tiling):
            yield rows.access("load", "x_ptr", problem, program[0], columns)
    for columns in rows.turns(problem, tiling):
        yield rows.access("load", "x_ptr", problem, program[0], columns)
        yield rows.access("load", "weight_ptr", problem, 0, columns)
        yield rows.access("store", "output_ptr", problem, program[0], columns)


def feeds(problem: Problem, tiling: Tiling, output: str, element: int) -> dict[str, Any]:
    """Through the mean, every element of its row; of the weight, its column's."""
    return {"x_ptr": rows.row_of(problem, element), "weight_ptr": [element % problem["columns"]]}


def traffic(problem: Problem, tiling: Tiling) -> Traffic:
    """Two passes over the matrix, where PyTorch's six kernels make seven."""
    itemsize = ITEMSIZE[problem.dtype]
    matrix, _, row = (itemsize * count for count in rows.counts(problem))
    operations = 4 * problem["rows"] * problem["columns"]
    return Traffic(fused=(Step("rms_norm_kernel", matrix + row, matrix),), operations=operations)


def remarks(problem: Problem) -> list[Remark]:
    """Squares that overflow, an eps that vanishes, a weight that is kept less 1."""
    eps = problem.parameters.get("eps", EPS)
    dtype = problem.dtype
    return [*vanishing("eps", eps, dtype), *overflowing_squares(dtype), *lost_beside_one(dtype)]


def tolerance(problem: Problem) -> Tolerance:
    """A mean of squares is accurate to a few roundings whatever its length; two multiplications follow."""
    return rounding(problem.dtype, terms=16)


OPERATOR = Operator(
    name="rms_norm",
    title="RMSNorm",
    lesson=4,
    idea="Every program holds one row: squares, mean, one reciprocal root, and out.",
    formula="output = x * rsqrt(mean(x^2) + eps) * weight",
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
    wrapper=rms_norm,
    pytorch=pytorch,
    expression="x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + {eps}) * weight",
    parameters=(EPSILON,),
    remarks=remarks,
    fold=("squares", "mean", "r", "output"),
    traffic=traffic,
    tolerance=tolerance,
    library=Library("F.rms_norm", library),
    backward="rms_norm_backward",
    measured=Numbers(rows=16384, columns=8192),
    rowwise=True,
    presets=(
        Preset("Six rows", "The note's example: `(6,)` is six programs, one a row; not six GPUs.", *rows.preset(6, 5)),
        Preset("In turns", "A block shorter than the row: the kernel loops over it twice.", *rows.preset(4, 20, 8)),
        Preset("The note's size", "16,384 rows of 8192: seven passes over 537 MB become two.", *rows.preset(16384, 8192)),
        Preset("Past int32", "Offsets past 2^31 - 1: the kernel is given int64.", *rows.preset(300_000, 8192), "bfloat16"),
    ),
)
