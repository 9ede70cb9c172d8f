"""Tiled matmul + ReLU: c = relu(a @ b), one tile of c a program.

A program walks along K, multiplies a tile of a with a tile of b and adds the product to its sum in registers. ReLU is applied
to the sum before it is written: unfused, c is written, read and written again. The order of the programs decides which strips
of a and b are read at the same time: a two-dimensional grid, or groups of GROUP_M rows of tiles in a one-dimensional one.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .arguments import MAX_ALONG, alike, dtype_name, run
from .gradients import differentiable, through
from .language import tl, triton
from .launch import ITEMSIZE, Filling, Launch, Tensor
from .operator import (
    MAX_LOOPED,
    Axis,
    Expected,
    Numbers,
    Operator,
    Preset,
    Problem,
    Product,
    Size,
    Step,
    Tiling,
    Tolerance,
    Traffic,
    cdiv,
    next_power_of_2,
    offset_type,
    rounding,
)
from .tilings import chosen

if TYPE_CHECKING:
    import torch


BLOCKS = (
    Size("BLOCK_M", "Rows of a tile of c.", default=16),
    Size("BLOCK_N", "Columns of a tile of c.", default=16),
    Size("BLOCK_K", "How far along K one turn reaches.", default=16),
    Size(
        "GROUP_M",
        "0: a two-dimensional grid. Else the rows of tiles in a group of the one-dimensional order.",
        default=0,
        extent=False,
    ),
)
TILES = (("BLOCK_M", "BLOCK_K"), ("BLOCK_K", "BLOCK_N"), ("BLOCK_M", "BLOCK_N"))  # of a, of b, of c


def pytorch(a: "torch.Tensor", b: "torch.Tensor") -> "torch.Tensor":
    """Two kernels: the product goes to DRAM and comes back for the ReLU."""
    import torch

    product = a @ b
    return torch.relu(product)


@triton.jit
def matmul_relu_kernel(
    a_ptr, b_ptr, c_ptr, m, n, k,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr, OFFSET_TYPE: tl.constexpr,
):  # fmt: skip
    if GROUP_M == 0:
        tile_m, tile_n = tl.program_id(axis=0), tl.program_id(axis=1)
    else:
        pid, tiles_m, tiles_n = tl.program_id(axis=0), tl.cdiv(m, BLOCK_M), tl.cdiv(n, BLOCK_N)
        tile_m, tile_n = tl.swizzle2d(pid // tiles_n, pid % tiles_n, tiles_m, tiles_n, GROUP_M)
    rows = tile_m.to(OFFSET_TYPE) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n.to(OFFSET_TYPE) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        inner = start + tl.arange(0, BLOCK_K)
        mask_a = (rows[:, None] < m) & (inner[None, :] < k)
        a = tl.load(a_ptr + rows[:, None] * k + inner[None, :], mask=mask_a, other=0.0)
        mask_b = (inner[:, None] < k) & (columns[None, :] < n)
        b = tl.load(b_ptr + inner[:, None].to(OFFSET_TYPE) * n + columns[None, :], mask=mask_b, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    output = tl.where(total < 0, 0.0, total)  # NaN < 0 is false: a NaN stays, as torch.relu has it
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], output.to(c_ptr.dtype.element_ty), mask=mask)


def grid(problem: Problem, meta: Mapping[str, int], divide: Callable[[int, int], int] = cdiv) -> tuple[int, ...]:
    """Tiles down and across c; with GROUP_M in one dimension, to be taken in groups."""
    tiles_m, tiles_n = divide(problem["m"], meta["BLOCK_M"]), divide(problem["n"], meta["BLOCK_N"])
    return (tiles_m * tiles_n,) if meta["GROUP_M"] else (tiles_m, tiles_n)


def plan(problem: Problem, tiling: Tiling, divide: Callable[[int, int], int] = cdiv) -> Launch:
    """Offsets reach the end of the last tile of the largest of the three matrices."""
    m, n, k = problem["m"], problem["n"], problem["k"]
    block_m, block_n, block_k, group_m = (tiling[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M"))
    padded_m, padded_n, padded_k = (cdiv(m, block_m) * block_m, cdiv(n, block_n) * block_n, cdiv(k, block_k) * block_k)
    furthest = max(padded_m * max(k, n), padded_k * n) + max(padded_k, padded_n)
    return Launch(
        kernel=matmul_relu_kernel,
        grid=(*grid(problem, tiling.blocks, divide), 1, 1)[:3],
        arguments={
            "a_ptr": Tensor((m, k), problem.dtype, Filling(0)),
            "b_ptr": Tensor((k, n), problem.dtype, Filling(1)),
            "c_ptr": Tensor((m, n), problem.dtype),
            "m": m,
            "n": n,
            "k": k,
        },
        # A larger group orders the tiles as one of all their rows does, but its product with the columns would wrap in int32.
        constants={**tiling.blocks, "GROUP_M": min(group_m, cdiv(m, block_m)), "OFFSET_TYPE": offset_type(furthest)},
        num_warps=tiling.num_warps,
        num_stages=tiling.num_stages,
    )


def tiling(problem: Problem) -> Tiling:
    """Square tiles of 64, smaller where the matrix is; 16 is the least that `tl.dot` takes on every target.

    Of large matrices in 16 bits tiles of 128 by 128 by 64, in groups of 8 rows: 554 TFLOP/s against 324 for 4096^3 in bfloat16
    on an H200 (Triton 3.6), and three stages of them fit into the shared memory of every target but sm_75.
    """
    if min(problem["m"], problem["n"]) >= 1024 and ITEMSIZE[problem.dtype] == 2:
        return Tiling(Numbers(BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8), num_warps=8, num_stages=3)
    side = {name: min(max(next_power_of_2(problem[name]), 16), 64) for name in ("m", "n", "k")}
    group = 8 if cdiv(problem["n"], side["n"]) > MAX_ALONG else 0  # so many tiles fit along the axis x only
    blocks = Numbers(BLOCK_M=side["m"], BLOCK_N=side["n"], BLOCK_K=min(side["k"], 32), GROUP_M=group)
    return Tiling(blocks, num_warps=4, num_stages=3)


@differentiable(through(pytorch))
def matmul_relu(a: "torch.Tensor", b: "torch.Tensor", tiling: Tiling | None = None) -> "torch.Tensor":
    """relu(a @ b) of two matrices. Differentiable: the backward pass is PyTorch's, which computes the product again.

    Raises ValueError where the inner lengths differ or one is not a matrix, for different devices, for dtypes that are not
    computed here, and for an illegal tiling.
    """
    import torch

    a, b = alike(a=a, b=b)
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0]:
        raise ValueError(f"a has {tuple(a.shape)} and b has {tuple(b.shape)}: (m, k) and (k, n) are needed.")
    problem = Problem(Numbers(m=a.shape[0], n=b.shape[1], k=a.shape[1]), dtype_name(a))
    c = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    launch = plan(problem, chosen(tiling, _rule(problem), BLOCKS, TILES))
    run(launch, a_ptr=a, b_ptr=b, c_ptr=c)
    return c


_rule = tiling


def tile_of(problem: Problem, tiling: Tiling, program: tuple[int, int, int]) -> tuple[int, int]:
    """The tile of c that a program computes: in groups of GROUP_M rows of tiles, down the group first."""
    group = tiling["GROUP_M"]
    if not group:
        return program[0], program[1]
    tiles_m, tiles_n = cdiv(problem["m"], tiling["BLOCK_M"]), cdiv(problem["n"], tiling["BLOCK_N"])
    first = program[0] // (group * tiles_n) * group
    height = min(tiles_m - first, group)
    within = program[0] % (group * tiles_n)
    return first + within % height, within // height


def program_of(problem: Problem, tiling: Tiling, tile_m: Any, tile_n: Any) -> Any:
    """The number of the program that computes a tile of c, of whole arrays of tiles too: the inverse of `tile_of`."""
    group = tiling["GROUP_M"]
    tiles_m, tiles_n = cdiv(problem["m"], tiling["BLOCK_M"]), cdiv(problem["n"], tiling["BLOCK_N"])
    if not group:
        return tile_m + tiles_m * tile_n
    first = tile_m // group * group
    height = np.minimum(tiles_m - first, group)
    return first * tiles_n + tile_n * height + tile_m - first


def owner(problem: Problem, tiling: Tiling, argument: str, element: Any) -> Any:
    """The program that writes the element of c; of a and b, the program of the first tile that needs it."""
    row, column = divmod(element, problem["k"] if argument == "a_ptr" else problem["n"])
    tile_m = 0 if argument == "b_ptr" else row // tiling["BLOCK_M"]
    tile_n = 0 if argument == "a_ptr" else column // tiling["BLOCK_N"]
    return program_of(problem, tiling, tile_m, tile_n)


def accesses(problem: Problem, tiling: Tiling, program: tuple[int, int, int]) -> Iterator[Expected]:
    """A tile of a and one of b for every turn along K, then the tile of c."""
    m, n, k = problem["m"], problem["n"], problem["k"]
    tile_m, tile_n = tile_of(problem, tiling, program)
    rows = tile_m * tiling["BLOCK_M"] + np.arange(tiling["BLOCK_M"], dtype=np.int64)[:, None]
    columns = tile_n * tiling["BLOCK_N"] + np.arange(tiling["BLOCK_N"], dtype=np.int64)[None, :]
    for start in range(0, k, tiling["BLOCK_K"]):
        inner = start + np.arange(tiling["BLOCK_K"], dtype=np.int64)
        yield Expected("load", "a_ptr", rows * k + inner, (rows < m) & (inner < k))
        yield Expected("load", "b_ptr", inner[:, None] * n + columns, (inner[:, None] < k) & (columns < n))
    yield Expected("store", "c_ptr", rows * n + columns, (rows < m) & (columns < n))


def axes(problem: Problem, tiling: Tiling, divide: Callable[[int, int], int] = cdiv) -> tuple[Axis, ...]:
    """Tiles down c, tiles across c."""
    return tuple(Axis.over(problem[size], tiling[block], divide) for size, block in (("m", "BLOCK_M"), ("n", "BLOCK_N")))


def feeds(problem: Problem, tiling: Tiling, output: str, element: int) -> dict[str, Any]:
    """Its row of a and its column of b."""
    row, column = divmod(element, problem["n"])
    inner = np.arange(problem["k"])
    return {"a_ptr": row * problem["k"] + inner, "b_ptr": inner * problem["n"] + column}


def story(problem: Problem, tiling: Tiling) -> str:
    """The launch in one sentence, numbers between `**`."""
    down, across = axes(problem, tiling)
    size = f"c is **{problem['m']:,}** by **{problem['n']:,}**"
    if not down.programs or not across.programs:
        return f"{size}: **0** programs, nothing to launch."
    turns = cdiv(problem["k"], tiling["BLOCK_K"])
    return (
        f"{size} in tiles of {down.lanes:,} by {across.lanes:,}: **{down.programs:,} × {across.programs:,}** programs, "
        f"each **{turns:,}** turn{'' if turns == 1 else 's'} along K."
    )


def traffic(problem: Problem, tiling: Tiling) -> Traffic:
    """Fusing saves one write and one read of c; a and b are read either way."""
    itemsize = ITEMSIZE[problem.dtype]
    m, n, k = problem["m"], problem["n"], problem["k"]
    operands, result = (itemsize * (m * k + k * n) if m and n else 0), itemsize * m * n
    return Traffic(
        fused=(Step("matmul_relu_kernel", operands, result),),
        operations=2 * m * n * k + m * n,
    )


def tolerance(problem: Problem) -> Tolerance:
    """A float32 sum of k products."""
    return rounding(problem.dtype, terms=problem["k"])


def preset(m: int, n: int, k: int, block: int = 16, group: int = 0) -> tuple[Numbers, Numbers]:
    """Sizes and square tiles of an example."""
    return Numbers(m=m, n=n, k=k), Numbers(BLOCK_M=block, BLOCK_N=block, BLOCK_K=min(block, 32), GROUP_M=group)


OPERATOR = Operator(
    name="matmul_relu",
    title="Matmul + ReLU",
    lesson=6,
    idea="Every program computes one tile of c: a strip of a times a strip of b, then ReLU.",
    formula="c = relu(a @ b)",
    sizes=(
        Size("m", "Rows of a and of c.", default=40),
        Size("n", "Columns of b and of c.", default=48),
        Size("k", "Columns of a, rows of b: what every program walks along.", default=40, maximum=MAX_LOOPED),
    ),
    blocks=BLOCKS,
    plan=plan,
    tiling=tiling,
    story=story,
    axes=axes,
    owner=owner,
    accesses=accesses,
    feeds=feeds,
    grid=grid,
    wrapper=matmul_relu,
    pytorch=pytorch,
    expression="torch.relu(a @ b)",
    traffic=traffic,
    tolerance=tolerance,
    measured=Numbers(m=4096, n=4096, k=4096),
    outputs=("c",),
    product=Product("a_ptr", "b_ptr", "c_ptr"),
    presets=(
        Preset("Ragged tiles", "No size is a multiple of the tile: the last tiles are partly masked.", *preset(40, 48, 40)),
        Preset(
            "In groups",
            "The same tiles in groups of two rows: neighbours in time share strips.",
            *preset(40, 48, 40, group=2),
        ),
        Preset(
            "4096",
            "A size where the ReLU costs next to nothing: compute binds.",
            Numbers(m=4096, n=4096, k=4096),
            Numbers(BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8),
            "bfloat16",
        ),
    ),
)
