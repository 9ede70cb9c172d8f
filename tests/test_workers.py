"""Workers that are killed, hang, or are given up: the next task works, others notice nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from kernels import Numbers, Problem, Tiling
from kernels.runtime.background import Background
from kernels.runtime.jobs import TaskError, launch_job, picture_job
from kernels.runtime.records import Limits
from kernels.runtime.request import Request
from kernels.runtime.workers import WorkerError, Workers, environment, process_id

from .limits import PATIENCE, until


class GivenUpError(BaseException):
    pass


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def variable(name: str) -> str | None:
    return os.environ.get(name)


def report(seconds: float, progress: str) -> str:
    for done in range(100):
        with open(progress, "w") as file:
            file.write(f"{done} 100")
        time.sleep(seconds / 100)
    return "done"


@pytest.fixture
def workers():
    found = Workers()
    yield found
    found.close()


def request(n: int, block: int) -> Request:
    return Request("vector_add", Problem(Numbers(n_elements=n)), Tiling(Numbers(BLOCK_SIZE=block)))


def test_every_worker_has_the_environment_of_its_task(workers, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert workers["compile"].call(variable, "TRITON_INTERPRET", seconds=PATIENCE) == "0"
    assert workers["trace"].call(variable, "TRITON_INTERPRET", seconds=PATIENCE) == "1"
    assert workers["trace"].call(variable, "CUDA_VISIBLE_DEVICES", seconds=PATIENCE) == ""
    assert environment("device GPU-abc")["CUDA_VISIBLE_DEVICES"] == "GPU-abc"


def test_a_worker_is_one_process_that_stays(workers):
    first = workers["trace"].call(process_id, seconds=PATIENCE)
    assert first != os.getpid()
    assert workers["trace"].call(process_id, seconds=PATIENCE) == first


def test_a_killed_worker_is_replaced(workers):
    worker = workers["trace"]
    with pytest.raises(WorkerError, match="ended by SIGKILL twice over this"):
        worker.call(die, seconds=PATIENCE)
    assert worker.call(sleep, 0, seconds=PATIENCE) == 0
    os.kill(worker.call(process_id, seconds=PATIENCE), signal.SIGKILL)
    assert worker.call(sleep, 0, seconds=PATIENCE) == 0


def test_a_task_that_hangs_is_ended_and_the_one_behind_it_runs(workers):
    worker, found = workers["trace"], []
    worker.call(process_id, seconds=PATIENCE)

    def hang() -> None:
        with pytest.raises(WorkerError, match="gave no answer in 1 s"):
            worker.call(sleep, 600, seconds=1)

    threads = [
        threading.Thread(target=hang),
        threading.Thread(target=lambda: found.append(worker.call(sleep, 0.01, seconds=PATIENCE))),
    ]
    for number, thread in enumerate(threads, start=1):
        thread.start()
        until(lambda number=number: worker.waiting() == number or found)
    for thread in threads:
        thread.join(PATIENCE)
    assert found == [0.01]


def test_waiting_in_line_is_not_counted_as_running(workers):
    worker, found = workers["trace"], []
    worker.call(process_id, seconds=PATIENCE)
    first = threading.Thread(target=lambda: found.append(worker.call(sleep, 6, seconds=PATIENCE)))
    first.start()
    until(lambda: worker.waiting() == 1)
    assert worker.call(sleep, 0.0, seconds=5) == 0.0  # a limit that a busy machine keeps, and shorter than the wait
    first.join()
    assert found == [6]


@pytest.mark.parametrize("kill", [False, True])
def test_a_task_given_up_leaves_the_worker_to_the_next(workers, kill):
    worker = workers["trace"]
    before = worker.call(process_id, seconds=PATIENCE)
    asked = 0

    def checkpoint() -> None:
        nonlocal asked
        asked += 1
        if asked > 3:
            raise GivenUpError

    with pytest.raises(GivenUpError):
        worker.call(sleep, 600 if kill else 2, seconds=PATIENCE, checkpoint=checkpoint, kill=kill)
    after = worker.call(process_id, seconds=PATIENCE)
    assert (after == before) is not kill


def test_versions_come_back_as_plain_text(workers):
    """torch's own kind of text would import torch, seconds of it, into the process that asks."""
    found = workers["interpret"].call(launch_job, request(7, 4), "cpu", seconds=PATIENCE)
    assert {type(version) for version in found.versions.values()} == {str}


def test_errors_of_a_kernel_come_back_as_a_sentence(workers):
    with pytest.raises(TaskError, match="BLOCK_SIZE: 3 is not a power of two"):
        workers["interpret"].call(launch_job, request(7, 3), "cpu", seconds=PATIENCE)


def test_eight_threads_trace_at_once_and_all_are_right(workers):
    found: dict[int, list[int]] = {}

    def ask(n: int) -> None:
        picture = workers["trace"].call(picture_job, request(n, 4), 0, None, 0, Limits(), False, seconds=PATIENCE)
        found[n] = [*picture.accesses[0].first.tolist(), picture.grid[0]]

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(20, 28)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: [0, 1, 2, 3, -(-n // 4)] for n in range(20, 28)}


def wait(background: Background) -> Background:
    until(lambda: background.state != "waiting")
    return background


def test_a_background_task_reports_progress_and_ends(workers):
    background = Background(workers["trace"], report, 0.8, seconds=PATIENCE)
    seen = set()
    while background.state == "waiting":
        seen.add(background.progress())
        time.sleep(0.02)
    assert (background.state, background.result) == ("done", "done")
    assert len(seen - {None}) > 3


def test_a_cancelled_task_ends_at_once_and_its_worker_too(workers):
    worker = workers["trace"]
    before = worker.call(process_id, seconds=PATIENCE)
    background = Background(worker, report, 600, seconds=2 * PATIENCE)
    until(background.progress)
    background.cancel()
    assert wait(background).state == "cancelled"
    assert worker.call(process_id, seconds=PATIENCE) != before


def test_a_failed_task_says_why(workers):
    background = wait(Background(workers["interpret"], launch_job, request(7, 3), "cpu", seconds=PATIENCE))
    assert background.state == "failed"
    assert "power of two" in background.failure


def test_a_turn_holds_the_line_and_ends_the_process(workers):
    worker, order = workers["trace"], []
    first = worker.call(process_id, seconds=PATIENCE)
    with worker.turn():
        waiting = threading.Thread(target=lambda: order.append(worker.call(process_id, seconds=PATIENCE)))
        waiting.start()
        until(lambda: worker.waiting() == 2)
        time.sleep(0.5)  # long enough for a task that does not wait to be seen
        order.append("turn")
    waiting.join(PATIENCE)
    assert order[0] == "turn"
    assert order[1] != first
    assert worker.waiting() == 0


def test_what_a_killed_worker_leaves_behind_is_not_warned_of():
    """The tracker's filter, as a fresh process reads it from the environment."""
    from kernels.runtime import processes as module

    module._quiet_tracker()
    module._quiet_tracker()
    assert os.environ["PYTHONWARNINGS"].split(",").count(module.QUIET) == 1
    code = "import warnings; warnings.warn('resource_tracker: There appear to be 1 leaked'); warnings.warn('other')"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr
    assert "UserWarning: other" in said
    assert "UserWarning: resource_tracker" not in said
