"""On a GPU: thread numbers, multiprocessors and times read in real launches, against layouts, occupancy and models."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kernels.inside.examples import EXAMPLES
from kernels.inside.hardware_jobs import schedule_job, threads_job
from kernels.language import MISSING
from kernels.runtime.device import attached
from kernels.runtime.workers import Workers

from . import hardware_on_gpu
from .limits import until
from .test_hardware_pages import TABS, asked, page
from .test_pages import checked, words

GPUS = () if MISSING else attached()
CUDA = bool(GPUS) and GPUS[0].target.backend == "cuda"
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not CUDA, reason="no NVIDIA GPU that Triton can launch on is attached")]
LAUNCHES = hardware_on_gpu.launches()


@pytest.fixture(scope="module")
def device():
    workers = Workers()
    yield workers[GPUS[0].worker]
    workers.close()


@pytest.mark.parametrize("number", range(len(LAUNCHES)), ids=[f"{one.operator}-{one.problem.dtype}" for one in LAUNCHES])
def test_a_real_launch_reads_the_threads_of_the_layout(device, number):
    told = device.call(threads_job, LAUNCHES[number], GPUS[0].target, seconds=120)
    assert hardware_on_gpu.wrong(told) == []
    assert True not in hardware_on_gpu.planted(told)


@pytest.mark.parametrize(("operator", "number"), [("vector_add", 0), ("vector_add", 2), ("rms_norm", 1), ("matmul_relu", 2)])
def test_a_schedule_has_every_program_on_a_multiprocessor_at_a_time(device, operator, number):
    request = EXAMPLES[operator][number].request(operator)
    told = device.call(schedule_job, request, GPUS[0].target, seconds=120)
    programs = request.launch().programs
    assert told.programs == programs
    assert (told.ends > told.starts).all()
    assert told.multiprocessors == GPUS[0].multiprocessors
    assert told.per_unit().sum() == programs
    assert (told.per_unit() > 0).sum() == min(programs, told.multiprocessors)
    driver, formula = device.call(hardware_on_gpu.resident, request, GPUS[0].target, seconds=120)
    assert driver == formula
    assert told.together() <= driver
    assert told.span < 1e9
    assert told.cost.instrumented > 0


def test_programs_do_not_start_in_their_order(device):
    request = EXAMPLES["vector_add"][0].request("vector_add")
    told = device.call(schedule_job, request, GPUS[0].target, seconds=120)
    assert (np.diff(told.starts) < 0).any()


@pytest.mark.parametrize(("operator", "number"), hardware_on_gpu.COUNTED)
def test_the_model_of_sectors_is_what_the_counters_count(device, operator, number):
    request = EXAMPLES[operator][number].request(operator)
    found, model, reason = device.call(hardware_on_gpu.compared, request, seconds=180)
    if found is None:
        pytest.skip(reason)
    assert {name: getattr(found, name) for name in model} == pytest.approx(model, rel=0.01)


@pytest.mark.parametrize("texts", [{"n_elements": "98431"}, {"operator": "matmul_relu", "m": "1000", "n": "777", "k": "500"}])
def test_the_page_asks_the_gpu(texts):
    text = words(asked(page(**texts)))
    assert "a real launch read the thread numbers: agrees" in text
    assert f"measured on {GPUS[0].name}" in text
    assert "Not these sizes" not in text


def test_the_page_reads_the_counters():
    app = page(TABS[0], n_elements="98432")
    checked(app.button(key="hardware.count").click().run())
    _, task = app.session_state["hardware.counts"]
    until(lambda: task.state != "waiting")
    if task.state == "done" and task.result[0] is None:
        pytest.skip(task.result[1])
    text = words(checked(app.run()))
    loads = re.search(r"all loads asked for ([\d,]+) sectors, the model says ([\d,]+)", text)
    assert loads, text
    assert loads[1] == loads[2]
