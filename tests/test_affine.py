"""All programs of a launch from a few of them: equal to tracing every one, and refused where the others cannot be told."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pytest
import triton
import triton.language as tl
from hypothesis import assume, given
from hypothesis import strategies as some

from kernels import Numbers, Problem, Tiling, operators
from kernels.launch import ITEMSIZE, Filling, Launch, Tensor
from kernels.runtime import spans
from kernels.runtime.affine import whole
from kernels.runtime.draw import draw
from kernels.runtime.moved import counted
from kernels.runtime.records import EVERYTHING, unravel
from kernels.runtime.request import Request
from kernels.runtime.sites import site
from kernels.runtime.trace import trace

from .examples import problems
from .properties import examples

EVERY = pytest.mark.parametrize("operator", operators().values(), ids=list(operators()))
PATIENT = 600.0


def every_access(launch: Launch):
    programs = [unravel(number, launch.grid) for number in range(launch.programs)]
    return trace(launch, programs, limits=EVERYTHING).accesses


def by_hand(launch: Launch, accesses) -> tuple[int, int]:
    """Bytes by sets of elements: loaded before the same program stored them, and stored."""
    storages = {name: tensor.storage or name for name, tensor in launch.tensors.items()}
    size = {storages[name]: ITEMSIZE[tensor.dtype] for name, tensor in launch.tensors.items()}
    read, written, own = set(), set(), defaultdict(set)
    for access in accesses:
        elements = {(storages[access.argument], element) for element in access.offsets[access.live].tolist()}
        if access.kind == "load":
            read |= elements - own[access.program]
        else:
            written |= elements
            own[access.program] |= elements
    return tuple(sum(size[storage] for storage, _ in found) for found in (read, written))


def starts_of(found) -> Counter:
    """How often each form of an access starts at each offset, over all programs of all boxes."""
    total = Counter()
    for box in found.boxes:
        ranges = [range(first, first + count) for first, count in zip(box.first, box.counts, strict=True)]
        for place in product(*ranges):
            total.update(zip((access.form for access in box.sites), box.starts(place), strict=True))
    return total


def agrees(launch: Launch, found) -> None:
    accesses = every_access(launch)
    assert starts_of(found) == Counter((told.form, told.first) for told in map(site, accesses))
    assert counted(launch, found) == by_hand(launch, accesses)


@EVERY
@examples(12)
@given(data=some.data())
def test_every_operator_as_if_each_program_were_traced(operator, data):
    problem, tiling = data.draw(problems(operator).filter(lambda drawn: operator.plan(*drawn).programs > 2))
    launch = operator.plan(problem, tiling)
    found = whole(launch, all_up_to=2, seconds=PATIENT)
    assert found.exact or tiling.blocks.get("GROUP_M")
    assume(found.exact)
    agrees(launch, found)


LARGE = [
    ("vector_add", {"n_elements": 997}, {"BLOCK_SIZE": 8}, 12),
    ("elementwise_chain", {"n_elements": 1024}, {"BLOCK_SIZE": 8}, 11),
    ("softmax", {"rows": 71, "columns": 13}, {"BLOCK_SIZE": 16}, 11),
    ("softmax", {"rows": 71, "columns": 37}, {"BLOCK_SIZE": 16}, 11),
    ("rms_norm", {"rows": 129, "columns": 37}, {"BLOCK_SIZE": 16}, 11),
    ("rms_norm_backward", {"rows": 183, "columns": 19}, {"BLOCK_SIZE": 8, "PROGRAMS": 70}, 25),
    ("rms_norm_backward", {"rows": 90, "columns": 5}, {"BLOCK_SIZE": 8, "PROGRAMS": 200}, 11),
    ("matmul_relu", {"m": 131, "n": 139, "k": 21}, {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "GROUP_M": 0}, 30),
    ("matmul_relu", {"m": 128, "n": 139, "k": 21}, {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "GROUP_M": 4}, 50),
]


@pytest.mark.parametrize(("name", "sizes", "blocks", "most"), LARGE)
def test_ragged_launches_of_more_than_64_programs(name, sizes, blocks, most):
    operator = operators()[name]
    launch = operator.plan(Problem(Numbers(sizes)), Tiling(Numbers(blocks)))
    found = whole(launch, seconds=PATIENT)
    assert launch.programs > 64
    assert found.exact
    assert found.traced <= most
    agrees(launch, found)


@pytest.mark.parametrize("n", [2**40, 2**40 - 1, 2**31 + 1])
def test_bytes_of_launches_that_nobody_could_trace(n):
    operator = operators()["vector_add"]
    launch = operator.plan(Problem(Numbers(n_elements=n)), Tiling(Numbers(BLOCK_SIZE=1024)))
    assert counted(launch, whole(launch, seconds=PATIENT)) == (8 * n, 4 * n)


def vector(length: int, **options) -> Tensor:
    return Tensor((length,), "float32", Filling(0), **options)


@triton.jit
def gather_kernel(x, index, out, WIDE: tl.constexpr):
    at = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    tl.store(out + at, tl.load(x + tl.load(index + at)))


@triton.jit
def rows_by_index_kernel(x, index, out, WIDE: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    tl.store(out + tl.program_id(0) * WIDE + tl.arange(0, WIDE), tl.load(x + row * WIDE + tl.arange(0, WIDE)))


@triton.jit
def triangle_kernel(x, index, out, WIDE: tl.constexpr):
    for turn in range(tl.program_id(0) + 1):
        at = turn * WIDE + tl.arange(0, WIDE)
        tl.store(out + at, tl.load(x + at))


@pytest.mark.parametrize("kernel", [gather_kernel, rows_by_index_kernel, triangle_kernel], ids=lambda kernel: kernel.__name__)
def test_what_does_not_follow_from_the_program_ids_is_refused_and_says_how_much_was_traced(kernel):
    programs, wide = 100, 8
    numbers = np.random.default_rng(5).integers(0, programs, programs * wide).astype(np.int32)
    index = Tensor(numbers.shape, "int32", data=numbers)
    arguments = {"x": vector(programs * wide), "index": index, "out": Tensor((programs * wide,), "float32")}
    launch = Launch(kernel, (programs, 1, 1), arguments, {"WIDE": wide})
    found = whole(launch, seconds=PATIENT)
    assert (found.exact, found.boxes) == (False, ())
    assert found.words == f"traced: {found.traced} of 100"
    assert 1 < found.traced < 64
    assert counted(launch, found) is None


def test_a_gather_of_64_programs_is_traced_whole():
    numbers = np.random.default_rng(5).integers(0, 99, 64 * 8).astype(np.int32)
    index = Tensor(numbers.shape, "int32", data=numbers)
    arguments = {"x": vector(512), "index": index, "out": Tensor((512,), "float32")}
    launch = Launch(gather_kernel, (64, 1, 1), arguments, {"WIDE": 8})
    found = whole(launch, seconds=PATIENT)
    assert (found.exact, found.traced) == (True, 64)
    assert counted(launch, found) == (4 * (len(set(numbers.tolist())) + 512), 4 * 512)


def test_without_time_nothing_is_told():
    launch = operators()["vector_add"].plan(Problem(Numbers(n_elements=1000)), Tiling(Numbers(BLOCK_SIZE=8)))
    found = whole(launch, seconds=0.0)
    assert (found.exact, found.words) == (False, "traced: 0 of 125")


def test_no_programs_move_nothing():
    launch = operators()["vector_add"].plan(Problem(Numbers(n_elements=0)), Tiling(Numbers(BLOCK_SIZE=8)))
    assert counted(launch, whole(launch)) == (0, 0)


@triton.jit
def in_place_kernel(x, n, WIDE: tl.constexpr):
    at = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
    tl.store(x + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)


@pytest.mark.parametrize("n", [100, 1000])
def test_in_place_reads_each_element_once_and_not_what_it_wrote_itself(n):
    launch = Launch(in_place_kernel, (-(-n // 8), 1, 1), {"x": vector(n), "n": n}, {"WIDE": 8})
    found = whole(launch, seconds=PATIENT)
    assert counted(launch, found) == (4 * n, 4 * n)
    agrees(launch, found)


@triton.jit
def wrapped_kernel(x, out, n, WIDE: tl.constexpr):
    at = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    tl.store(out + at, tl.load(x + at % n), mask=at < n)


@triton.jit
def columns_kernel(x, out, rows, columns, WIDE: tl.constexpr):
    row = tl.arange(0, WIDE)
    at = row * columns + tl.program_id(0)
    tl.store(out + at, tl.load(x + at, mask=row < rows), mask=row < rows)


@triton.jit
def overlapping_kernel(x, out, WIDE: tl.constexpr):
    at = tl.program_id(2) * 5 + tl.program_id(1) * 3 - tl.program_id(0) + 90 + tl.arange(0, WIDE)
    tl.store(out + tl.program_id(0), tl.sum(tl.load(x + at)))


@triton.jit
def decoded_kernel(x, out, across, WIDE: tl.constexpr):
    row, column = tl.program_id(0) // across, tl.program_id(0) % across
    at = column * 1000 + row * WIDE + tl.arange(0, WIDE)
    tl.store(out + at, tl.load(x + at))


KINDS = {
    "the last block wraps around": (wrapped_kernel, (125, 1, 1), {"n": 997}, {"WIDE": 8}),
    "columns": (columns_kernel, (90, 1, 1), {"rows": 11, "columns": 90}, {"WIDE": 16}),
    "overlapping blocks on three axes, one downwards": (overlapping_kernel, (9, 8, 7), {}, {"WIDE": 16}),
    "two coordinates of one id": (decoded_kernel, (96, 1, 1), {"across": 6}, {"WIDE": 8}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_kernels_that_follow_from_the_program_ids(kind):
    kernel, grid, numbers, constants = KINDS[kind]
    launch = Launch(kernel, grid, {"x": vector(6000), "out": Tensor((6000,), "float32"), **numbers}, constants)
    found = whole(launch, seconds=PATIENT)
    assert found.exact
    assert found.traced < 40
    agrees(launch, found)


@triton.jit
def two_views_kernel(x, y, out, WIDE: tl.constexpr):
    at = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    tl.store(out + at, tl.load(x + at) + tl.load(y + at))


def test_elements_that_two_views_share_are_counted_once():
    x = vector(800, storage="s", size=1000)
    y = vector(800, storage="s", size=1000, offset=200)
    launch = Launch(two_views_kernel, (100, 1, 1), {"x": x, "y": y, "out": Tensor((800,), "float32")}, {"WIDE": 8})
    found = whole(launch, seconds=PATIENT)
    assert counted(launch, found) == (4 * 1000, 4 * 800)
    agrees(launch, found)


@triton.jit
def neighbours_kernel(x, WIDE: tl.constexpr):
    at = tl.arange(0, WIDE)
    tl.store(x + tl.program_id(0) * WIDE + at, 1.0)
    tl.store(x + at + 2 * tl.program_id(0) * WIDE, tl.load(x + 2 * tl.program_id(0) * WIDE + at))


def test_what_a_program_may_have_stored_itself_or_not_is_not_counted():
    launch = Launch(neighbours_kernel, (100, 1, 1), {"x": vector(2000)}, {"WIDE": 8})
    found = whole(launch, seconds=PATIENT)
    assert found.exact
    assert counted(launch, found) is None


SETS = some.lists(some.integers(-30, 60), max_size=25)


def elements(found: np.ndarray) -> set[int]:
    return {element for start, end in found.tolist() for element in range(start, end)}


@examples(100)
@given(SETS, SETS, some.integers(-20, 20), some.integers(1, 40))
def test_spans_are_sets(first, second, step, count):
    a, b = (spans.of(np.array(one, np.int64)) for one in (first, second))
    assert elements(a) == set(first)
    assert spans.size(a) == len(set(first))
    assert elements(spans.union((a, b))) == {*first, *second}
    assert elements(spans.without(a, b)) == set(first) - set(second)
    assert spans.meet(a, b) == bool(set(first) & set(second))
    copies = spans.repeated(a, step, count)
    assert elements(copies) == {element + step * number for element in first for number in range(count)}
    assert (copies[1:, 0] > copies[:-1, 1]).all()


def test_too_many_spans_are_refused():
    with pytest.raises(spans.TooManySpansError):
        spans.repeated(spans.of(np.array([0])), 2, 2**22)


@pytest.mark.parametrize(
    ("name", "sizes"), [("vector_add", {"n_elements": 2**40 - 3}), ("softmax", {"rows": 2**20, "columns": 77})]
)
def test_the_picture_of_a_large_launch_counts_all_its_bytes(name, sizes):
    operator = operators()[name]
    problem = Problem(Numbers(sizes))
    request = Request(name, problem, operator.tiling(problem))
    picture = draw(request, 5)
    assert len(picture.shown) < request.launch().programs
    fused = operator.traffic(problem, request.tiling).fused[0]
    assert picture.counted == (fused.read, fused.written)


@pytest.mark.parametrize("n", [1003, 100_003])
def test_without_masks_the_bytes_past_the_end_are_counted_at_any_size(n):
    request = Request("vector_add", Problem(Numbers(n_elements=n)), Tiling(Numbers(BLOCK_SIZE=8)), what_if="no_mask")
    assert draw(request, 0).counted == (2 * 4 * (n + 5), 4 * (n + 5))
