"""What surrounds the kernels: E01 to E03."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kernels.commands.compile import EMITTED

from ..server import free_port
from ..test_compiler_page import page as compiler_page
from ..test_compiler_page import widget
from ..test_pages import ROOT, checked, page, words
from .reach import command

SIZE = ("--n-elements", "98432")


def bound_by_permissions(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command of the product by somebody who may not write where permissions forbid it: root without that privilege."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("TRITON_", "XDG_"))} | environment
    dropped = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    line = [*dropped, sys.executable, "-m", "kernels", *arguments]
    return subprocess.run(line, cwd=ROOT, env=given, capture_output=True, text=True, timeout=180)


@pytest.fixture
def locked(tmp_path):
    """A folder that may be read and not written."""
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    return folder


def unwritable(done: subprocess.CompletedProcess[str], folder: Path) -> None:
    """One clear line with the folder and the variable, or a result all the same; a traceback or the kernel's blame never."""
    told = done.stdout + done.stderr
    assert "Traceback" not in told
    assert "Triton refuses" not in told
    if done.returncode == 0 and json.loads(done.stdout)["launchable"]:
        return
    assert str(folder) in told, told
    assert "TRITON_CACHE_DIR" in told, told
    assert not (done.stdout.strip() and json.loads(done.stdout).get("who") == "Triton"), (
        "an environment's fault is not Triton's"
    )


def test_e01_a_home_that_cannot_be_written(locked):
    unwritable(bound_by_permissions("compile", "vector_add", *SIZE, "--target", "sm_90", "--json", HOME=str(locked)), locked)


def test_e01_a_cache_folder_that_cannot_be_written(locked, tmp_path):
    done = bound_by_permissions(
        "compile", "vector_add", *SIZE, "--target", "sm_90", "--json", HOME=str(locked), TRITON_CACHE_DIR=str(locked)
    )
    unwritable(done, locked)


def test_e01_a_cache_folder_that_is_no_folder():
    done = command("compile", "vector_add", *SIZE, "--target", "sm_90", "--json", TRITON_CACHE_DIR="/dev/null/cache")
    unwritable(done, Path("/dev/null/cache"))


def test_e01_tracing_needs_no_cache(locked):
    done = bound_by_permissions("trace", "vector_add", "--n-elements", "7", "--block-size", "4", HOME=str(locked))
    assert done.returncode == 0, done.stderr
    assert "program 0" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_e02_sass_comes_without_a_cuda_toolkit(target):
    done = command("compile", "vector_add", *SIZE, "--target", target, "--emit", "sass", PATH="/usr/bin:/bin", CUDA_HOME="")
    assert done.returncode == 0, done.stderr
    assert "LDG" in done.stdout
    assert "EXIT" in done.stdout


def test_e02_amd_has_amdgcn_and_no_sass_and_both_are_said():
    done = command("compile", "vector_add", *SIZE, "--target", "gfx942", "--emit", "sass")
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no sass for gfx942. It has ttir, ttgir, llir, amdgcn." in done.stderr
    done = command("compile", "vector_add", *SIZE, "--target", "gfx942", "--emit", "amdgcn")
    assert "s_endpgm" in done.stdout
    assert set(EMITTED) == {"ttir", "ttgir", "llir", "ptx", "sass", "amdgcn"}


def test_e02_the_tab_is_named_by_the_target():
    app = compiler_page(n_elements=98432, target="gfx942", stage="sass")
    picker = widget(app, "segmented_control", "stage")
    assert list(picker.options) == ["TTIR", "TTGIR", "LLVM IR", "AMDGCN"]
    assert picker.value == "amdgcn"
    app = compiler_page(n_elements=98432, target="sm_90", stage="sass")
    assert list(widget(app, "segmented_control", "stage").options) == ["TTIR", "TTGIR", "LLVM IR", "PTX", "SASS"]


def test_e02_without_a_disassembler_ptx_is_as_far_as_it_goes(tmp_path):
    """Triton takes the tool from the variable where it is set; here that is a program that knows its version and no more."""
    broken = tmp_path / "nvdisasm"
    broken.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo "Cuda compilation tools, release 12.9, V12.9.86" && exit 0\nexit 1\n'
    )
    broken.chmod(0o755)
    found = {"TRITON_NVDISASM_PATH": str(broken), "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    done = command("compile", "vector_add", *SIZE, "--target", "sm_90", "--emit", "sass", **found)
    assert done.returncode == 1
    assert "there is no sass for sm_90. It has ttir, ttgir, llir, ptx." in done.stderr
    done = command("compile", "vector_add", *SIZE, "--target", "sm_90", "--emit", "ptx", **found)
    assert ".visible .entry add_kernel" in done.stdout


def test_e03_a_torch_of_another_release_is_warned_of_and_the_app_starts(tmp_path):
    """Beside the installed packages lies the description of an older torch, first on the path."""
    folder = tmp_path / "torch-2.5.1.dist-info"
    folder.mkdir()
    text = "Metadata-Version: 2.1\nName: torch\nVersion: 2.5.1\nRequires-Dist: triton==3.1.0; platform_system == 'Linux'\n"
    (folder / "METADATA").write_text(text)
    done = command("check", "--quick", "--json", PYTHONPATH=str(tmp_path), seconds=300)
    assert "Traceback" not in done.stderr
    results = json.loads(done.stdout)
    said = json.dumps(results)
    assert "2.5.1" in said
    assert "3.1" in said


def test_e03_the_first_page_names_the_versions():
    assert "Triton 3." in words(page())


def test_e03_the_watcher_says_nothing_of_torch(tmp_path):
    """Streamlit's watcher looks into every module that the page's process has imported: torch must not be one of them."""
    log, port = tmp_path / "log", free_port()
    options = ["--server.port", str(port), "--server.headless", "true", "--server.fileWatcherType", "poll"]
    with log.open("w") as out:
        server = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", *options], cwd=ROOT, stdout=out, stderr=out
        )
    try:
        assert "8 elements" in _opened(port, "n_elements=8&BLOCK_SIZE=4")
        time.sleep(2)
    finally:
        server.terminate()
        server.wait(20)
    text = log.read_text()
    assert "torch" not in text
    assert "Traceback" not in text
    assert checked(page()).exception == checked(page()).exception


def _opened(port: int, query: str) -> str:
    """What the server sends to a browser that opens the first page."""
    import asyncio

    from websockets.asyncio.client import connect

    from ..crowd import Client

    async def asked() -> bytes:
        for _ in range(100):
            try:
                url = f"ws://localhost:{port}/_stcore/stream"
                async with connect(url, subprotocols=["streamlit"], max_size=None) as socket:
                    wire = Client(socket)
                    wire.query = query
                    return await wire.rerun()
            except OSError:
                await asyncio.sleep(0.2)
        raise AssertionError("the server did not start")

    return asyncio.run(asked()).decode("utf-8", "ignore").replace("<b>", "").replace("</b>", "")
