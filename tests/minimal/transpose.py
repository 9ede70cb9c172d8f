"""A transpose of a view with strides: kernel, arguments and grid, and nothing else."""

import triton
import triton.language as tl

from kernels.launch import Filling, Launch, Tensor
from kernels.operator import Operator, Size, cdiv


@triton.jit
def transpose_kernel(x, out, rows, columns, step_row, HIGH: tl.constexpr, WIDE: tl.constexpr):
    row = tl.program_id(0) * HIGH + tl.arange(0, HIGH)[:, None]
    column = tl.program_id(1) * WIDE + tl.arange(0, WIDE)[None, :]
    mask = (row < rows) & (column < columns)
    tl.store(out + column * rows + row, tl.load(x + row * step_row + column, mask=mask), mask=mask)


def plan(problem, tiling, divide=cdiv):
    rows, columns = problem["rows"], problem["columns"]
    wide = columns + 3  # the view leaves out the last three columns of a wider tensor
    arguments = {
        "x": Tensor((rows, columns), problem.dtype, Filling(0), strides=(wide, 1), size=rows * wide),
        "out": Tensor((columns, rows), problem.dtype),
        "rows": rows,
        "columns": columns,
        "step_row": wide,
    }
    grid = (divide(rows, tiling["HIGH"]), divide(columns, tiling["WIDE"]), 1)
    return Launch(transpose_kernel, grid, arguments, dict(tiling.blocks), tiling.num_warps, tiling.num_stages)


OPERATOR = Operator(
    name="transpose",
    title="Transpose",
    sizes=(Size("rows", "Rows of the input.", 10), Size("columns", "Columns of the input.", 7)),
    blocks=(Size("HIGH", "Rows of a tile.", 4), Size("WIDE", "Columns of a tile.", 4)),
    plan=plan,
)
