"""Workers killed and stopped with real signals, and what they started: what is read, that the next action works, what ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from kernels.runtime.background import Background
from kernels.runtime.workers import NoAnswerError, WorkerError, Workers

from .faulty_tasks import count, pid, sleep, with_child

ROOT = Path(__file__).parents[1]
NAMES = ("trace", "interpret", "compile", "device 0", "trace whole")
AGAIN = ("trace", "compile", "trace whole")


@pytest.fixture
def workers():
    found = Workers()
    yield found
    found.close()


def running(number: int) -> bool:
    """Whether a process runs; one that ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def waited(condition, seconds: float) -> bool:
    ends = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


def numbers(file: Path) -> list[int]:
    assert waited(lambda: file.exists() and file.read_text().strip(), 60), "the task did not begin"
    return [int(number) for number in file.read_text().split()]


def family(number: int) -> list[int]:
    """Every process of a worker's group."""
    done = subprocess.run(["ps", "-eo", "pid=,pgid="], capture_output=True, text=True, check=True)
    return [int(line.split()[0]) for line in done.stdout.splitlines() if int(line.split()[1]) == number]


def asked(worker, *task, seconds: float = 60.0) -> tuple[threading.Thread, list]:
    """A task in a thread, and the list that its result or its error comes to."""
    results: list = []

    def run() -> None:
        try:
            results.append(worker.call(*task, seconds=seconds, kill=True))
        except Exception as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=lambda number: number.name)
@pytest.mark.parametrize("name", NAMES)
def test_a_worker_lost_while_idle_is_replaced_without_a_word(workers, name, number):
    first = workers[name].call(pid, seconds=60)
    os.kill(first, number)
    assert number == signal.SIGSTOP or waited(lambda: not running(first), 5)
    thread, results = asked(workers[name], pid)
    thread.join(60)
    if number == signal.SIGSTOP and name not in AGAIN:  # whether a stopped process had begun a task cannot be known
        assert "was ended by SIGSTOP over this" in str(results[0])
    else:
        assert isinstance(results[0], int)
    assert workers[name].call(pid, seconds=60) != first
    assert waited(lambda: not running(first), 5)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=lambda number: number.name)
@pytest.mark.parametrize("name", NAMES)
def test_what_may_have_run_on_a_device_is_not_started_again(workers, tmp_path, name, number):
    file = tmp_path / "begun"
    thread, results = asked(workers[name], count, str(file), 3.0)
    os.kill(numbers(file)[0], number)
    thread.join(60)
    if name in AGAIN:
        assert results == [2]
        return
    assert len(numbers(file)) == 1
    assert isinstance(results[0], WorkerError)
    assert f"The {name} worker was ended by {number.name} over this" in str(results[0])
    assert "not started again by itself" in str(results[0])
    assert workers[name].call(count, str(file), seconds=60) == 2


def test_a_task_that_kills_its_process_every_time_is_given_up_after_two(workers, tmp_path):
    file = tmp_path / "begun"
    thread, results = asked(workers["trace"], count, str(file), 60.0)
    for turn in range(2):
        assert waited(lambda turn=turn: file.exists() and len(numbers(file)) == turn + 1, 60)
        os.kill(numbers(file)[-1], signal.SIGKILL)
    thread.join(60)
    assert "The trace worker was ended by SIGKILL twice over this" in str(results[0])
    assert ".." not in str(results[0])


def give_up(workers: Workers, name: str, how: str, task: threading.Thread, background: Background | None) -> None:
    if how == "restart":
        workers[name].restart()
    elif how == "close":
        workers.close()
    elif background is not None:
        background.cancel()
    task.join(60)


@pytest.mark.parametrize("how", ["time limit", "cancel", "restart", "close"])
@pytest.mark.parametrize("name", ["compile", "device 0"])
def test_a_task_that_is_given_up_takes_along_what_it_started(workers, tmp_path, name, how):
    file, background = tmp_path / "processes", None
    if how == "cancel":
        background = Background(workers[name], _with_child, str(file), seconds=60)
        task = threading.Thread(target=lambda: None)
        task.start()
    else:
        workers[name].call(pid, seconds=60)
        task, _ = asked(workers[name], with_child, str(file), 60.0, seconds=4.0 if how == "time limit" else 60.0)
    worker, child = numbers(file)
    assert waited(lambda: len(family(worker)) >= 3, 30)
    members = family(worker)
    assert {worker, child} <= set(members)
    give_up(workers, name, how, task, background)
    assert waited(lambda: not any(map(running, members)), 5), [number for number in members if running(number)]


def _with_child(file: str, progress: str) -> None:
    with_child(file, 60.0)


SCRIPT = """
import sys, threading, time
from kernels.runtime.workers import Workers
from tests.faulty_tasks import pid, with_child

workers = Workers()
def start():  # in a thread that ends, as a page's run does
    print(workers["trace"].call(pid, seconds=60), workers["device 0"].call(pid, seconds=60), flush=True)
thread = threading.Thread(target=start)
thread.start()
thread.join()
time.sleep(1)
print(workers["trace"].call(pid, seconds=60), flush=True)
workers["compile"].call(with_child, sys.argv[1], 600.0, seconds=600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
@pytest.mark.parametrize("stopped", [False, True], ids=["", "a worker stopped"])
def test_a_server_that_ends_takes_its_workers_along(tmp_path, number, stopped):
    """Workers, what they started, and loky's trackers; idle ones too. A thread that ends takes none along."""
    file = tmp_path / "processes"
    server = subprocess.Popen([sys.executable, "-c", SCRIPT, str(file)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    idle = [int(word) for word in server.stdout.readline().split()]
    assert int(server.stdout.readline()) == idle[0], "the thread that started the worker took it along"
    busy = numbers(file)
    done = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
    trackers = [int(line.split()[0]) for line in done.stdout.splitlines() if int(line.split()[1]) == server.pid]
    everyone = {*idle, *busy, *trackers, *family(busy[0])}
    if stopped:
        os.kill(idle[1], signal.SIGSTOP)
    server.send_signal(number)
    server.wait(10)
    assert waited(lambda: not any(map(running, everyone)), 5), [one for one in everyone if running(one)]


def test_a_long_task_holds_nobody_up(workers):
    """Two long tasks at a time and ordinary ones beside them; a third long one waits and still gets its result."""
    compiler = workers["compile"]
    threads = [asked(compiler, sleep, 12.0) for _ in range(3)]
    waits = []
    ends = time.monotonic() + 10
    while time.monotonic() < ends:
        began = time.monotonic()
        assert compiler.call(sleep, 0.0, seconds=60) == 0.0
        waits.append(time.monotonic() - began)
        time.sleep(0.1)
    for thread, results in threads:
        thread.join(120)
        assert results == [12.0]
    assert max(waits[len(waits) // 2 :]) < 2.0, waits


def test_a_long_task_that_is_given_up_leaves_its_place(workers):
    compiler = workers["trace whole"]
    for _ in range(3):
        thread, results = asked(compiler, sleep, 60.0, seconds=4.0)
        thread.join(60)
        assert isinstance(results[0], NoAnswerError)
    assert compiler.waiting() == 0
    thread, results = asked(compiler, sleep, 4.0)
    thread.join(60)
    assert results == [4.0]


def test_a_person_who_leaves_gives_the_worker_free(workers):
    class LeftError(BaseException):
        pass

    compiler, began = workers["compile"], time.monotonic()
    compiler.call(pid, seconds=60)

    def left() -> None:
        if time.monotonic() - began > 1.0:
            raise LeftError

    with pytest.raises(LeftError):
        compiler.call(sleep, 60.0, seconds=120, checkpoint=left, kill=True)
    assert compiler.waiting() == 0
    assert compiler.call(sleep, 0.0, seconds=60) == 0.0
