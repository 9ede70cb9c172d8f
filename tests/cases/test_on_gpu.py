"""Those of the cases that a GPU answers otherwise than the interpreter, or alone: run where one is attached."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from kernels import DTYPES, Numbers, Problem, Tiling, find
from kernels.language import MISSING
from kernels.measure import verdicts
from kernels.measure.jobs import measure_job, roofs_job
from kernels.measure.point import Task
from kernels.measure.records import Device, Point
from kernels.runtime.device import attached
from kernels.runtime.jobs import TaskError, launch_job, verdict_job
from kernels.runtime.request import Request
from kernels.runtime.workers import Worker, WorkerError, Workers

from ..test_pages import launched, page, words
from . import on_gpu

GPUS = () if MISSING else attached()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not GPUS, reason="no GPU that Triton can launch on is attached")]


@pytest.fixture(scope="module")
def device():
    workers = Workers()
    yield workers[GPUS[0].worker]
    workers.close()


def of(name: str, dtype: str = "float32", tiling: Tiling | None = None, **sizes: int) -> Request:
    """A request by the launch rule, or with this tiling."""
    operator = find(name)
    problem = Problem(Numbers(sizes), dtype)
    return Request(name, problem, tiling or operator.tiling(problem))


def result(device: Worker, request: Request):
    return device.call(launch_job, request, "cuda", seconds=300)


def refused(device: Worker, request: Request) -> str:
    """What a launch says that the verdict refuses too; the GPU works afterwards."""
    verdict = device.call(verdict_job, request, GPUS[0].target, seconds=180)
    assert not verdict.launchable
    with pytest.raises((TaskError, WorkerError)) as raised:
        result(device, request)
    assert result(device, of("vector_add", n_elements=1000)).within
    return f"{raised.value}"


@pytest.mark.parametrize("n", [1, 10, 16, 42])
@pytest.mark.parametrize("dtype", DTYPES)
def test_b05_few_elements_on_the_gpu(device, n, dtype):
    found = result(device, of("vector_add", dtype, n_elements=n))
    assert (found.engine, found.grid, found.within) == ("GPU", (1, 1, 1), True)


def test_b07_more_than_2_31_elements_on_the_gpu(device):
    request = of("vector_add", "float16", n_elements=3_221_225_472)
    needed = sum(tensor.nbytes for tensor in request.launch().tensors.values())
    if (GPUS[0].memory_bytes or 0) < 3 * needed:
        pytest.skip(f"needs {3 * needed / 1e9:.0f} GB")
    assert result(device, request).within


def test_b09_a_grid_too_long_along_y_on_the_gpu(device):
    tiling = Tiling(Numbers(BLOCK_M=16, BLOCK_N=16, BLOCK_K=16, GROUP_M=0))
    assert refused(device, of("matmul_relu", tiling=tiling, m=16, n=65536 * 16, k=16))
    half = Tiling(Numbers(BLOCK_M=16, BLOCK_N=32, BLOCK_K=16, GROUP_M=0))
    assert result(device, of("matmul_relu", tiling=half, m=16, n=65536 * 16, k=16)).within


def test_l06_tensors_on_the_cpu_are_refused_by_name(device):
    said = device.call(on_gpu.devices, seconds=120)
    assert len(said) == 3
    assert "x is on the CPU, and a compiled kernel reads a GPU's memory" in said[0]
    assert "x is on cpu, y is on cuda:0" in said[1]
    assert "x is on cuda:0, y is on cpu" in said[2]


def test_m01_masked_lanes_are_no_maximum_on_the_gpu(device):
    found = device.call(on_gpu.maxima, seconds=120)
    assert found["low"] == pytest.approx([0.2] * 5)


def test_m03_rows_without_a_finite_entry_on_the_gpu(device):
    found = device.call(on_gpu.maxima, seconds=120)
    assert all(math.isnan(one) for one in found["none"])
    assert found["large"] == pytest.approx([0.0117, 0.0317, 0.0861, 0.2341, 0.6364], abs=5e-5)
    assert found["far"] == pytest.approx([0.2] * 5)


def test_m05_relu_keeps_nan_on_the_gpu(device):
    found = device.call(on_gpu.relu, seconds=120)
    assert math.isnan(found[0])
    assert found[1:] == [0.0, 2.0, 0.0]


def test_n01_overflow_eps_and_zeros_on_the_gpu(device):
    found = device.call(on_gpu.norms, seconds=120)
    assert (found["fused"], found["unfused"]) == (1.0, 0.0)
    assert found["inside"] == pytest.approx(0.7071, abs=5e-5)
    assert math.isnan(found["eps 0"])
    assert found["eps 1e-6"] == 0.0


@pytest.mark.parametrize("columns", [65536, 65537, 102400, 1048576, 1048577])
def test_n08_very_long_rows_on_the_gpu(device, columns):
    assert device.call(on_gpu.long_row, columns, seconds=120) < 5e-6


def measured(device: Worker, request: Request, ways: tuple[str, ...] = ("pytorch", "library", "triton")) -> Point:
    point = device.call(measure_job, Task(request, "forward", ways), GPUS[0], seconds=300)
    assert not point.problem, point.problem
    return point


def test_n09_six_kernels_are_launched_and_one(device):
    point = measured(device, of("rms_norm", rows=4096, columns=4096))
    counts = {way: len(point.way(way).launched) for way in ("pytorch", "library", "triton")}
    assert counts == {"pytorch": 6, "library": 1, "triton": 1}


def test_g01_float32_is_not_tf32_on_the_gpu(device):
    found = device.call(on_gpu.products, seconds=120)
    assert found["ours"] < 2e-4
    assert found["float32"] < 2e-4
    if GPUS[0].target.backend == "cuda" and int(GPUS[0].target.arch) >= 80:
        assert 0.005 < found["TF32"] < 0.2


def test_g02_a_tile_too_short_is_refused_on_the_gpu(device):
    tiling = Tiling(Numbers(BLOCK_M=8, BLOCK_N=8, BLOCK_K=8, GROUP_M=0))
    request = of("matmul_relu", "float16", tiling, m=64, n=64, k=64)
    if device.call(verdict_job, request, GPUS[0].target, seconds=120).launchable:
        pytest.skip("this target takes such tiles")
    assert refused(device, request)


def test_g05_more_shared_memory_than_there_is_on_the_gpu(device):
    tiling = Tiling(Numbers(BLOCK_M=256, BLOCK_N=256, BLOCK_K=64, GROUP_M=0), num_warps=8, num_stages=4)
    request = of("matmul_relu", "float16", tiling, m=512, n=512, k=512)
    verdict = device.call(verdict_job, request, GPUS[0].target, seconds=180)
    assert not verdict.launchable
    assert f"{GPUS[0].target.shared_bytes:,}" in verdict.reason
    assert "shared memory" in refused(device, request)
    fewer = replace(request, tiling=replace(tiling, blocks=Numbers(tiling.blocks, BLOCK_M=64, BLOCK_N=64), num_stages=2))
    assert result(device, fewer).within


def test_g07_too_many_warps_on_the_gpu(device):
    warps = 2 * GPUS[0].target.threads // GPUS[0].target.warp_size
    assert refused(device, of("vector_add", tiling=Tiling(Numbers(BLOCK_SIZE=4096), warps), n_elements=5000))


@pytest.mark.parametrize(
    "texts",
    [
        {"operator": "matmul_relu", "m": "511", "n": "511", "k": "511", "dtype": "float16"},
        {"operator": "softmax", "rows": "1823", "columns": "781", "dtype": "float16"},
    ],
)
def test_g09_a_rounding_is_not_called_wrong_on_the_gpu(texts):
    text = words(launched(page(**texts)))
    assert "✓ within tolerance (" in text
    assert "✗" not in text


def test_t01_compiling_and_running_are_two_figures_on_the_page():
    text = words(launched(page(n="98432", BLOCK_SIZE="1024")))
    assert "compiled in" in text or "from Triton’s cache in" in text


def test_t01_the_first_call_is_no_sample(device):
    point = measured(device, of("vector_add", n_elements=2**22), ("pytorch", "triton"))
    ours = point.way("triton")
    assert ours.compile_seconds is not None
    assert ours.kernel.n >= 4
    assert ours.kernel.high < 10 * ours.kernel.low


def test_t02_a_cleared_l2_gives_no_more_bandwidth_than_there_is(device):
    point = measured(device, of("vector_add", n_elements=2**20), ("pytorch", "triton"))
    roofs = device.call(roofs_job, GPUS[0], ("float32",), seconds=100)
    known = Device(GPUS[0].name, l2_bytes=GPUS[0].l2_bytes)
    assert verdicts.invalid(point.way("triton"), point, roofs, known) is None
    assert 12 * 2**20 / point.way("triton").kernel.median < (roofs.bandwidth or math.inf)


def test_t03_a_small_size_is_bound_by_launching(device):
    point = measured(device, of("vector_add", n_elements=4096), ("pytorch", "triton"))
    roofs = device.call(roofs_job, GPUS[0], ("float32",), seconds=100)
    assert verdicts.launch_bound(point.way("triton"), point, roofs)
    assert verdicts.speed_up(point, roofs, Device(GPUS[0].name, l2_bytes=GPUS[0].l2_bytes)) is None


def test_k01_the_weights_gradient_of_a_row_of_zeros_on_the_gpu(device):
    (found,) = device.call(on_gpu.weight_gradients, seconds=120)
    assert found[:4] == (0.0,) * 4
    assert found[4:] == pytest.approx((-316.2278,) * 4, rel=1e-5)


def test_k03_the_gradient_that_came_in_is_not_written_to_on_the_gpu(device):
    assert device.call(on_gpu.same_gradient_twice, seconds=120) == [True, True]
