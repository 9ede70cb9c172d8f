"""A grid of three dimensions: kernel, arguments and grid, and nothing else."""

import triton
import triton.language as tl

from kernels.launch import Filling, Launch, Tensor
from kernels.operator import Operator, Size, cdiv


@triton.jit
def cube_kernel(given, result, high, wide, deep, EDGE: tl.constexpr):
    row, column = tl.program_id(0), tl.program_id(1)
    at = tl.program_id(2) * EDGE + tl.arange(0, EDGE)
    offsets = (row * wide + column) * deep + at
    tl.store(result + offsets, tl.load(given + offsets, mask=at < deep) * 2, mask=at < deep)


def plan(problem, tiling, divide=cdiv):
    shape = (problem["high"], problem["wide"], problem["deep"])
    arguments = {"given": Tensor(shape, problem.dtype, Filling(0)), "result": Tensor(shape, problem.dtype), **problem.sizes}
    grid = (shape[0], shape[1], divide(shape[2], tiling["EDGE"]))
    return Launch(cube_kernel, grid, arguments, dict(tiling.blocks), tiling.num_warps)


OPERATOR = Operator(
    name="cube",
    title="Doubling in a grid of three dimensions",
    sizes=(Size("high", "First dimension.", 2), Size("wide", "Second dimension.", 3), Size("deep", "Third dimension.", 5)),
    blocks=(Size("EDGE", "Elements of the third dimension that one program doubles.", 4),),
    plan=plan,
)
