"""What Triton's compiler and the hardware's limits say, asked in the worker that compiles."""

from __future__ import annotations

import pytest

from kernels import DTYPES, Numbers, Problem, Tiling, operators
from kernels.runtime.device import TARGETS, find_target
from kernels.runtime.jobs import verdict_job
from kernels.runtime.limits import legal_values, nearest_powers
from kernels.runtime.request import Request
from kernels.runtime.source import source_of
from kernels.runtime.workers import Workers

from .kinds import kind_of
from .limits import PATIENCE

EVERY = pytest.mark.parametrize("operator", operators().values(), ids=list(operators()))


@pytest.fixture(scope="module")
def compiler():
    workers = Workers()
    yield workers["compile"]
    workers.close()


def ask(
    compiler, operator: str, target: str = "sm_90", warps: int = 4, stages: int = 3, dtype: str = "float32", **numbers: int
):
    described = operators()[operator]
    sizes = Numbers({size.name: numbers.get(size.name, size.default) for size in described.sizes})
    rule = described.tiling(Problem(sizes, dtype)).blocks
    blocks = Numbers({block.name: numbers.get(block.name, rule[block.name]) for block in described.blocks})
    request = Request(operator, Problem(sizes, dtype), Tiling(blocks, warps, stages))
    return compiler.call(verdict_job, request, find_target(target), seconds=PATIENCE), request


@EVERY
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("target", ["sm_80", "sm_90", "gfx942"])
def test_every_operator_compiles_for_every_dtype(compiler, operator, dtype, target):
    verdict, _ = ask(compiler, operator.name, target, dtype=dtype)
    assert verdict.launchable, verdict


@EVERY
def test_sizes_of_one_and_loops_and_64_bit_offsets_compile(compiler, operator):
    ones = {size.name: 1 for size in operator.sizes}
    assert ask(compiler, operator.name, **ones)[0].launchable
    large = {
        "flat": {"n_elements": 2**33},
        "rows": {"rows": 2**18, "columns": 2**16, "BLOCK_SIZE": 1024},
        "tiles": {"m": 2**17, "n": 2**17},
    }
    verdict, request = ask(compiler, operator.name, **large[kind_of(operator)])
    assert verdict.launchable, verdict
    assert request.launch().constants["OFFSET_TYPE"] == "int64"


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        (3, "arange's range must be a power of 2"),
        (1000, "arange's range must be a power of 2"),
        (0, "arange's end argument must be greater than the start argument"),
        (2**21, "numel (2097152) exceeds triton maximum tensor numel (1048576)"),
    ],
)
def test_blocks_are_refused_in_tritons_words_at_their_line(compiler, block, reason):
    verdict, request = ask(compiler, "vector_add", BLOCK_SIZE=block)
    assert (verdict.launchable, verdict.who, verdict.reason) == (False, "Triton", reason)
    source = source_of(request.launch().kernel)
    assert "tl.arange" in source.lines[verdict.line - source.first]


@pytest.mark.parametrize(
    ("warps", "target", "reason"),
    [
        (0, "sm_90", "num_warps must be a power of 2"),
        (3, "sm_90", "num_warps must be a power of 2"),
        (64, "sm_90", "64 warps of 32 are 2,048 threads a program, and sm_90 takes 1,024."),
        (32, "gfx942", "32 warps of 64 are 2,048 threads a program, and gfx942 takes 1,024."),
    ],
)
def test_warps_are_refused(compiler, warps, target, reason):
    assert ask(compiler, "vector_add", target, warps)[0].reason == reason


def test_tiles_that_the_matrix_units_or_shared_memory_do_not_take(compiler):
    sizes = {"m": 4096, "n": 4096, "k": 4096, "dtype": "float16"}
    small = ask(compiler, "matmul_relu", BLOCK_M=8, BLOCK_N=8, BLOCK_K=8, **sizes)[0]
    assert "K >= 16" in small.reason
    large = {"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 64, "warps": 8, "stages": 4, **sizes}
    assert "166,912" in ask(compiler, "matmul_relu", "sm_80", **large)[0].reason


def test_a_grid_past_the_hardwares_limit(compiler):
    verdict, _ = ask(compiler, "softmax", rows=2**31)
    assert verdict.reason == "sm_90 takes 2,147,483,647 programs along x, and the grid has 2,147,483,648."


@pytest.mark.parametrize(
    ("value", "powers"), [(3, (2, 4)), (4, (4,)), (0, (1,)), (-5, (1,)), (1000, (512, 1024)), (2**21, (2**20,))]
)
def test_the_nearest_legal_blocks(value, powers):
    assert nearest_powers(value, 2**20) == powers


def test_the_nearest_legal_warps_depend_on_the_warp_size():
    assert legal_values("num_warps", 64, TARGETS["sm_90"]) == (32,)
    assert legal_values("num_warps", 64, TARGETS["gfx942"]) == (16,)


def test_an_unknown_target_names_those_there_are():
    with pytest.raises(ValueError, match=r"no target 'sm_1'.*sm_90.*gfx942"):
        find_target("sm_1")
