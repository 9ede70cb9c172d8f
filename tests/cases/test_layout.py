"""Layout, dtype and device of the inputs: L01 to L06."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from kernels import find, operators
from kernels.arguments import adjustments
from kernels.elementwise_chain import chain
from kernels.matmul_relu import matmul_relu
from kernels.rms_norm import rms_norm
from kernels.rms_norm_backward import rms_norm_backward
from kernels.runtime.request import possible_layouts
from kernels.softmax import softmax
from kernels.vector_add import add

from ..kinds import kind_of
from ..test_pages import launched, page, words
from .reach import python

EVERY = pytest.mark.parametrize("name", operators())
SMALL = {"flat": {"n_elements": "20"}, "rows": {"rows": "4", "columns": "20"}, "tiles": {"m": "20", "n": "18", "k": "17"}}


def test_l01_a_strided_vector_gives_its_own_values():
    assert add(torch.arange(20.0)[::2], torch.zeros(10)).tolist() == [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]


def test_l01_without_a_copy_the_page_says_how_many_values_are_wrong():
    text = words(page(n="10", BLOCK_SIZE="16", what_if="stride"))
    assert "Of the values that the programs shown store, 9 change" in text


@EVERY
def test_l01_every_operator_copies_a_view_says_so_and_is_right(name):
    family = kind_of(find(name))
    for layout in possible_layouts(find(name)):
        if layout in ("contiguous", "broadcast"):
            continue
        app = page(operator=name, layout=layout, **SMALL[family])
        assert "the wrapper copies it first" in words(app)
        text = words(launched(app))
        assert "copied first" in text, (layout, text)
        assert "within tolerance" in text
        assert "outside" not in text


def test_l03_one_element_seen_ten_times_is_ten_ones():
    ones = torch.ones(1).expand(10)
    assert add(ones, torch.zeros(10)).tolist() == [1.0] * 10
    assert add(ones, ones).tolist() == [2.0] * 10


@EVERY
def test_l03_every_operator_copies_a_broadcast_input_says_so_and_is_right(name):
    app = page(operator=name, layout="broadcast", **SMALL[kind_of(find(name))])
    assert "one element or row seen many times" in words(app)
    text = words(launched(app))
    assert "strides (0," in text
    assert "within tolerance" in text
    assert "outside" not in text


def test_l04_different_lengths_are_refused_with_both():
    with pytest.raises(ValueError, match=r"x has \(10,\), y has \(16,\)"):
        add(torch.ones(10), torch.ones(16))


ONES = torch.ones


@pytest.mark.parametrize(
    "call",
    [
        lambda: add(ONES(4, 4), ONES(16)),
        lambda: chain(ONES(10), ONES(10), ONES(16)),
        lambda: rms_norm(ONES(2, 4), ONES(3)),
        lambda: rms_norm(ONES(2, 4), ONES(1, 4)),
        lambda: rms_norm_backward(ONES(2, 3), ONES(2, 4), ONES(4)),
        lambda: rms_norm_backward(ONES(4, 2), ONES(2, 4), ONES(4)),
        lambda: rms_norm_backward(ONES(2, 4), ONES(2, 4), ONES(3)),
        lambda: rms_norm_backward(ONES(1, 128), ONES(64, 128), ONES(128)),
        lambda: matmul_relu(ONES(2, 3), ONES(4, 2)),
        lambda: matmul_relu(ONES(2), ONES(2, 2)),
    ],
)
def test_l04_no_wrapper_reads_past_an_input_that_does_not_fit(call):
    with pytest.raises(ValueError, match=r"has \(\d") as raised:
        call()
    assert str(raised.value).count("(") >= 2, "both shapes"


@pytest.mark.parametrize("kind", [torch.float16, torch.int32, torch.bfloat16])
def test_l05_mixed_dtypes_are_promoted_as_torch_does(kind):
    x, y = torch.arange(100).to(kind), torch.ones(100)
    result = add(x, y)
    assert result.dtype == torch.promote_types(kind, torch.float32) == torch.float32
    assert_close(result, x + y, rtol=0, atol=0)


def test_l05_what_a_float16_output_would_lose_is_kept():
    result = add(torch.full((4,), 60000.0, dtype=torch.float16), torch.full((4,), 60000.0))
    assert result.tolist() == [120000.0] * 4


def test_l05_every_conversion_is_said_with_its_bytes():
    x, y = torch.arange(100, dtype=torch.float16), torch.ones(100)
    (said,) = adjustments({"x": x, "y": y})
    assert said == "x is float16: converted to float32 first, as PyTorch promotes, 200 B to read and 400 B to write."


@pytest.mark.parametrize("name", [name for name, one in operators().items() if kind_of(one) != "flat"])
def test_l05_other_operators_promote_too(name):
    calls = {
        "softmax": lambda kind: softmax(torch.ones(2, 5).to(kind)),
        "rms_norm": lambda kind: rms_norm(torch.ones(2, 5).to(kind), ONES(5)),
        "rms_norm_backward": lambda kind: rms_norm_backward(ONES(2, 5), torch.ones(2, 5).to(kind), ONES(5))[0],
        "matmul_relu": lambda kind: matmul_relu(torch.ones(2, 5).to(kind), ONES(5, 2)),
    }
    expected = torch.float16 if name == "softmax" else torch.float32
    assert calls[name](torch.float16).dtype == expected


def test_l06_a_cpu_tensor_given_to_a_compiled_kernel_is_refused_in_words():
    code = """
import torch
from kernels.vector_add import add
from kernels.softmax import softmax
from kernels.matmul_relu import matmul_relu
from kernels.rms_norm import rms_norm
ones = torch.ones
for call in (lambda: add(ones(10), ones(10)), lambda: softmax(ones(2, 5)), lambda: matmul_relu(ones(4, 4), ones(4, 4)),
             lambda: rms_norm(ones(2, 5), ones(5))):
    try:
        call()
    except ValueError as error:
        print(error)
"""
    done = python(code, TRITON_INTERPRET="0")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert all(" is on the CPU, and a compiled kernel reads a GPU's memory" in line for line in lines)
    assert all("_ptr" not in line for line in lines), "the wrapper's names, not the kernel's"


def test_l06_without_a_gpu_the_page_says_what_it_runs_in():
    app = page(n="10", BLOCK_SIZE="16")
    assert "no GPU: Triton's interpreter" in words(app)
    assert "Launched on Triton's interpreter on the CPU" in words(launched(app))
