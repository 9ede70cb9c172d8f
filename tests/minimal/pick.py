"""A gather: kernel, arguments and grid, and nothing else."""

import triton
import triton.language as tl

from kernels.launch import Filling, Launch, Tensor
from kernels.operator import Operator, Size, cdiv


@triton.jit
def pick_kernel(source, index, out, count, length, LANES: tl.constexpr):
    at = tl.program_id(0) * LANES + tl.arange(0, LANES)
    mask = at < count
    chosen = tl.load(index + at, mask=mask, other=0) % length
    tl.store(out + at, tl.load(source + chosen, mask=mask), mask=mask)


def plan(problem, tiling, divide=cdiv):
    count, length = problem["count"], problem["length"]
    arguments = {
        "source": Tensor((length,), problem.dtype, Filling(0)),
        "index": Tensor((count,), "int32", Filling(1, mean=13.0, scale=5.0)),
        "out": Tensor((count,), problem.dtype),
        "count": count,
        "length": length,
    }
    return Launch(pick_kernel, (divide(count, tiling["LANES"]), 1, 1), arguments, dict(tiling.blocks), tiling.num_warps)


OPERATOR = Operator(
    name="pick",
    title="Pick by index",
    sizes=(Size("count", "How many elements are picked.", 13), Size("length", "Elements to pick from.", 9, minimum=1)),
    blocks=(Size("LANES", "Elements that one program picks.", 4),),
    plan=plan,
)
