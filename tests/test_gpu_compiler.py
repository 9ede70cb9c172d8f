"""On a GPU: what the compiler page shows is what a launch runs, and the driver counts the same registers and spills."""

from __future__ import annotations

import pytest

from kernels.inside.jobs import stages_job
from kernels.language import MISSING
from kernels.runtime.device import attached
from kernels.runtime.workers import Workers

from . import on_gpu
from .test_compiler_page import page, words
from .test_stages import ADD, MATMUL, SPILLS, request_of

GPUS = () if MISSING else attached()
CUDA = bool(GPUS) and GPUS[0].target.backend == "cuda"
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not CUDA, reason="no NVIDIA GPU that Triton can launch on is attached")]
LAUNCHES = {
    "add": ADD,
    "odd": {"n_elements": 1000},
    "one": {"n_elements": 1},
    "rms_norm": {"operator": "rms_norm", "rows": 64, "columns": 4099, "dtype": "float16"},
    "matmul": MATMUL,
    "spills": SPILLS,
}


@pytest.fixture(scope="module")
def workers():
    found = Workers()
    yield found
    found.close()


@pytest.mark.parametrize("name", LAUNCHES)
def test_what_is_shown_is_what_a_launch_runs(workers, name):
    request = request_of(**LAUNCHES[name])
    shown = workers["compile"].call(stages_job, request, GPUS[0].target, seconds=120)
    kernels = workers[GPUS[0].worker].call(on_gpu.launched, request, seconds=120)
    ran = next((one for one in kernels if one["hash"] == shown.metadata["hash"]), None)
    assert ran, (shown.metadata["hash"], [one["hash"] for one in kernels])
    assert ran["ptx"] == shown.texts["ptx"]
    assert ran["registers"] == shown.resources.registers
    assert abs(4 * ran["spills"] - shown.resources.spill_bytes) < 16  # the driver rounds a thread's stack up


def test_the_page_starts_with_the_gpu_attached():
    app = page(n_elements=98432)
    assert app.session_state["compiler.settings"].target == GPUS[0].target.name
    assert GPUS[0].name in words(app)
