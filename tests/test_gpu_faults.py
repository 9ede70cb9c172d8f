"""On a GPU: an illegal access and a card that others have filled; what is read, and that everything goes on afterwards."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from kernels.errors import TaskError
from kernels.language import MISSING
from kernels.measure import runs
from kernels.measure.campaign import Campaign
from kernels.measure.point import Task
from kernels.runtime.context import REPLACED, ContextLostError
from kernels.runtime.device import attached
from kernels.runtime.settings import corrected
from kernels.runtime.workers import process_id
from pages import _shell

from . import on_gpu
from .limits import PATIENCE, until
from .test_pages import launched, page, words

GPUS = () if MISSING else attached()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not GPUS, reason="no GPU that Triton can launch on is attached")]

# Takes all of the card but so many bytes, says so, and keeps it until its input ends.
HOLD = """
import sys, torch
held = torch.empty(torch.cuda.mem_get_info()[0] - int(sys.argv[1]), dtype=torch.uint8, device="cuda")
print("held", flush=True)
sys.stdin.read()
"""
LEFT = 3 * 2**30
LARGE = {"n": str(2**29), "BLOCK_SIZE": "1024"}  # three tensors of 2 GiB


@pytest.fixture
def device():
    return _shell.workers()[GPUS[0].worker]


@pytest.fixture
def filled():
    """A card that another process has filled, but for 3 GiB; it is given back when this is called."""
    _shell.workers()[GPUS[0].worker].restart(wait=True)
    other = subprocess.Popen([sys.executable, "-c", HOLD, str(LEFT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "held\n"

    def give_back() -> None:
        other.stdin.close()
        other.wait(PATIENCE)

    yield give_back
    give_back()


def right(text: str) -> bool:
    return "max |difference| from PyTorch 0.0" in text and "within tolerance" in text


def test_after_an_illegal_access_the_next_launch_of_every_session_is_right(device):
    mine, theirs = page(n="98432", BLOCK_SIZE="1024"), page(n="1000", BLOCK_SIZE="256")
    assert right(words(launched(mine)))
    before = device.call(process_id, seconds=PATIENCE)
    with pytest.raises(ContextLostError, match="illegal memory access") as failure:
        device.call(on_gpu.poison, seconds=PATIENCE)
    assert REPLACED in str(failure.value)
    assert right(words(launched(theirs)))
    assert right(words(launched(page(n="98432", BLOCK_SIZE="512"))))
    assert device.call(process_id, seconds=PATIENCE) != before


def test_an_illegal_access_that_the_task_hides_costs_its_process_too(device):
    assert device.call(on_gpu.poison_and_hide, seconds=PATIENCE) == "hidden"
    assert right(words(launched(page(n="98432", BLOCK_SIZE="1024"))))


def test_an_illegal_access_while_others_wait_in_line(device):
    failures: list[TaskError] = []

    def poison() -> None:
        try:
            device.call(on_gpu.poison_slowly, seconds=PATIENCE)
        except TaskError as error:
            failures.append(error)

    thread = threading.Thread(target=poison)
    thread.start()
    until(lambda: device.waiting() > 0 or failures)
    assert right(words(launched(page(n="98432", BLOCK_SIZE="1024"))))
    thread.join(PATIENCE)
    assert [type(failure) for failure in failures] == [ContextLostError]


def test_a_card_that_another_process_has_filled(filled):
    text = words(launched(page(**LARGE)))
    assert "No result. The tensors need 6.4 GB, and the GPU's free memory is" in text
    assert right(words(launched(page(n="98432", BLOCK_SIZE="1024"))))
    filled()
    assert right(words(launched(page(**LARGE))))


def test_what_was_measured_and_saved_is_kept(device, tmp_path):
    settings, _ = corrected({"n": "1000000", "BLOCK_SIZE": "1024"})
    task = Task(settings.request, "forward", ("pytorch", "triton"), brief=True)
    first = finished(Campaign(device, GPUS[0], (task,)))
    path = runs.save(first.run(), tmp_path)
    with pytest.raises(ContextLostError):
        device.call(on_gpu.poison, seconds=PATIENCE)
    second = finished(Campaign(device, GPUS[0], (task, task)))
    assert [point.problem for point in second.points] == [None, None]
    assert runs.load(path) == first.run()


def finished(campaign: Campaign) -> Campaign:
    until(lambda: campaign.state != "running")
    assert campaign.state == "done", campaign.problem
    return campaign
