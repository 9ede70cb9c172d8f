"""A machine that cannot compile: a full disk, folders that cannot be used, a killed or stopped compiler, a broken Triton."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kernels import Numbers, Problem, Tiling
from kernels.errors import EnvironmentFailure
from kernels.runtime.device import find_target
from kernels.runtime.jobs import verdict_job
from kernels.runtime.request import Request
from kernels.runtime.workers import Workers
from pages import _shell
from pages._kept import STORE

from .faulty_tasks import pid

ROOT = Path(__file__).parents[1]
TARGET = find_target("sm_90")


@pytest.fixture
def workers():
    found = Workers()
    yield found
    found.close()


def request(n: int) -> Request:
    return Request("vector_add", Problem(Numbers(n_elements=n)), Tiling(Numbers(BLOCK_SIZE=256)))


def verdict(workers: Workers, n: int):
    return workers["compile"].call(verdict_job, request(n), TARGET, seconds=120)


@pytest.fixture
def tiny(tmp_path):
    """A folder on a file system of 64 kB."""
    place = tmp_path / "tiny"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True).returncode:
        pytest.skip("only root may mount a full disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_is_named_and_the_next_try_works(workers, tiny, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tiny))
    filled = tiny / "filled"
    with pytest.raises(OSError, match="No space left"):
        filled.write_bytes(b"x" * 2**17)
    with pytest.raises(EnvironmentFailure) as told:
        verdict(workers, 1_000)
    assert str(told.value).startswith(f"No space is left in Triton's cache folder {tiny}: ")
    worker = workers["compile"].call(pid, seconds=60)
    subprocess.run(["mount", "-o", "remount,size=64m", str(tiny)], check=True)
    assert verdict(workers, 1_000).launchable
    assert workers["compile"].call(pid, seconds=60) == worker, "the worker that failed goes on"


@pytest.mark.parametrize("place", ["/dev/null", "/proc/nope", ""])
def test_a_cache_folder_that_cannot_be_used_is_named(workers, monkeypatch, place):
    monkeypatch.setenv("TRITON_CACHE_DIR", place)
    with pytest.raises(EnvironmentFailure, match=r"Triton's cache folder|Triton has no folder for its cache") as told:
        verdict(workers, 1_000)
    assert place in str(told.value)
    assert "TRITON_CACHE_DIR" in str(told.value)


def test_a_home_that_is_not_there_is_named(workers, monkeypatch):
    monkeypatch.delenv("TRITON_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", "/proc/nope")
    with pytest.raises(EnvironmentFailure, match=r"Triton's cache folder /proc/nope/.triton/cache cannot be used"):
        verdict(workers, 1_000)


AS_NOBODY = """
import os, sys
import loky, torch, triton  # what the folders of another user may hide
folder = sys.argv[1]
os.chmod(folder, 0o555)
os.environ |= {"TRITON_CACHE_DIR": folder, "TRITON_INTERPRET": "0", "HOME": folder}
os.setuid(65534)
from kernels import Numbers, Problem, Tiling
from kernels.errors import EnvironmentFailure
from kernels.runtime.device import find_target
from kernels.runtime.jobs import verdict_job
from kernels.runtime.request import Request

request = Request("vector_add", Problem(Numbers(n_elements=1000)), Tiling(Numbers(BLOCK_SIZE=256)))
try:
    print(verdict_job(request, find_target("sm_90")))
except EnvironmentFailure as error:
    print("environment:", error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_a_cache_folder_that_may_not_be_written_is_named(tmp_path):
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    if "Permission denied: '/root" in done.stderr:
        pytest.skip("this interpreter lies in a folder that only root may read")
    assert f"environment: Triton's cache folder {tmp_path} cannot be used (permission denied" in done.stdout, done


BROKEN = {
    "attribute": 'raise AttributeError("module numpy has no attribute bool8")',
    "runtime": 'raise RuntimeError("the driver is too old\\nmore of it")',
    "exit": "raise SystemExit(3)",
    "import": 'raise ImportError("no wheel")',
    "system": 'raise OSError("libtriton.so: wrong ELF class")',
    "hollow": '__version__ = "9"',
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_triton_leaves_the_command_line_and_the_pages(tmp_path, kind):
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text(BROKEN[kind])
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def run(*arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
        )

    pages = (
        "from streamlit.testing.v1 import AppTest\n"
        "for page in ('app.py', 'pages/compiler.py', 'pages/hardware.py', 'pages/fusion.py'):\n"
        "    app = AppTest.from_file(page, default_timeout=60)\n"
        "    app.session_state['entered'] = True\n"
        "    app.run()\n"
        "    assert not app.exception, app.exception\n"
    )
    done = run("-c", pages)
    assert done.returncode == 0, done.stderr[-2000:]
    assert run("-m", "kernels", "list").returncode == 0
    for command in ("trace", "compile"):
        done = run("-m", "kernels", command, "vector_add")
        assert "Traceback" not in done.stderr
        assert "Triton cannot be imported here: " in done.stdout + done.stderr
        assert "refused" not in done.stdout


def launch_page(**parameters: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=90)
    for name, value in parameters.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, app.exception
    return app


def words(app: AppTest) -> str:
    return " ".join(str(element.proto) for element in app.main)


@pytest.fixture
def own_server():
    """Workers and caches as a server that has just started has them."""
    STORE.clear()
    _shell.workers().close()
    yield _shell.workers()
    STORE.clear()
    _shell.workers().close()


def test_a_full_disk_on_the_launch_page_is_nobodys_refusal_and_is_not_kept(own_server, tiny, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tiny))
    with pytest.raises(OSError, match="No space left"):
        (tiny / "filled").write_bytes(b"x" * 2**17)
    app = launch_page(n="1000", BLOCK_SIZE="256")
    assert "The compiler gave no result" in words(app)
    assert f"No space is left in Triton's cache folder {tiny}" in words(app).replace("&#x27;", "'").replace("\\'", "'")
    assert "refuses this launch" not in words(app)
    assert not app.button(key="launch.go").disabled, "the interpreter needs no compiler"
    subprocess.run(["mount", "-o", "remount,size=64m", str(tiny)], check=True)
    app.run()
    other = launch_page(n="1000", BLOCK_SIZE="256")
    for page in (app, other):
        assert not page.exception
        assert "The compiler gave no result" not in words(page)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=lambda number: number.name)
@pytest.mark.parametrize("name", ["trace", "compile"])
def test_a_worker_lost_beside_the_launch_page_costs_a_moment(own_server, name, number):
    launch_page(n="1000", BLOCK_SIZE="256")
    os.kill(own_server[name].call(pid, seconds=60), number)
    time.sleep(0.2)
    app = launch_page(n="1001", BLOCK_SIZE="256")
    assert "gave no result" not in words(app)
    assert "refuses" not in words(app)
    assert "4 programs" in words(app).replace("**", "")


def test_a_compiler_killed_again_and_again_is_not_kept(own_server):
    """As a machine without memory does it: the process is ended as soon as it has begun."""
    compiler, ended = own_server["compile"], threading.Event()

    def end_all() -> None:
        while not ended.is_set():
            for worker in compiler._workers:
                for number in list(worker._process._last) if worker._process else ():
                    os.kill(number, signal.SIGKILL) if Path(f"/proc/{number}").exists() else None
            time.sleep(0.01)

    thread = threading.Thread(target=end_all)
    thread.start()
    app = launch_page(n="1000", BLOCK_SIZE="256")
    ended.set()
    thread.join()
    assert "The compiler gave no result" in words(app)
    assert "refuses this launch" not in words(app)
    assert not app.button(key="launch.go").disabled
    app.run()
    assert "The compiler gave no result" not in words(app)
