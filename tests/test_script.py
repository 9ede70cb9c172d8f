"""The script of a launch: at most 30 lines, torch and Triton alone, the same inputs and the same result as the launch."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import triton

from kernels import Numbers, Problem, Tiling, operators
from kernels.runtime.launch import launch_once
from kernels.runtime.request import Request
from kernels.runtime.script import script

from .limits import PATIENCE

CASES = {
    "vector_add": [({"n_elements": 7}, {"BLOCK_SIZE": 4})],
    "elementwise_chain": [({"n_elements": 100}, {"BLOCK_SIZE": 32})],
    "softmax": [({"rows": 6, "columns": 5}, {"BLOCK_SIZE": 8}), ({"rows": 3, "columns": 50}, {"BLOCK_SIZE": 16})],
    "rms_norm": [({"rows": 6, "columns": 5}, {"BLOCK_SIZE": 8}), ({"rows": 3, "columns": 50}, {"BLOCK_SIZE": 16})],
    "rms_norm_backward": [
        ({"rows": 6, "columns": 5}, {"BLOCK_SIZE": 8, "PROGRAMS": 4}),
        ({"rows": 5, "columns": 50}, {"BLOCK_SIZE": 16, "PROGRAMS": 2}),
    ],
    "matmul_relu": [
        ({"m": 40, "n": 48, "k": 40}, {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "GROUP_M": 0}),
        ({"m": 40, "n": 48, "k": 40}, {"BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "GROUP_M": 2}),
    ],
}


LOOPS = pytest.mark.skipif(
    [int(part) for part in triton.__version__.split(".")[:2]] < [3, 7]
    and [int(part) for part in np.__version__.split(".")[:2]] >= [2, 4],
    reason="Triton 3.6 cannot interpret a loop with this NumPy (triton issue 9171); a script has no repair for it",
)


def requests() -> list[Request]:
    assert set(CASES) == set(operators()), "every operator has a case here"
    return [
        Request(name, Problem(Numbers(sizes), dtype), Tiling(Numbers(blocks)), seed=3)
        for name, cases in CASES.items()
        for sizes, blocks in cases
        for dtype in ("float32", "float16")
    ]


@LOOPS
@pytest.mark.parametrize("request_", requests(), ids=lambda one: f"{one.operator}-{one.problem.dtype}-{one.tiling.blocks}")
def test_a_script_reproduces_its_launch(request_, tmp_path):
    text = script(request_)
    assert len(text.strip().split("\n")) <= 30
    assert set(re.findall(r"^import (.+)$", text, re.M)) == {"torch, triton, triton.language as tl"}
    file = tmp_path / "launch.py"
    file.write_text(text)
    done = subprocess.run(
        [sys.executable, str(file)],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    printed = re.findall(r"max \|difference\| from (\w+) (\S+)", done.stdout)
    result = launch_once(request_, "cpu")
    exact = [float(value) for kind, value in printed if kind == "float64"]
    assert exact == pytest.approx([one.from_float64 for one in result.differences], rel=1e-6)


def test_a_bfloat16_script_names_its_dtype():
    request = Request("vector_add", Problem(Numbers(n_elements=7), "bfloat16"), Tiling(Numbers(BLOCK_SIZE=4)))
    assert ".to(torch.bfloat16)" in script(request)
