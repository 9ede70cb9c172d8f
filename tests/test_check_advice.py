"""The check's advice comes from the code that failed: real libraries that return CUDA's and NVML's codes, real full disks."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kernels.check import driver, pairs, toolchain
from kernels.check.failures import RECIPES, cuda, known, management, of_cuda, of_nvml
from kernels.check.values import FAIL, PASS, WARN

from .test_check import GOOD, statuses

ROOT = Path(__file__).parents[1]
# What the advice has to speak of, by the code: cuda.h's, then nvml.h's.
CUDA = {
    3: "spawn",
    34: "stubs",
    46: "exclusive",
    100: "CUDA_VISIBLE_DEVICES",
    101: "device_count",
    304: "seccomp",
    801: "update the driver",
    802: "nvidia-fabricmanager",
    803: "Restart the machine",
    804: "compat",
    999: "nvidia_uvm",
}
NVML = {
    3: "unknown",
    4: "group",
    9: "modprobe",
    12: "LD_LIBRARY_PATH",
    15: "no longer answers over PCIe",
    17: "WSL",
    18: "Restart the machine",
    999: "container",
}
LIBCUDA = """
#include <stdlib.h>
static int code(const char* name) { const char* text = getenv(name); return text ? atoi(text) : 0; }
int cuDriverGetVersion(int* version) { *version = 13000; return code("VERSION_CODE"); }
int cuInit(unsigned flags) { return code("INIT_CODE"); }
int cuDeviceGetCount(int* count) { *count = 0; return 0; }
"""
LIBNVML = """
#include <stdlib.h>
int nvmlInitWithFlags(unsigned flags) { return atoi(getenv("NVML_CODE")); }
int nvmlInit_v2(void) { return atoi(getenv("NVML_CODE")); }
const char* nvmlErrorString(int code) { return "said by the library"; }
"""
DRIVER = """
import json, os, sys
from kernels.check import driver
told = {}
for code in map(int, sys.argv[2:]):
    os.environ[sys.argv[1]] = str(code)
    found = driver.driver(driver.machine())
    told[code] = [found.status, found.said, found.step]
print(json.dumps(told))
"""
LIBRARY = """
import json, os, sys
from kernels.check import health, nvml
os.environ["NVML_CODE"] = sys.argv[1]
found = health.library(nvml.opened())
print(json.dumps([found.status, found.said, found.step]))
"""

real_library = pytest.mark.skipif(sys.platform != "linux" or shutil.which("gcc") is None, reason="needs Linux and gcc")


def library(folder: Path, name: str, source: str) -> None:
    (folder / "library.c").write_text(source)
    subprocess.run(["gcc", "-shared", "-fPIC", "library.c", "-o", name], cwd=folder, check=True, timeout=60)


def answer(folder: Path, code: str, *arguments: object) -> object:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
    line = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_code_has_a_recipe_and_a_word():
    assert set(CUDA) == set(cuda.CODES)
    assert set(NVML) == set(management.CODES)
    assert set(cuda.CODES.values()) | set(management.CODES.values()) <= set(RECIPES)
    for code in (None, 0, 1, 2, 77777):
        assert of_cuda(code) is None
        assert of_nvml(code) is None


@real_library
def test_what_cuinit_returns_decides_the_advice(tmp_path):
    library(tmp_path, "libcuda.so.1", LIBCUDA)
    told = answer(tmp_path, DRIVER, "INIT_CODE", *CUDA, 719)
    for code, word in CUDA.items():
        status, said, step = told[str(code)]
        assert status == FAIL
        assert said.startswith(f"cuInit fails with error {code}: ")
        assert word in step
        assert "Install the GPU's driver" not in step
    assert "CUresult 719" in told["719"][2]
    assert "Install the GPU's driver" not in told["719"][2]


@real_library
def test_a_stub_that_does_not_even_tell_its_version(tmp_path):
    library(tmp_path, "libcuda.so.1", LIBCUDA)
    status, said, step = answer(tmp_path, DRIVER, "VERSION_CODE", 34)["34"]
    assert status == FAIL
    assert said == "cuDriverGetVersion fails with error 34: CUDA driver is a stub library"
    assert "/stubs" in step


@real_library
@pytest.mark.parametrize("code", [*NVML, 2])
def test_what_nvml_returns_decides_the_advice(tmp_path, code):
    pytest.importorskip("pynvml")
    library(tmp_path, "libnvidia-ml.so.1", LIBNVML)
    status, said, step = answer(tmp_path, LIBRARY, code)
    assert status == FAIL
    assert said
    assert not said.startswith("Failed to initialize")
    assert (NVML.get(code) or "nvidia-smi") in step


# Torch and Triton.

TORCH_211 = ["filelock", 'triton==3.6.0; platform_system == "Linux"']
TORCH_214 = [
    "filelock",
    'triton~=3.8.0; platform_system == "Linux" and platform_machine == "x86_64" and python_version < "3.99"',
]


@pytest.mark.parametrize(
    ("requirements", "wanted"),
    [
        (TORCH_211, "==3.6.0"),
        (TORCH_214, "~=3.8.0"),
        (["triton (==3.6.0)"], "==3.6.0"),
        (["pytorch-triton-rocm==3.6.0"], "==3.6.0"),
        (["triton-rocm==3.7.0+gitabc"], "==3.7.0+gitabc"),
        (["triton-xpu>=3.7,<3.8"], "<3.8,>=3.7"),
        (['triton==3.6.0; platform_system == "Nowhere"'], None),
        (['triton==3.6.0; extra == "kernels"'], None),
        (["tritonclient==2.0", "triton-windows-extras==1"], None),
        (["not a requirement at all ==", "triton"], None),
        ([], None),
    ],
)
def test_what_torchs_metadata_asks_for(requirements, wanted):
    if "x86_64" in "".join(requirements) and os.uname().machine != "x86_64":
        pytest.skip("asked for on x86-64 only")
    assert pairs.wanted_triton(requirements) == wanted


@pytest.mark.parametrize(
    ("triton", "wanted", "belongs"),
    [
        ("3.8.0", "~=3.8.0", True),
        ("3.8.1", "~=3.8.0", True),
        ("3.9.0", "~=3.8.0", False),
        ("3.7.1", "~=3.8.0", False),
        ("3.6.0", "==3.6.0", True),
        ("3.6.1", "==3.6.0", True),
        ("3.6.0+git1234", "==3.6.0", True),
        ("3.7.0", "==3.6.0", False),
        ("3.10.0", "==3.1.0", False),
        ("3.7.0", ">=3.7,<3.8", True),
        ("3.8.0", ">=3.7,<3.8", False),
        ("3.6.0.post26", "==3.6.0", True),
        ("3.6.0", "3.6", True),
        ("3.60.0", "3.6", False),
    ],
)
def test_a_pair_goes_by_the_specifier(triton, wanted, belongs):
    assert pairs.belongs(triton, wanted) is belongs
    found = driver.pair(replace(GOOD, triton=triton, triton_wanted=wanted))
    assert found.status == (PASS if belongs else WARN)
    assert f"Triton {wanted} for torch 2.11" in found.limit
    assert ("pair that belongs together" in found.step) is not belongs


def test_torch_214_without_metadata_is_paired_by_the_release_notes():
    assert statuses(replace(GOOD, torch="2.14.0", triton="3.8.0", triton_wanted=None))["pair"] == PASS
    assert statuses(replace(GOOD, torch="2.14.0", triton="3.9.0", triton_wanted=None))["pair"] == WARN


# Folders.


@pytest.fixture
def mounted(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A file system in memory with the options that the test asks for."""
    folder = tmp_path / "mounted"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", request.param, "tmpfs", str(folder)], capture_output=True, timeout=60)
    if done.returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, timeout=60)


def filled(folder: Path) -> Path:
    """Writes until nothing more fits."""
    with contextlib.suppress(OSError), (folder / "fill").open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)
    return folder


@pytest.mark.parametrize("mounted", ["size=64k,nr_inodes=10"], indirect=True)
def test_a_full_disk_under_the_cache(mounted):
    found = toolchain.cache_folder({"TRITON_CACHE_DIR": str(filled(mounted))})
    assert (found.status, found.said) == (FAIL, "cannot be written: No space left on device")
    assert "df -h" in found.step


@pytest.mark.parametrize("mounted", ["size=1m,noexec"], indirect=True)
def test_a_cache_where_nothing_may_run(mounted):
    found = toolchain.cache_folder({"TRITON_CACHE_DIR": str(mounted)})
    assert (found.status, found.step) == (FAIL, known("noexec").fix)


@pytest.mark.parametrize("mounted", ["size=1m,ro"], indirect=True)
def test_a_cache_that_may_only_be_read(mounted):
    found = toolchain.cache_folder({"TRITON_CACHE_DIR": str(mounted)})
    assert (found.status, found.step) == (FAIL, known("cache-not-writable").fix)


@pytest.mark.parametrize("below", ["", "cache"])
def test_a_file_in_the_cache_folders_place(tmp_path, below):
    (tmp_path / "file").write_text("")
    found = toolchain.cache_folder({"TRITON_CACHE_DIR": str(tmp_path / "file" / below)})
    assert (found.status, found.step) == (FAIL, known("cache-not-a-folder").fix)


@real_library
@pytest.mark.parametrize("mounted", ["size=64k"], indirect=True)
def test_a_full_temporary_folder_is_not_a_broken_compiler(mounted, tmp_path):
    code = (
        "import json, os, tempfile\n"
        f"tempfile.tempdir = {str(filled(mounted))!r}\n"
        "from kernels.check import toolchain\n"
        "found, compiler = toolchain.c_compiler(os.environ)\n"
        "print(json.dumps([found.status, found.said, found.step]))"
    )
    status, said, step = answer(tmp_path, code)
    assert status == FAIL
    assert "No space left on device" in said
    assert re.search(r"temporary folder|TMPDIR", step)


def test_a_compiler_that_fails_without_a_known_reason_gets_no_guess(tmp_path):
    compiler = tmp_path / "gcc"
    compiler.write_text("#!/bin/sh\necho 'gcc: internal compiler error: Segmentation fault' >&2\nexit 4\n")
    compiler.chmod(0o755)
    found, path = toolchain.c_compiler({"PATH": str(tmp_path)})
    assert (found.status, path) == (FAIL, None)
    assert "internal compiler error" in found.said
    assert "found no compiler" not in found.step
    assert "The compiler's own line says why" in found.step
    broken = toolchain.headers(str(compiler))
    assert "apt install python3-dev" not in broken.step
