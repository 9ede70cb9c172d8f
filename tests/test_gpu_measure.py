"""On a GPU: what is measured is right, complete, possible, and what a bare script measures."""

from __future__ import annotations

import pytest

from kernels import Numbers, Problem, find, operators
from kernels.language import MISSING
from kernels.measure import counters, verdicts, ways
from kernels.measure.jobs import counters_job, measure_job, roofs_job
from kernels.measure.point import Task
from kernels.measure.records import Device
from kernels.runtime.device import attached
from kernels.runtime.request import Request
from kernels.runtime.workers import Workers

from . import on_gpu
from .kinds import kind_of
from .test_fusion_page import fusion, waited
from .test_pages import checked, words

GPUS = () if MISSING else attached()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not GPUS, reason="no GPU that Triton can launch on is attached")]
MEASURED = [name for name, operator in operators().items() if operator.measured]
SMALLER = {"flat": {"n_elements": 2**25}, "rows": {"rows": 8192, "columns": 4096}, "tiles": {"m": 1024, "n": 1024, "k": 1024}}
WITHOUT_COMPILED = tuple(way for way in ways.WAYS if way != "compiled")


@pytest.fixture(scope="module")
def device():
    workers = Workers()
    yield workers[GPUS[0].worker]
    workers.close()


def request(name: str, dtype: str = "float32", *, whole: bool = False) -> Request:
    operator = find(name)
    problem = Problem(Numbers(operator.measured if whole else SMALLER[kind_of(operator)]), dtype)
    return Request(name, problem, operator.tiling(problem))


@pytest.mark.parametrize("name", MEASURED)
def test_every_way_is_right_and_has_all_its_figures(device, name):
    wanted = request(name, "bfloat16")
    point = device.call(measure_job, Task(wanted, "forward", WITHOUT_COMPILED), GPUS[0], seconds=300)
    assert not point.problem
    roofs = device.call(roofs_job, GPUS[0], ("bfloat16",), seconds=100)
    for timed in point.timed:
        assert not timed.problem, timed
        assert timed.kernel.median > 0
        assert timed.host.n >= 10
        assert timed.kernels
        assert timed.peak_bytes >= 0
        assert verdicts.invalid(timed, point, roofs, Device("", l2_bytes=GPUS[0].l2_bytes)) is None
    ours = point.way("triton")
    assert len(ours.kernels) == 1
    assert point.copy.median > 0
    assert point.before.sm_clock is None or point.before.sm_clock > 1e8


@pytest.mark.parametrize("direction", ["backward", "both", "module"])
def test_gradients_are_measured(device, direction):
    point = device.call(measure_job, Task(request("rms_norm"), direction, ("pytorch", "triton")), GPUS[0], seconds=300)
    assert not point.problem
    assert verdicts.ratio(point) > 1


def test_a_wrong_kernel_gets_no_time(device):
    point = device.call(on_gpu.measured_wrong, request("vector_add"), GPUS[0], seconds=300)
    ours = point.way("triton")
    assert ours.kernel is None
    assert ours.problem.startswith("Wrong:")
    assert point.way("pytorch").kernel


@pytest.mark.parametrize("name", ["vector_add", "rms_norm", "softmax"])
def test_a_bare_script_measures_the_same(device, name):
    """Within 2 % above 100 us: `triton.testing.do_bench` medians of the same launch."""
    ours, theirs = device.call(on_gpu.against_do_bench, request(name, whole=True), GPUS[0], seconds=300)
    assert theirs > 100e-6
    assert abs(ours / theirs - 1) < 0.02


@pytest.mark.skipif(counters.missing() is not None, reason=counters.missing() or "")
def test_counters_agree_with_the_formula(device):
    wanted = request("rms_norm")
    point = device.call(measure_job, Task(wanted, "forward", ("pytorch", "triton"), brief=True), GPUS[0], seconds=300)
    point = device.call(counters_job, point, GPUS[0], seconds=300)
    expected = sum(step.moved for step in ways.traffic(wanted, "forward").fused)
    counted = sum(one.read + one.written for one in point.way("triton").dram)
    assert 0.7 * expected < counted < 1.2 * expected  # what L2 keeps of the last rows is not written yet


def test_the_page_measures():
    app = fusion(operator="vector_add", n_elements=str(2**28))
    checked(app.button(key="fusion.go").click().run())
    campaign = app.session_state["fusion.campaign"]
    text = words(waited(app))
    assert campaign.state == "done", campaign.problem
    assert f"{GPUS[0].name} · measured" in text
    assert "Nothing to fuse" in text
