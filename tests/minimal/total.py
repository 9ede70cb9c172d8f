"""A sum to one number, by atomic additions: kernel, arguments and grid, and nothing else."""

import triton
import triton.language as tl

from kernels.launch import Filling, Launch, Tensor
from kernels.operator import Operator, Size, cdiv


@triton.jit
def total_kernel(values, total, length, LANES: tl.constexpr):
    at = tl.program_id(0) * LANES + tl.arange(0, LANES)
    tl.atomic_add(total, tl.sum(tl.load(values + at, mask=at < length, other=0.0), axis=0))


def plan(problem, tiling, divide=cdiv):
    length = problem["length"]
    arguments = {
        "values": Tensor((length,), problem.dtype, Filling(0)),
        "total": Tensor((1,), "float32", Filling(0, scale=0.0)),
        "length": length,
    }
    return Launch(total_kernel, (divide(length, tiling["LANES"]), 1, 1), arguments, dict(tiling.blocks), tiling.num_warps)


OPERATOR = Operator(
    name="total",
    title="Sum to one number",
    sizes=(Size("length", "Elements that are added up.", 11),),
    blocks=(Size("LANES", "Elements that one program adds.", 4),),
    plan=plan,
)
