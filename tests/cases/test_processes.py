"""The interpreter and the processes around it: I01 to I08."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton as installed

from kernels import Numbers, Tiling, operators
from kernels.language import tl, triton
from kernels.launch import Launch, Tensor
from kernels.matmul_relu import matmul_relu
from kernels.runtime.background import Background
from kernels.runtime.selftest import selftest
from kernels.runtime.trace import trace
from kernels.vector_add import add

from ..limits import until
from ..test_compiler_page import page as compiler_page
from ..test_pages import checked, launched, page, words
from .reach import captions


def test_i01_bfloat16_is_right_without_a_gpu():
    assert add(torch.full((4,), 2.5, dtype=torch.bfloat16), torch.full((4,), 2.0, dtype=torch.bfloat16)).tolist() == [4.5] * 4
    torch.manual_seed(0)
    a, b = (torch.randint(-2, 3, (16, 16)).to(torch.bfloat16) for _ in range(2))
    assert torch.equal(matmul_relu(a, b), torch.relu(a.double() @ b.double()).to(torch.bfloat16))


@pytest.mark.parametrize("name", operators())
def test_i01_every_operator_says_how_bfloat16_is_computed_and_is_right(name):
    app = page(operator=name, dtype="bfloat16")
    assert "Traced in float32 with 2-byte addresses" in words(app)
    text = words(launched(app))
    assert text.count("computed in float32, rounded to bfloat16 when stored") == 1
    assert text.count("no races") == 1
    assert "within tolerance" in text
    assert "outside" not in text


def test_i03_two_sessions_that_launch_at_once_both_get_their_own_right_result():
    one = page(n="1000", BLOCK_SIZE="64")
    other = page(operator="softmax", rows="20", columns="50")
    for _ in range(20):
        for app in (one, other):
            checked(app.button(key="launch.go").click().run())
        running: list[Background] = [app.session_state["running"] for app in (one, other)]
        until(lambda tasks=running: all(task.state != "waiting" for task in tasks))
        assert [task.state for task in running] == ["done", "done"], [task.failure for task in running]
        assert all(task.result.within for task in running)
        assert [set(task.result.printed) for task in running] == [{"output"}, {"output"}]
        assert [task.result.grid for task in running] == [(16, 1, 1), (20, 1, 1)]
        assert all("within tolerance" in words(checked(app.run())) for app in (one, other))


def test_i04_interpreting_compiling_and_interpreting_again_all_work():
    texts = {"operator": "softmax", "rows": "6", "columns": "50"}
    assert "within tolerance" in words(launched(page(**texts)))
    assert "softmax_kernel takes" in words(compiler_page(**texts, target="sm_90", stage="ptx"))
    assert "within tolerance" in words(launched(page(**texts)))
    assert "softmax_kernel takes" in words(compiler_page(**texts, target="gfx942", stage="amdgcn"))


def test_i06_a_long_run_is_estimated_shows_progress_and_can_be_cancelled():
    app = page(n=str(2**20), BLOCK_SIZE="64")
    assert "1,048,576 elements in blocks of 64 make 16,384 programs" in words(app)
    assert "in the interpreter, by the time of the program traced" in captions(app)
    checked(app.button(key="launch.go").click().run())
    running: Background = app.session_state["running"]
    until(lambda: (running.progress() or (0, 0))[0])
    done, programs = running.progress()
    assert 0 < done < programs == 16384
    assert "16,384" in words(page(n=str(2**20), BLOCK_SIZE="64")), "another session goes on meanwhile"
    running.cancel()
    until(lambda: running.state != "waiting")
    assert "No result. Cancelled." in words(checked(app.run()))
    assert "within tolerance" in words(launched(page(n="100", BLOCK_SIZE="64")))


def test_i06_four_times_as_many_programs_are_estimated_at_about_four_times_as_long():
    assert "in the interpreter" in captions(page(n=str(2**20), BLOCK_SIZE="16"))


@triton.jit
def sum_of_large_kernel(output_ptr, BLOCK_SIZE: tl.constexpr):
    large = tl.full((BLOCK_SIZE,), 1073741824, tl.int32)
    tl.store(output_ptr, tl.sum(large, axis=0))


def test_i08_the_installed_interpreter_computes_as_the_gpu_does():
    assert selftest() is None
    values = torch.arange(1.0, 7.0)
    assert add(values, torch.zeros(6), Tiling(Numbers(BLOCK_SIZE=2))).tolist() == [1, 2, 3, 4, 5, 6]


def test_i08_a_sum_past_32_bits_wraps_as_on_the_gpu():
    launch = Launch(sum_of_large_kernel, (1, 1, 1), {"output_ptr": Tensor((1,), "float32")}, {"BLOCK_SIZE": 128})
    (store,) = trace(launch, [(0, 0, 0)]).accesses
    assert np.asarray(store.values).flat[0] == 0, "128 times 2^30 wraps to 0 in 32 bits"


def test_i08_the_versions_are_on_the_page():
    app = page(n="10", BLOCK_SIZE="16")
    assert f"Triton {installed.__version__}" in words(app)
    text = words(launched(app))
    assert f"triton {installed.__version__}" in text
    assert f"torch {torch.__version__}" in text
