"""Whether results are right: masks hold, operators agree with float64, repeats agree to the bit, other threads too."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import sentence
from ..launch import DTYPES
from ..operator import Numbers, Operator, Problem
from ..runtime.context import lost
from .bring_up import older_triton
from .failures import advice, known
from .pairs import PAIR_STEP
from .values import FAIL, NOT_MEASURED, PASS, Result
from .worker import Context

if TYPE_CHECKING:
    import torch

    from ..runtime.request import Request

STAGE = "truth"
CANARY = -12345.0
GUARD = 4096  # elements before and after the output that nobody may touch
RAGGED = 1_000_003
SMALL = 259
REPEATS = 20
WRONG = "The machine computes wrong results: run it again, and another card; see its memory errors, power supply and cooling."
WRONG_INTERPRETER = "Triton's interpreter is at fault here, not a GPU: install Triton 3.6 or newer, and a NumPy that it knows."
# Sizes that no block divides.
# Ragged in every dimension, by how many sizes an operator has.
SIZES = ((1_000_003,), (777, 1531), (511, 769, 1023))
SIZES_INTERPRETED = ((1003,), (5, 77), (33, 17, 40))


def ragged(context: Context) -> Iterator[Result]:
    """On the GPU: see `ragged_add`."""
    from .probes import add_kernel

    yield ragged_add(add_kernel, RAGGED, "cuda")


def ragged_add(kernel: Any, n: int, device: str, block: int = 1024) -> Result:
    """A vector whose length no block divides, between cells that must stay as they are: mask and bits are right."""
    import torch

    here = Result(
        "ragged",
        "Ragged vector add",
        STAGE,
        PASS,
        limit="every bit torch's; cells past both ends untouched",
        source="x + y in float32",
    )
    x, y = (torch.randn(n, device=device) for _ in range(2))
    cells = torch.full((n + 2 * GUARD,), CANARY, device=device)
    output = cells[GUARD : GUARD + n]
    kernel[(-(-n // block),)](x, y, output, n, BLOCK_SIZE=block)
    wrong = int((output != x + y).sum())
    touched = int((cells[:GUARD] != CANARY).sum()) + int((cells[GUARD + n :] != CANARY).sum())
    lanes = -(-n // block) * block - n
    if wrong or touched:
        said = f"{wrong:,} of {n:,} elements differ, {touched:,} cells past the ends were written"
        return replace(here, status=FAIL, said=said, step=WRONG)
    return replace(here, said=f"{n:,} elements, {lanes:,} lanes masked, {2 * GUARD:,} cells untouched")


def operators(context: Context) -> Iterator[Result]:
    """Every operator in every dtype against float64, a result an operator, on the GPU."""
    yield from against_float64("cuda", SIZES)


def interpreted(context: Context) -> Iterator[Result]:
    """The same in Triton's interpreter, where there is no GPU, in small."""
    from ..runtime import interpreter

    interpreter.repair()
    yield from against_float64("cpu", SIZES_INTERPRETED)


def against_float64(device: str, sizes: Sequence[tuple[int, ...]]) -> Iterator[Result]:
    """A result an operator. What a Triton older than the app supports does not run is not measured."""
    from .. import operators as known_operators
    from ..runtime.request import Request

    here = Result("operators", "Operators against float64", STAGE, NOT_MEASURED)
    if device == "cpu" and older_triton():
        yield replace(here, said="the interpreter of this Triton is older than the explorer supports")
        return
    try:
        found = known_operators()
    except Exception as error:  # a name that a kernel uses is missing: the plain kernels above have run
        yield replace(here, said=f"these kernels are for another Triton: {sentence(error).text}", step=PAIR_STEP)
        return
    for operator in found.values():
        if operator.wrapper is None or operator.pytorch is None:
            continue
        problems = [Problem(ragged_sizes(operator, sizes), dtype) for dtype in DTYPES]
        try:
            yield one_operator([Request(operator.name, problem, operator.tiling(problem)) for problem in problems], device)
        except Exception as error:
            if lost():
                raise
            yield _raised(operator.name, operator.title, error)


def ragged_sizes(operator: Operator, sizes: Sequence[tuple[int, ...]]) -> Numbers:
    """The sizes at which an operator is checked; one of more than three is checked at its start."""
    given = next((values for values in sizes if len(values) == len(operator.sizes)), None)
    if given is None:
        return operator.start.sizes
    return Numbers({size.name: value for size, value in zip(operator.sizes, given, strict=True)})


def _raised(name: str, title: str, error: Exception) -> Result:
    said = sentence(error).text
    status = NOT_MEASURED if older_triton() else FAIL
    step = advice(said) or "The operator does not run: paste the message into `python -m kernels explain`."
    return Result(f"operator {name}", f"{title} against float64", STAGE, status, said=said, step=step)


def one_operator(requests: list[Request], device: str, run: Callable[..., Any] | None = None) -> Result:
    """One operator in several dtypes: the worst share of the tolerance that an element takes."""
    operator = requests[0].description
    where = "in the interpreter" if device == "cpu" else "on the GPU"
    here = Result(
        f"operator {operator.name}",
        f"{operator.title} against float64",
        STAGE,
        PASS,
        limit="100 % of the tolerance",
        source="rounding of the dtype, see kernels/operator.py",
        unit="% of tolerance",
        threshold=100.0,
        higher=False,
    )
    shares = {request.problem.dtype: share_of_tolerance(request, device, run) for request in requests}
    worst = max(shares.values())
    said = ", ".join(f"{dtype} {share:.0%}" for dtype, share in shares.items()) + " of the tolerance,"
    status = PASS if worst <= 1 else FAIL
    value = min(100 * worst, 1e12)
    step = "" if status == PASS else WRONG if device == "cuda" else WRONG_INTERPRETER
    return replace(here, status=status, said=f"{said} {where}", value=value, step=step)


def share_of_tolerance(request: Request, device: str, run: Callable[..., Any] | None = None) -> float:
    """The largest part of the tolerance against float64 that an element of any output takes; infinite for NaN."""
    from ..runtime.compare import differences
    from ..runtime.launch import prepared

    operator = request.description
    inputs = prepared(request, request.launch(), device)
    given = (run or operator.wrapper)(**inputs, tiling=request.tiling)
    outputs = dict(zip(operator.outputs, given if isinstance(given, tuple) else (given,), strict=True))
    return max(one.share for one in differences(request, inputs, outputs))


def repeats(context: Context) -> Iterator[Result]:
    """cuBLAS and a Triton reduction, 20 times each on the same input."""
    import torch

    a, b = (torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    calls: dict[str, Callable[[], torch.Tensor]] = {"cuBLAS": lambda: a @ b}
    without = ""
    try:
        from ..matmul_relu import matmul_relu
        from ..softmax import softmax

        calls |= {"matmul": lambda: matmul_relu(a, b), "softmax": lambda: softmax(a.float())}
    except Exception as error:  # kernels of a newer Triton than this one: cuBLAS's repeats still tell
        without = f"; none of Triton's, whose kernels cannot be loaded here ({sentence(error).text})"
    found = same_bits(calls)
    yield replace(found, said=found.said + without)


def same_bits(calls: dict[str, Callable[[], torch.Tensor]], count: int = REPEATS) -> Result:
    """Every call gives the same bits every time, and no NaN."""
    import torch

    here = Result(
        "repeats",
        f"{count} repeats, bit for bit",
        STAGE,
        PASS,
        limit="one result",
        source="gpu-burn's idea: the same work again",
    )
    odd = []
    for name, call in calls.items():
        first = call().clone()
        different = sum(not torch.equal(call(), first) for _ in range(count - 1))
        if different or bool(first.isnan().any()):
            odd.append(f"{name} {different} times" if different else f"{name} gives NaN")
    if odd:
        return replace(here, status=FAIL, said=f"different: {', '.join(odd)}", step=WRONG)
    return replace(here, said=f"{', '.join(calls)}: the same {count} times")


def second_thread(context: Context) -> Iterator[Result]:
    """Another thread of the process launches, as servers do, and is right."""
    found: list[Result | BaseException] = []

    def launch() -> None:
        from .probes import add_kernel

        try:
            found.append(ragged_add(add_kernel, SMALL, "cuda"))
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=launch)
    thread.start()
    thread.join()
    here = Result(
        "thread", "Launch from a second thread", STAGE, PASS, limit="right results", source="a new thread starts on GPU 0"
    )
    (one,) = found
    if isinstance(one, BaseException):
        raise one
    yield replace(here, status=one.status, said=one.said, step=known("context-threads").fix if one.status == FAIL else "")
