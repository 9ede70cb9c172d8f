"""Bytes of PyTorch's steps: what is counted equals closed forms, hand counts, and the operations that its profiler sees."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import DeviceType

from kernels import DTYPES, ITEMSIZE, Numbers, Operator, Problem, operators
from kernels.commands.record import countable
from kernels.measure import ways
from kernels.runtime.request import Request
from kernels.runtime.workers import Workers
from kernels.storage import codec
from kernels.traffic.count import counted, steps_of
from kernels.traffic.jobs import count_job
from kernels.traffic.known import FILE, Known, key, shipped
from kernels.traffic.steps import Counted, Step, numbered

from .examples import inputs, problems
from .limits import PATIENCE

ROOT = Path(__file__).parents[1]
COUNTABLE = [operator for operator in operators().values() if operator.pytorch]
INDEX = 8  # bytes of an int64, as `max` along a dimension gives beside the values

Moved = list[tuple[int, int]]


# Closed forms: bytes read and written by each step, from sizes alone.


def vector(problem: Problem) -> int:
    return problem["n_elements"] * ITEMSIZE[problem.dtype]


def matrix(problem: Problem) -> tuple[int, int, int]:
    """Bytes of the matrix, of a column, of a row."""
    rows, columns, size = problem["rows"], problem["columns"], ITEMSIZE[problem.dtype]
    return rows * columns * size, rows * size, columns * size


def of_vector_add(problem: Problem) -> Moved:
    v = vector(problem)
    return [(2 * v, v)]


def of_elementwise_chain(problem: Problem) -> Moved:
    v = vector(problem)
    return [(2 * v, v), (2 * v, v), (v, v)]


def of_softmax(problem: Problem) -> Moved:
    m, c, _ = matrix(problem)
    return [(m, c + INDEX * problem["rows"]), (m + c, m), (m, m), (m, c), (m + c, m)]


def of_rms_norm(problem: Problem) -> Moved:
    m, c, r = matrix(problem)
    return [(m, m), (m, c), (c, c), (c, c), (m + c, m), (m + r, m)]


def of_rms_norm_backward(problem: Problem) -> Moved:
    m, c, r = matrix(problem)
    over_columns = [(m, c)] if problem["columns"] != 1 else []  # autograd adds up nothing where the column is the row
    products = [(2 * m, m), (m + r, m), (m, r), (2 * m, m), (m + c, m), *over_columns]
    root = [(c, c), (c, c), (2 * c, c)]
    squares = [(c, m), (m, m), (m, m), (2 * m, m)]
    return [*products, *root, *squares, (2 * m, m)]


def of_matmul_relu(problem: Problem) -> Moved:
    m, n, k, size = problem["m"], problem["n"], problem["k"], ITEMSIZE[problem.dtype]
    return [(size * (m * k + k * n), size * m * n), (size * m * n, size * m * n)]


def form(operator: Operator, problem: Problem) -> Moved:
    """The closed form of the operator; what has no element to write launches nothing."""
    moved = globals()[f"of_{operator.name}"](problem)
    return [(read, written) if written else (0, 0) for read, written in moved]


def moved(steps: tuple[Step, ...]) -> Moved:
    return [(step.read, step.written) for step in steps]


def has_form(operator: Operator) -> bool:
    return f"of_{operator.name}" in globals()


WITH_FORM = [operator for operator in COUNTABLE if has_form(operator)]


def own(count: Counted) -> tuple[Step, ...]:
    return count.backward or count.forward


@pytest.mark.parametrize("operator", WITH_FORM, ids=lambda operator: operator.name)
@given(data=st.data())
def test_what_is_counted_is_the_closed_form(operator, data):
    problem, tiling = data.draw(problems(operator, DTYPES))
    count = counted(Request(operator.name, problem, tiling))
    assert moved(own(count)) == form(operator, problem)
    if count.backward:
        forward = operators()["rms_norm"]
        assert moved(count.forward) == form(forward, problem)


@pytest.mark.parametrize("operator", WITH_FORM, ids=lambda operator: operator.name)
@pytest.mark.parametrize("dtype", DTYPES)
def test_large_sizes_are_counted_without_memory(operator, dtype):
    """2^40 elements a tensor, and more."""
    sizes = {size.name: min(size.maximum, 2**40 if len(operator.sizes) == 1 else 2**20) for size in operator.sizes}
    problem = Problem(Numbers(sizes), dtype)
    count = counted(Request(operator.name, problem, operator.tiling(problem)))
    assert moved(own(count)) == form(operator, problem)


def test_softmax_writes_the_indices_of_its_maximum_too():
    problem = Problem(Numbers(rows=16384, columns=8192))
    count = counted(Request("softmax", problem, operators()["softmax"].tiling(problem)))
    assert [step.name for step in count.forward] == ["max", "sub", "exp", "sum", "div"]
    assert moved(count.forward)[0] == (536_870_912, 196_608)


def test_the_names_are_pytorchs_and_the_forward_pass_stays_apart():
    problem = Problem(Numbers(rows=3, columns=5))
    count = counted(Request("rms_norm_backward", problem, operators()["rms_norm_backward"].tiling(problem)))
    assert [step.name for step in count.forward] == ["pow", "mean", "add", "rsqrt", "mul", "mul"]
    assert len(count.backward) == 14
    names = [step.name for step in numbered(count.forward)]
    assert names == ["pow", "mean", "add", "rsqrt", "mul", "mul #2"]


# Hand counts of single operations, on the meta device.


def empty(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype, device="meta")


X, Y, Z, BYTE = empty(6, 4), empty(6, 4), empty(4, 4), empty(6, 4, dtype=torch.uint8)
CASES: dict[str, tuple[Callable[[], object], list[tuple[str, int, int]]]] = {
    "twice": (lambda: X * X, [("mul", 96, 96)]),
    "twice, one transposed": (lambda: Z + Z.t(), [("add", 64, 64)]),
    "expanded": (lambda: X + empty(6, 1).expand(6, 4), [("add", 96 + 24, 96)]),
    "broadcast": (lambda: X + empty(4), [("add", 96 + 16, 96)]),
    "number": (lambda: X * 3, [("mul", 96, 96)]),
    "wrapped number": (lambda: X * torch.tensor(3.0), [("mul", 96, 96)]),
    "one number of the device": (lambda: X * empty(), [("mul", 96 + 4, 96)]),
    "views": (lambda: X.view(24).unsqueeze(0).expand(3, 24).detach().squeeze().t()[2:].reshape(22, 3), []),
    "view by matmul": (lambda: empty(2, 3, 4) @ empty(4, 5), [("mm", 96 + 80, 120)]),
    "a view that must copy": (lambda: X.t().reshape(24), [("clone", 96, 96)]),
    "part": (lambda: X[1:3] + 1, [("add", 32, 32)]),
    "every second": (lambda: X[:, ::2] + 1, [("add", 48, 48)]),
    "windows that overlap": (lambda: empty(10).unfold(0, 4, 1) + 1, [("add", 40, 112)]),
    "in place": (lambda: empty(6, 4).add_(Y), [("add_", 192, 96)]),
    "in place with itself": (lambda: X.mul_(X), [("mul_", 96, 96)]),
    "in place, not read": (lambda: empty(6, 4).zero_(), [("zero_", 0, 96)]),
    "filled": (lambda: empty(6, 4).fill_(2.0), [("fill_", 0, 96)]),
    "copied": (lambda: empty(6, 4).copy_(BYTE), [("copy_", 24, 96)]),
    "given to write to": (lambda: torch.add(X, Y, out=empty(6, 4)), [("add", 192, 96)]),
    "memory alone": (lambda: (torch.empty_like(X), X.new_empty(3), empty(5)), []),
    "zeros": (lambda: torch.zeros_like(X), [("zeros_like", 0, 96)]),
    "converted": (lambda: X.to(torch.float16), [("_to_copy", 96, 48)]),
    "not converted": (lambda: X.to(torch.float32).contiguous(), []),
    "values and indices": (lambda: X.max(dim=1), [("max", 96, 24 + 48)]),
    "to one number": (lambda: X.sum(), [("sum", 96, 4)]),
    "nothing": (lambda: empty(0, 4) * empty(4), [("mul", 0, 0)]),
    "several": (lambda: torch.cat([X, Y, X]), [("cat", 192, 288)]),
    "composite": (lambda: torch.nn.functional.linear(X, empty(3, 4), empty(3)), [("addmm", 12 + 96 + 48, 72)]),
}


@pytest.mark.parametrize("name", CASES)
def test_an_operation_by_hand(name):
    call, expected = CASES[name]
    found = steps_of(call).forward
    assert [(step.name, step.read, step.written) for step in found] == expected


def test_steps_of_a_backward_pass_are_told_from_those_of_the_forward_pass():
    x = empty(6, 4).requires_grad_()
    count = steps_of(lambda: torch.autograd.grad(x.exp().sum(), x))
    assert [step.name for step in count.forward] == ["exp", "sum", "ones_like"]
    assert [(step.name, step.read, step.written) for step in count.backward] == [("mul", 4 + 96, 96)]


# The operations that PyTorch's profiler sees on real CPU tensors.

VIEWS = {"expand", "as_strided", "view", "detach", "detach_", "reshape", "unsqueeze", "t", "transpose", "_unsafe_view", "alias"}
COMPOSITES = {"matmul", "empty", "empty_like", "resolve_conj", "resolve_neg", "result_type", "to", "contiguous", "is_nonzero"}


@pytest.mark.parametrize("operator", COUNTABLE, ids=lambda operator: operator.name)
def test_the_profiler_sees_the_operations_that_are_counted(operator):
    sizes = {size.name: 12 for size in operator.sizes}
    problem = Problem(Numbers(sizes))
    request = Request(operator.name, problem, operator.tiling(problem))
    count = counted(request)
    names = [step.name for step in count.forward + count.backward]
    given = {name: torch.from_numpy(array) for name, array in inputs(request.launch()).items()}
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        operator.pytorch(**given)
    seen = list(itertools.chain(*(outermost(event, set(names)) for event in profile.events() if event.cpu_parent is None)))
    assert Counter(name for name in seen if name in names) == Counter(names)
    assert {name for name in seen if name not in names} <= VIEWS | COMPOSITES


def outermost(event: object, names: set[str]) -> list[str]:
    """PyTorch's operations at or under an event: not what one that is counted, or a view, calls in turn."""
    name = event.name.removeprefix("aten::").removesuffix("_")  # autograd adds gradients in place where it alone holds them
    if event.device_type != DeviceType.CPU:
        return []
    if event.name.startswith("aten::") and name in names | VIEWS:
        return [name]
    below = list(itertools.chain(*(outermost(child, names) for child in event.cpu_children)))
    return [name, *below] if event.name.startswith("aten::") else below


# What ships, what a worker gives, what cannot be counted.


def test_every_example_and_recorded_run_has_a_count_that_ships_and_is_todays():
    requests = {key(request): request for request in countable()}
    assert set(shipped()) == set(requests), "python -m kernels record counts them again"
    for name, request in requests.items():
        assert codec.decoded(Counted, shipped()[name], FILE.name) == counted(request)


def test_what_ships_can_be_looked_up_without_torch():
    code = (
        "import sys; from kernels.measure import ways; from kernels.commands.record import countable\n"
        "print(all(ways.traffic(one, 'forward').unfused for one in countable()), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout.split() == ["True", "False"], done.stderr


def request(rows: int, columns: int, name: str = "rms_norm") -> Request:
    problem = Problem(Numbers(rows=rows, columns=columns))
    return Request(name, problem, operators()[name].tiling(problem))


def test_what_pytorch_refuses_is_a_sentence_and_the_others_are_counted():
    found = count_job([request(2**40, 2**40, "softmax"), request(4, 7, "softmax")])
    assert "overflow" in found[0]
    assert moved(found[1].forward) == form(operators()["softmax"], request(4, 7).problem)


def test_an_operator_without_a_pytorch_version_says_so(monkeypatch):
    import dataclasses

    bare = dataclasses.replace(operators()["rms_norm"], pytorch=None)
    monkeypatch.setitem(operators(), "rms_norm", bare)
    assert count_job([request(3, 9)]) == ["RMSNorm has no PyTorch version, so there is nothing to count."]


def test_counts_that_are_kept_are_bounded_and_depend_on_neither_blocks_nor_seed():
    known = Known(most=2)
    asked = [request(1001 + at, 7) for at in range(3)]
    for at, one in enumerate(asked):
        known.keep(one, Counted((Step(str(at), 0, 0),)))
    assert [known.get(one) is None for one in asked] == [True, False, False]
    other = asked[2].with_blocks(BLOCK_SIZE=64)
    assert known.get(other) == known.get(asked[2])
    known.clear()
    assert known.get(asked[2]) is None


def test_a_worker_counts_what_this_process_does_not_know():
    workers = Workers()
    try:
        asked = [request(2001, 77), request(2001, 77, "rms_norm_backward")]
        found = workers["interpret"].call(count_job, asked, seconds=PATIENCE)
        assert [moved(own(count)) for count in found] == [form(one.description, one.problem) for one in asked]
    finally:
        workers.close()


def test_a_process_without_torch_knows_what_ships_and_nothing_else():
    assert ways.traffic(request(16384, 8192), "forward").unfused is not None
    assert len(ways.traffic(request(16384, 8192), "both").unfused) == 20
    assert len(ways.traffic(request(16384, 8192), "backward").unfused) == 14
