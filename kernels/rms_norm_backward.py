"""RMSNorm backward: the gradients of x, row by row, and of the weight, a sum over all rows.

Every program takes every PROGRAMS-th row, so that it can add up its part of the weight's gradient on the chip; one reduction
over the programs' parts finishes it. Autograd through the note's four steps launches 14 kernels instead.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import rows
from .arguments import alike, dtype_name, run, same_shape
from .gradients import differentiable, through
from .language import tl, triton
from .launch import ITEMSIZE, Filling, Launch, Tensor
from .operator import Axis, Expected, Numbers, Operator, Preset, Problem, Size, Step, Tiling, Tolerance, Traffic, cdiv, rounding
from .rms_norm import EPS, EPSILON, WEIGHT, epsilon, remarks
from .rms_norm import pytorch as four_steps
from .tilings import chosen

if TYPE_CHECKING:
    import torch

PROGRAMS = 256
BLOCKS = (
    *rows.BLOCKS,
    Size(
        "PROGRAMS", "At most this many programs share the rows; each keeps one partial sum.", PROGRAMS, 2**16, 1, extent=False
    ),
)


def pytorch(
    grad_output: "torch.Tensor", x: "torch.Tensor", weight: "torch.Tensor", eps: float = EPS
) -> tuple["torch.Tensor", "torch.Tensor"]:
    """Autograd through the note's four steps."""
    import torch

    x, weight = x.detach().requires_grad_(), weight.detach().requires_grad_()
    return torch.autograd.grad(four_steps(x, weight, eps), (x, weight), grad_output)


@triton.jit
def rms_norm_backward_kernel(
    grad_output_ptr, x_ptr, weight_ptr, grad_x_ptr, partial_ptr, n_rows, n_columns, eps,
    BLOCK_SIZE: tl.constexpr, OFFSET_TYPE: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(axis=0)
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_columns
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    grad_weight = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
    for row in range(program, n_rows, tl.num_programs(axis=0)):
        offsets = tl.cast(row, OFFSET_TYPE) * n_columns + columns
        grad_output = tl.load(grad_output_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        r = tl.rsqrt(tl.sum(x * x, axis=0) / n_columns + eps)
        weighted = grad_output * weight
        projection = tl.sum(weighted * x, axis=0) * r * r / n_columns
        grad_x = (weighted - x * projection) * r
        tl.store(grad_x_ptr + offsets, grad_x.to(grad_x_ptr.dtype.element_ty), mask=mask)
        grad_weight += grad_output * x * r
    tl.store(partial_ptr + tl.cast(program, OFFSET_TYPE) * n_columns + columns, grad_weight, mask=mask)


@triton.jit
def rms_norm_backward_loop_kernel(
    grad_output_ptr, x_ptr, weight_ptr, grad_x_ptr, partial_ptr, n_rows, n_columns, eps,
    BLOCK_SIZE: tl.constexpr, OFFSET_TYPE: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(axis=0)
    partial_start = tl.cast(program, OFFSET_TYPE) * n_columns
    for row in range(program, n_rows, tl.num_programs(axis=0)):
        row_start = tl.cast(row, OFFSET_TYPE) * n_columns
        total = 0.0
        product = 0.0
        for start in range(0, n_columns, BLOCK_SIZE):
            columns = start + tl.arange(0, BLOCK_SIZE)
            mask = columns < n_columns
            grad_output = tl.load(grad_output_ptr + row_start + columns, mask=mask, other=0.0).to(tl.float32)
            x = tl.load(x_ptr + row_start + columns, mask=mask, other=0.0).to(tl.float32)
            weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
            total += tl.sum(x * x, axis=0)
            product += tl.sum(grad_output * weight * x, axis=0)
        r = tl.rsqrt(total / n_columns + eps)
        projection = product * r * r / n_columns
        for start in range(0, n_columns, BLOCK_SIZE):
            columns = start + tl.arange(0, BLOCK_SIZE)
            mask = columns < n_columns
            grad_output = tl.load(grad_output_ptr + row_start + columns, mask=mask, other=0.0).to(tl.float32)
            x = tl.load(x_ptr + row_start + columns, mask=mask, other=0.0).to(tl.float32)
            weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
            grad_x = (grad_output * weight - x * projection) * r
            tl.store(grad_x_ptr + row_start + columns, grad_x.to(grad_x_ptr.dtype.element_ty), mask=mask)
            so_far = tl.load(partial_ptr + partial_start + columns, mask=mask, other=0.0)
            before = tl.where(row == program, 0.0, so_far)  # nothing is summed yet in a program's first row
            tl.store(partial_ptr + partial_start + columns, before + grad_output * x * r, mask=mask)


def tiling(problem: Problem) -> Tiling:
    """The rows' rule, and 256 programs: about two a multiprocessor on the larger GPUs."""
    return alike_tiling(rows.tiling(problem))


def alike_tiling(forward: Tiling) -> Tiling:
    """The block and the warps of a forward pass, and as many programs as the rule has."""
    return Tiling(Numbers(forward.blocks, PROGRAMS=PROGRAMS), forward.num_warps, forward.num_stages)


def grid(problem: Problem, meta: Mapping[str, int], divide: Callable[[int, int], int] = cdiv) -> tuple[int]:
    """One program a row, but at most PROGRAMS, each with every PROGRAMS-th row and one partial sum."""
    return (min(*rows.grid(problem, meta, divide), meta["PROGRAMS"]),)


def plan(problem: Problem, tiling: Tiling, divide: Callable[[int, int], int] = cdiv) -> Launch:
    """The row in one block where it fits, else the loop; `partial` has one row a program, in float32."""
    shape = (problem["rows"], problem["columns"])
    (programs,) = grid(problem, tiling.blocks, divide)
    return Launch(
        kernel=rms_norm_backward_kernel if rows.in_one_block(problem, tiling) else rms_norm_backward_loop_kernel,
        grid=(programs, 1, 1),
        arguments={
            "grad_output_ptr": Tensor(shape, problem.dtype, Filling(2)),
            "x_ptr": Tensor(shape, problem.dtype, Filling(0)),
            "weight_ptr": Tensor(shape[1:], problem.dtype, WEIGHT),
            "grad_x_ptr": Tensor(shape, problem.dtype),
            "partial_ptr": Tensor((programs, problem["columns"]), "float32"),
            "n_rows": problem["rows"],
            "n_columns": problem["columns"],
            "eps": problem.parameters.get("eps", EPS),
        },
        constants=rows.constants(problem, tiling),
        num_warps=tiling.num_warps,
        num_stages=tiling.num_stages,
    )


_rule = tiling


def formula(
    grad_output: "torch.Tensor", x: "torch.Tensor", weight: "torch.Tensor", eps: float
) -> tuple["torch.Tensor", "torch.Tensor"]:
    """What the kernel computes, in PyTorch and in float32 as there: through it the gradients have gradients."""
    import torch

    grad, row, scale = grad_output.float(), x.float(), weight.float()
    r = torch.rsqrt(row.pow(2).mean(-1, keepdim=True) + eps)
    weighted = grad * scale
    grad_x = (weighted - row * (weighted * row).mean(-1, keepdim=True) * r.pow(2)) * r
    return grad_x.to(x.dtype), (grad * row * r).sum_to_size(weight.shape).to(weight.dtype)


@differentiable(through(formula))
def rms_norm_backward(
    grad_output: "torch.Tensor",
    x: "torch.Tensor",
    weight: "torch.Tensor",
    eps: float = EPS,
    tiling: Tiling | None = None,
) -> tuple["torch.Tensor", "torch.Tensor"]:
    """The gradients of x and of weight, for grad_output of the shape of x; it is read, never written.

    Every program writes the sum over its own rows into one row of `partial`, and one PyTorch reduction adds those rows: no
    atomic operation, so repeated runs agree to the last bit. Differentiable again, in PyTorch. Raises ValueError for shapes
    that do not fit, different devices, dtypes that are not computed here, a negative or infinite eps and an illegal tiling.
    """
    import torch

    grad_output, x, weight = alike(grad_output=grad_output, x=x, weight=weight)
    same_shape(grad_output=grad_output, x=x)
    rows.weighted(x, weight)
    grad_x = torch.empty_like(x)
    matrix = rows.as_matrix(x)
    problem = Problem(Numbers(rows=matrix.shape[0], columns=matrix.shape[1]), dtype_name(x))
    launch = plan(problem, chosen(tiling, _rule(problem), BLOCKS)).with_arguments(eps=epsilon(eps))
    partial = torch.empty(launch.tensors["partial_ptr"].shape, dtype=torch.float32, device=x.device)
    run(
        launch,
        grad_output_ptr=rows.as_matrix(grad_output),
        x_ptr=matrix,
        weight_ptr=weight,
        grad_x_ptr=rows.as_matrix(grad_x),
        partial_ptr=partial,
    )
    return grad_x, partial.sum(dim=0).to(weight.dtype)


def accesses(problem: Problem, tiling: Tiling, program: tuple[int, int, int]) -> Iterator[Expected]:
    """Every PROGRAMS-th row; the partial sums are written once, or in the loop read back and written for every row."""
    (programs,) = grid(problem, tiling.blocks)
    own = range(program[0], problem["rows"], programs)
    if rows.in_one_block(problem, tiling):
        (columns,) = rows.turns(problem, tiling)
        yield rows.access("load", "weight_ptr", problem, 0, columns)
        for row in own:
            yield rows.access("load", "grad_output_ptr", problem, row, columns)
            yield rows.access("load", "x_ptr", problem, row, columns)
            yield rows.access("store", "grad_x_ptr", problem, row, columns)
        yield rows.access("store", "partial_ptr", problem, program[0], columns)
        return
    for row in own:
        for turn in range(2):
            for columns in rows.turns(problem, tiling):
                yield rows.access("load", "grad_output_ptr", problem, row, columns)
                yield rows.access("load", "x_ptr", problem, row, columns)
                yield rows.access("load", "weight_ptr", problem, 0, columns)
                if turn:
                    yield rows.access("store", "grad_x_ptr", problem, row, columns)
                    yield rows.access("load", "partial_ptr", problem, program[0], columns)
                    yield rows.access("store", "partial_ptr", problem, program[0], columns)


def axes(problem: Problem, tiling: Tiling, divide: Callable[[int, int], int] = cdiv) -> tuple[Axis, ...]:
    """As many programs as share the rows; a turn of the loop over rows has the lanes of one row."""
    (row,) = rows.axes(problem, tiling, divide)
    (programs,) = grid(problem, tiling.blocks, divide)
    return (Axis(programs, row.lanes, row.live, row.last),)


def story(problem: Problem, tiling: Tiling) -> str:
    """The launch in one sentence, numbers between `**`."""
    (programs,) = grid(problem, tiling.blocks)
    if not programs or programs == problem["rows"]:
        return rows.story(problem, tiling)
    most = cdiv(problem["rows"], programs)
    return (
        f"**{problem['rows']:,}** rows of **{problem['columns']:,}** are shared by **{programs:,}** programs, "
        f"up to **{most:,}** rows each; each sums its own part of the weight's gradient."
    )


def owner(problem: Problem, tiling: Tiling, argument: str, element: Any) -> Any:
    """The program that takes the element's row, every PROGRAMS-th one; of a partial sum, the one whose row it is."""
    row = rows.owner(problem, tiling, argument, element)
    return row if argument == "partial_ptr" else row % max(grid(problem, tiling.blocks)[0], 1)


def feeds(problem: Problem, tiling: Tiling, output: str, element: int) -> dict[str, Any]:
    """grad_x: its row of grad_output and x, every weight. A partial sum: its column of the program's rows, and r of each."""
    columns = problem["columns"]
    if output == "grad_x_ptr":
        row = rows.row_of(problem, element)
        return {"grad_output_ptr": row, "x_ptr": row, "weight_ptr": np.arange(columns)}
    program, column = divmod(element, columns)
    own = np.arange(program, problem["rows"], grid(problem, tiling.blocks)[0])
    whole_rows = (own[:, None] * columns + np.arange(columns)).ravel()
    return {"grad_output_ptr": own * columns + column, "x_ptr": whole_rows}


def traffic(problem: Problem, tiling: Tiling) -> Traffic:
    """One pass over x and the gradient of the output, and the sum of the programs' parts.

    `partial.sum(0)` is float32; another dtype of the weight's gradient is one more kernel.
    """
    itemsize = ITEMSIZE[problem.dtype]
    matrix, _, row = (itemsize * count for count in rows.counts(problem))
    partial = 4 * grid(problem, tiling.blocks)[0] * problem["columns"]
    found = (
        0 if rows.in_one_block(problem, tiling) else partial
    )  # the loop reads its sums back, the first time as it finds them
    fused = (
        Step("rms_norm_backward_kernel", 2 * matrix + row + found, matrix + partial),
        Step("partial.sum(0)", partial, 4 * problem["columns"]),
    )
    converted = () if problem.dtype == "float32" else (Step(f".to({problem.dtype})", 4 * problem["columns"], row),)
    return Traffic(fused=fused + converted, operations=11 * problem["rows"] * problem["columns"])


def tolerance(problem: Problem) -> Tolerance:
    """The weight's gradient is a sum over all rows."""
    return rounding(problem.dtype, terms=16 + problem["rows"])


def amplifies(grad_output: "torch.Tensor", x: "torch.Tensor", weight: "torch.Tensor", eps: float) -> dict[str, Any]:
    """grad_x is a difference of two numbers that may be near r times larger than it."""
    import torch

    return {"grad_x": 1 + torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)}


def preset(count: int, columns: int, programs: int = PROGRAMS) -> tuple[Numbers, Numbers]:
    """Sizes and blocks of an example of the backward pass."""
    sizes, blocks = rows.preset(count, columns)
    return sizes, Numbers(blocks, PROGRAMS=programs)


EXPRESSION = (
    "(lambda x, w: torch.autograd.grad(x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + {eps}) * w, (x, w), grad_output))"
    "(x.detach().requires_grad_(), weight.detach().requires_grad_())"
)

OPERATOR = Operator(
    name="rms_norm_backward",
    title="RMSNorm backward",
    lesson=5,
    idea="Every program takes its share of the rows and sums its part of the weight's gradient.",
    formula="grad_x = (g * weight - x * mean(g * weight * x) * r^2) * r,  grad_weight = sum over rows of g * x * r",
    sizes=rows.SIZES,
    blocks=BLOCKS,
    plan=plan,
    tiling=tiling,
    story=story,
    axes=axes,
    owner=owner,
    accesses=accesses,
    feeds=feeds,
    grid=grid,
    wrapper=rms_norm_backward,
    pytorch=pytorch,
    expression=EXPRESSION,
    parameters=(EPSILON,),
    remarks=remarks,
    results={"grad_weight": "partial.sum(0).to(weight.dtype)"},
    traffic=traffic,
    tolerance=tolerance,
    amplifies=amplifies,
    outputs=("grad_x", "grad_weight"),
    summed=("grad_weight",),
    accumulates={"partial_ptr": "one row a program, added over the programs by partial.sum(0)"},
    rowwise=True,
    presets=(
        Preset("Six rows", "One program a row; six partial sums of the weight's gradient.", *preset(6, 5)),
        Preset("Shared rows", "Ten rows on four programs: two of them get three rows.", *preset(10, 5, 4)),
        Preset("The note's size", "16,384 rows on 256 programs, 64 rows each.", *preset(16384, 8192)),
    ),
)
