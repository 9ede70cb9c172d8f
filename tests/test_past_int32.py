"""The first program that goes wrong in 32 bits, against every program of small launches on a machine of narrower integers."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from triton.runtime.interpreter import TensorHandle, interpreter_builder

from kernels import operators
from kernels.launch import TypeName
from kernels.operator import Numbers, Problem, Tiling
from kernels.runtime.draw import draw
from kernels.runtime.records import unravel
from kernels.runtime.request import Request
from kernels.runtime.trace import trace
from kernels.runtime.wrap import ENDS, Wrap, candidates, differing, first_wrong, wrap

from .kinds import kind_of

BITS = 9
END = 2 ** (BITS - 1)


@contextlib.contextmanager
def narrow() -> Iterator[None]:
    """Every sum and product of int32 wraps at 9 bits; nothing else changes."""
    kept = {name: getattr(interpreter_builder, name) for name in ("create_add", "create_mul")}

    def wrapped(name: str):
        def create(_, left: TensorHandle, right: TensorHandle, *rest: object) -> TensorHandle:
            made = kept[name](left, right, *rest)
            if made.data.dtype == np.int32:
                made.data = ((made.data + END) % (2 * END) - END).astype(np.int32)
            return made

        return create

    for name in kept:
        setattr(interpreter_builder, name, types.MethodType(wrapped(name), interpreter_builder))
    try:
        yield
    finally:
        for name in kept:
            delattr(interpreter_builder, name)


def wrong_in(request: Request, number: int, limits=ENDS) -> Wrap | None:
    launch = request.launch()
    program = unravel(number, launch.grid)
    right = trace(launch.with_constants(OFFSET_TYPE=TypeName("int64")), [program], limits=limits).accesses
    with narrow():
        wrong = trace(launch.with_constants(OFFSET_TYPE=TypeName("int32")), [program], limits=limits).accesses
    return differing(number, right, wrong)


def sizes(draw: st.DataObject, name: str) -> tuple[dict[str, int], dict[str, int]]:
    """Sizes around the narrow end, none of them past it alone, in blocks of a few lanes."""
    block = st.sampled_from((4, 8, 16))
    if name == "matmul_relu":
        problem = {size: draw.draw(st.integers(1, 40)) for size in ("m", "n")} | {"k": draw.draw(st.integers(1, 20))}
        blocks = {one: draw.draw(st.sampled_from((4, 8))) for one in ("BLOCK_M", "BLOCK_N", "BLOCK_K")}
        return problem, blocks | {"GROUP_M": draw.draw(st.sampled_from((0, 1, 2, 3)))}
    if kind_of(operators()[name]) == "flat":
        return {"n_elements": draw.draw(st.integers(END - 20, END + 60))}, {"BLOCK_SIZE": draw.draw(block)}
    problem = {"rows": draw.draw(st.integers(1, 60)), "columns": draw.draw(st.integers(1, 20))}
    blocks = {"BLOCK_SIZE": draw.draw(st.sampled_from((4, 8, 32)))}
    return problem, blocks | ({"PROGRAMS": draw.draw(st.integers(1, 12))} if name == "rms_norm_backward" else {})


@pytest.mark.parametrize("name", operators())
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_the_first_wrong_program_is_the_first_of_all(name, data):
    problem, blocks = sizes(data, name)
    request = Request(name, Problem(Numbers(problem)), Tiling(Numbers(blocks)))
    few = candidates(request, END)
    found = first_wrong(few, lambda number: wrong_in(request, number))
    first = first_wrong(range(request.launch().programs), lambda number: wrong_in(request, number))
    assert (found and found.program) == (first and first.program), (problem, blocks, few)


@pytest.mark.parametrize(
    ("name", "problem", "blocks", "program", "argument"),
    [
        ("matmul_relu", {"m": 70_000, "n": 70_000, "k": 16}, {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 16}, 239, "c_ptr"),
        ("rms_norm_backward", {"rows": 524_289, "columns": 4096}, {"BLOCK_SIZE": 4096, "PROGRAMS": 256}, 0, "grad_output_ptr"),
        (
            "rms_norm_backward",
            {"rows": 524_290, "columns": 4096},
            {"BLOCK_SIZE": 4096, "PROGRAMS": 65536},
            0,
            "grad_output_ptr",
        ),
        ("softmax", {"rows": 524_289, "columns": 4096}, {"BLOCK_SIZE": 4096}, 524_288, "x_ptr"),
        ("vector_add", {"n_elements": 2**32}, {"BLOCK_SIZE": 1024}, 2**21, "x_ptr"),
    ],
)
def test_past_2_to_the_31_itself(name, problem, blocks, program, argument):
    blocks = blocks | ({"GROUP_M": 0} if name == "matmul_relu" else {})
    found = wrap(Request(name, Problem(Numbers(problem)), Tiling(Numbers(blocks))))
    assert (found.program, found.argument) == (program, argument)
    assert found.right >= 2**31
    assert found.wrong == (found.right + 2**31) % 2**32 - 2**31


def test_masked_lanes_that_wrap_are_masked_no_more():
    """Of 2^31 - 10 elements in blocks of 4,096 less one the last lanes lie past 2^31, and -2^31 is below n."""
    request = Request("vector_add", Problem(Numbers(n_elements=2**31 - 10)), Tiling(Numbers(BLOCK_SIZE=4095)))
    found = wrap(request)
    assert found.program == request.launch().programs - 1
    assert found.right >= 2**31 - 10
    assert found.wrong < 0


def test_programs_whose_number_no_int32_holds_are_drawn_by_formula_and_said():
    problem, tiling = Problem(Numbers(n_elements=2**40)), Tiling(Numbers(BLOCK_SIZE=256))
    request = Request("vector_add", problem, tiling)
    picture = draw(request, 2**32 - 1)
    assert picture.origin == "formula"
    assert picture.faults == (
        "Program ids are int32 in Triton and end at 2,147,483,647; along one axis this grid has 4,294,967,296 programs.",
    )
    assert picture.accesses_of((2**32 - 1, 0, 0))[0].first.flat[0] == 2**40 - 256
    assert wrap(request) is None
    with pytest.raises(ValueError, match="Program ids are int32"):
        trace(request.launch(), [(2**31, 0, 0)])
