"""On a GPU: every operator and dtype launched for real, in the worker that has the GPU, and the page that launches them."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from kernels import DTYPES, Numbers, Problem, Tiling, operators
from kernels.language import MISSING
from kernels.runtime.device import attached
from kernels.runtime.jobs import TaskError, launch_job, verdict_job
from kernels.runtime.request import Request, possible_layouts
from kernels.runtime.script import script
from kernels.runtime.trace import trace
from kernels.runtime.workers import WorkerError, Workers

from . import on_gpu
from .kinds import kind_of
from .limits import PATIENCE
from .test_operators import SHAPES, request
from .test_pages import field, launched, page, words

GPUS = () if MISSING else attached()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not GPUS, reason="no GPU that Triton can launch on is attached")]
EVERY = pytest.mark.parametrize("operator", operators().values(), ids=list(operators()))


@pytest.fixture(scope="module")
def device():
    workers = Workers()
    yield workers[GPUS[0].worker]
    workers.close()


def launch(device, request_: Request):
    return device.call(launch_job, request_, "cuda", seconds=300)


def legal(operator, blocks: tuple[int, ...]) -> tuple[int, ...]:
    """Tiles that `tl.dot` takes on NVIDIA GPUs."""
    return tuple(max(block, 16) for block in blocks) if kind_of(operator) == "tiles" else blocks


@EVERY
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_launch_agrees_with_float64_for_every_shape(device, operator, dtype):
    for sizes, blocks in SHAPES[kind_of(operator)]:
        result = launch(device, request(operator, sizes, legal(operator, blocks), dtype))
        assert result.engine == "GPU"
        assert result.within, (sizes, result.differences)


LARGE = {
    "flat": [{"n_elements": 98432}, {"n_elements": 10_000_019}],
    "rows": [
        {"rows": 1823, "columns": 781},
        {"rows": 3, "columns": 2**20},
        {"rows": 4096, "columns": 4096},
        {"rows": 70000, "columns": 33},
    ],
    "tiles": [{"m": 1000, "n": 999, "k": 1001}, {"m": 511, "n": 511, "k": 4096}, {"m": 1, "n": 128, "k": 65536}],
}


@EVERY
@pytest.mark.parametrize("dtype", DTYPES)
def test_large_and_ragged_sizes_by_the_rule(device, operator, dtype):
    for sizes in LARGE[kind_of(operator)]:
        problem = Problem(Numbers(sizes), dtype)
        result = launch(device, Request(operator.name, problem, operator.tiling(problem)))
        assert result.within, (sizes, result.differences)
        assert result.compile_seconds is not None


@EVERY
def test_views_are_copied_and_said(device, operator):
    sizes, blocks = SHAPES[kind_of(operator)][3]
    for layout in possible_layouts(operator):
        result = launch(device, request(operator, sizes, legal(operator, blocks), layout=layout))
        assert result.within
        assert bool(result.notes) == (layout != "contiguous")


@pytest.mark.parametrize(
    ("name", "sizes", "dtype"),
    [("vector_add", {"n_elements": 2**31 + 1029}, "float16"), ("rms_norm", {"rows": 300_000, "columns": 8192}, "bfloat16")],
)
def test_past_int32(device, name, sizes, dtype):
    operator = operators()[name]
    problem = Problem(Numbers(sizes), dtype)
    request_ = Request(name, problem, operator.tiling(problem))
    needed = sum(tensor.nbytes for tensor in request_.launch().tensors.values())
    if (GPUS[0].memory_bytes or 0) < 3 * needed:
        pytest.skip(f"needs {3 * needed / 1e9:.0f} GB")
    assert request_.launch().constants["OFFSET_TYPE"] == "int64"
    assert launch(device, request_).within


def test_the_tutorials_check_is_exact(device):
    result = launch(device, Request("vector_add", Problem(Numbers(n_elements=2048)), Tiling(Numbers(BLOCK_SIZE=1024))))
    assert result.differences[0].from_pytorch == 0.0
    assert result.grid == (2, 1, 1)


def test_nan_and_infinities_are_pytorchs(device):
    assert device.call(on_gpu.special, seconds=120) == []


def test_twenty_backward_passes_agree_to_the_bit(device):
    assert device.call(on_gpu.repeated, seconds=120) == 1


@pytest.mark.parametrize(("dtype", "limit"), [("float32", 1e-6), ("float16", 1e-3), ("bfloat16", 5e-3)])
def test_autograd_agrees_with_float64(device, dtype, limit):
    assert device.call(on_gpu.gradients, dtype, seconds=120) < limit


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_trace_shows_the_values_that_the_gpu_stores(device, dtype):
    request_ = Request("vector_add", Problem(Numbers(n_elements=1000), dtype), Tiling(Numbers(BLOCK_SIZE=128)))
    stored = device.call(on_gpu.on_device, request_, "output_ptr", seconds=120)
    stores = [one for one in trace(request_.launch(), [(0, 0, 0), (7, 0, 0)]).accesses if one.kind == "store"]
    assert stores
    for access in stores:
        np.testing.assert_array_equal(stored[access.offsets[access.mask]], access.values[access.mask].astype(np.float32))


def test_the_drivers_facts_are_torchs(device):
    found = device.call(on_gpu.properties, seconds=120)
    gpu = GPUS[0]
    assert (gpu.multiprocessors, gpu.target.arch) == (found["multiprocessors"], found["arch"])
    assert gpu.memory_bytes == pytest.approx(found["memory_bytes"], rel=0.02)
    assert gpu.l2_bytes
    assert gpu.target.shared_bytes


@pytest.mark.parametrize(("block", "warps"), [(3, 4), (1000, 4), (0, 4), (1024, 3), (1024, 64), (1024, 4), (4096, 8)])
def test_what_the_verdict_says_is_what_a_launch_does(device, block, warps):
    request_ = Request("vector_add", Problem(Numbers(n_elements=5000)), Tiling(Numbers(BLOCK_SIZE=block), warps))
    verdict = device.call(verdict_job, request_, GPUS[0].target, seconds=120)
    if block == 0:
        assert not verdict.launchable
        return
    try:
        launched_ = launch(device, request_).within
    except TaskError:
        launched_ = False
    assert launched_ == verdict.launchable, verdict


def test_an_illegal_access_costs_one_process_and_no_more(device):
    with pytest.raises((WorkerError, RuntimeError)):
        device.call(on_gpu.poison, seconds=60)
    device.restart()
    test_the_tutorials_check_is_exact(device)


def test_the_page_launches_on_the_gpu():
    app = page(n="98432", BLOCK_SIZE="1024")
    assert f"{GPUS[0].name} · {GPUS[0].multiprocessors} SMs" in words(app)
    text = words(launched(app))
    assert f"Launched on {GPUS[0].name} as grid (97,)" in text
    assert "max |difference| from PyTorch 0.0" in text
    assert "within tolerance" in text
    assert "compiled in" in text or "cache in" in text


def test_the_page_launches_the_tutorials_picture_with_a_legal_block():
    text = words(launched(page()))
    assert "3 programs drawn; launched as 2 programs of 4" in text


@EVERY
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_page_launches_every_operator_and_dtype(operator, dtype):
    app = page(operator=operator.name)
    field(app, "segmented_control", "dtype").set_value(dtype).run()
    text = words(launched(app))
    assert f"Launched on {GPUS[0].name}" in text
    assert "within tolerance" in text
    assert "outside the tolerance" not in text


@EVERY
def test_scripts_run_on_the_gpu(operator, tmp_path):
    problem = Problem(Numbers({size.name: max(size.default, 40) for size in operator.sizes}), "bfloat16")
    file = tmp_path / "launch.py"
    file.write_text(script(Request(operator.name, problem, operator.tiling(problem))))
    environment = {**os.environ, "TRITON_INTERPRET": "0"}
    done = subprocess.run([sys.executable, str(file)], env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("max |difference| from float64") == len(operator.outputs)
