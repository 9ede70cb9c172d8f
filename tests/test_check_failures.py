"""Each of the 25 known failures, by a message that is produced here where that is possible, else by one as it is reported."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kernels.check.failures import FAILURES, explain

from .limits import PATIENCE

ROOT = Path(__file__).parents[1]


def first(text: str) -> int:
    found = explain(text)
    assert found, text
    return found[0].number


def said_by(code: str, **environment: str) -> str:
    """What a Python process that fails writes to standard error."""
    full = {**os.environ, "TRITON_INTERPRET": "0", **environment}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=full, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode != 0, done.stdout
    return done.stderr


def compiler(*arguments: str) -> str:
    gcc = shutil.which("gcc") or pytest.skip("no gcc")
    return subprocess.run([gcc, *arguments], capture_output=True, text=True, timeout=PATIENCE).stderr


def bundled_ptxas() -> str:
    import triton

    path = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "ptxas"
    return str(path) if path.exists() else pytest.skip("this Triton brings no ptxas")


PTX = ".version {version}\n.target sm_80\n.address_size 64\n"


def test_01_ptxas_does_not_know_the_gpu(tmp_path):
    (tmp_path / "a.ptx").write_text(PTX.format(version="8.0"))
    done = subprocess.run(
        [bundled_ptxas(), "--gpu-name=sm_999", str(tmp_path / "a.ptx")],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=tmp_path,
    )
    assert first(done.stdout + done.stderr) == 1


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: CUDA error: no kernel image is available for execution on the device",
        "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.",
        "RuntimeError: HIP error: invalid device function",
    ],
)
def test_02_the_wheel_lacks_the_architecture(text):
    assert first(text) == 2


def test_03_libcuda_is_not_found():
    if "libcuda.so.1" in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout:
        pytest.skip("a driver is installed")
    code = "from triton.backends.nvidia.driver import libcuda_dirs; libcuda_dirs()"
    assert first(said_by(code, LD_LIBRARY_PATH="")) == 3


def test_04_the_linker_does_not_find_libcuda(tmp_path):
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    text = compiler(str(tmp_path / "a.c"), "-o", str(tmp_path / "a"), "-lcuda")
    if not text:
        pytest.skip("libcuda is installed")
    assert first(text) == 4
    assert first("/usr/lib/wsl/lib/libcuda.so.1: cannot open shared object file") == 4


def test_05_python_headers_are_missing(tmp_path):
    (tmp_path / "a.c").write_text("#include <Python.h>\n")
    for option in ("-nostdinc", f"-I{tmp_path}"):
        text = compiler("-c", str(tmp_path / "a.c"), option, "-o", str(tmp_path / "a.o"))
        assert not text or first(text) == 5
    assert first("fatal error: Python.h: No such file or directory") == 5


def test_06_there_is_no_compiler(tmp_path):
    code = (
        "import inspect\n"
        "from triton.runtime import build\n"
        "needed = [one for one in inspect.signature(build._build).parameters.values() if one.default is one.empty]\n"
        "build._build('a', 'a.c', '.', *[[]] * (len(needed) - 3))"
    )
    text = said_by(f"import os; os.environ.pop('CC', None); os.environ['PATH'] = {str(tmp_path)!r}\n{code}")
    assert first(text) == 6


def test_07_the_cache_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    assert first(str(PermissionError(13, "Permission denied", "/home/someone/.triton/cache/ab"))) == 7
    assert first("OSError: [Errno 30] Read-only file system: '/root/.triton'") == 7


@pytest.mark.parametrize(
    "text",
    [
        str(FileNotFoundError(2, "No such file or directory", "/home/someone/.triton/cache/ab/add_kernel.cubin.tmp")),
        "OSError: [Errno 116] Stale file handle",
        "OSError: [Errno 16] Device or resource busy: '/nfs/.triton/cache/.nfs0001'",
    ],
)
def test_08_the_cache_is_shared(text):
    assert first(text) == 8


def test_09_the_driver_cannot_load():
    assert first("RuntimeError: Triton Error [CUDA]: device kernel image is invalid") == 9


def test_10_an_old_ptxas(tmp_path):
    (tmp_path / "a.ptx").write_text(PTX.format(version="99.0"))
    done = subprocess.run(
        [bundled_ptxas(), "--gpu-name=sm_90", str(tmp_path / "a.ptx")],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=tmp_path,
    )
    assert first(done.stdout + done.stderr) == 10


def test_11_the_driver_is_too_old():
    assert first("RuntimeError: The NVIDIA driver on your system is too old (found version 11040).") == 11


def test_12_a_cpu_only_torch():
    import torch

    if torch.version.cuda or torch.version.hip:
        text = "AssertionError: Torch not compiled with CUDA enabled"
    else:
        text = said_by("import torch; torch.zeros(1, device='cuda')")
    assert first(text) == 12


def test_13_no_gpu_for_triton():
    from kernels.runtime.device import attached

    if attached():
        text = "RuntimeError: 0 active drivers ([]). There should only be one."
    else:
        text = said_by("import triton; triton.runtime.driver.active.get_current_device()")
    assert first(text) == 13


def test_14_torch_and_triton_do_not_belong_together():
    assert first(said_by("from triton.compiler.compiler import triton_key_of_another_release")) == 14
    assert first(said_by("import triton; triton.key_of_another_release")) == 14
    assert first(said_by("import triton.of_another_release")) == 14


def test_15_a_tensor_on_another_gpu():
    assert first("ValueError: Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)") == 15


def test_16_launches_from_several_threads():
    nargs = None  # what the autotuner holds once another thread has cleared its arguments
    with pytest.raises(TypeError) as error:
        print({**nargs})
    assert first(str(error.value)) == 16
    assert first("CUDA error: invalid device context") == 16


def test_17_streamlit_walks_through_torch_classes():
    assert first("Examining the path of torch.classes raised: Tried to instantiate class '__path__._path'") == 17


def test_18_shared_memory():
    from triton.runtime.errors import OutOfResources

    assert first(str(OutOfResources(131072, 101376, "shared memory"))) == 18


def test_19_a_block_of_three():
    code = (
        "from kernels import find, Numbers, Problem, Tiling\n"
        "from kernels.runtime.compile import build\n"
        "from kernels.runtime.device import find_target\n"
        "launch = find('vector_add').plan(Problem(Numbers(n_elements=7)), Tiling(Numbers(BLOCK_SIZE=3)))\n"
        "build(launch, find_target('sm_90'))"
    )
    assert first(said_by(code)) == 19


@pytest.mark.parametrize(
    "text",
    [
        "ValueError: type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b15', 'fp8e5')",
        "ptxas error : Feature '.bf16' requires .target sm_80 or higher",
    ],
)
def test_20_a_dtype_that_the_gpu_lacks(text):
    assert first(text) == 20


def test_21_float32_in_tf32():
    import torch

    exact = torch.full((4, 4), 100.0)
    with pytest.raises(AssertionError) as error:
        torch.testing.assert_close(exact * (1 + 2**-11), exact)
    assert first(str(error.value)) == 21


def test_22_past_the_end():
    assert first("RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered") == 22


@pytest.mark.parametrize(
    "text",
    [
        "Failed to initialize NVML: Driver/library version mismatch",
        "Failed to initialize NVML: Unknown Error",
        "CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable",
    ],
)
def test_23_the_driver_and_its_module_differ(text):
    assert first(text) == 23


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: CUDA error: uncorrectable ECC error encountered",
        "NVRM: Xid (PCI:0000:41:00): 79, pid=1234, GPU has fallen off the bus.",
    ],
)
def test_24_the_hardware_fails(text):
    assert first(text) == 24


def test_25_slow_with_no_error():
    from kernels.measure.records import State
    from kernels.measure.watch import disturbed

    assert first("\n".join(disturbed(State(), State(throttled=("software thermal limit",))))) == 25
    assert first("        SW Power Cap                      : Active") == 25


def test_there_are_25_and_each_says_why_what_to_do_and_where():
    assert sorted(failure.number for failure in FAILURES) == list(range(1, 26))
    for failure in FAILURES:
        assert failure.cause.endswith(".")
        assert failure.fix.endswith((".", "CUDA_VISIBLE_DEVICES", "PCIE."))
        assert all("#" in place for place in failure.where)


@pytest.mark.parametrize("text", ["", "hello", "ValueError: x is on cuda:0, y is on cpu", "KeyError: 'a'" * 100000])
def test_other_messages_are_not_explained(text):
    assert explain(text) == ()


def command(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kernels", "explain", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        input=given,
    )


def test_the_command_explains_arguments_pipes_and_files(tmp_path):
    (tmp_path / "log").write_text("...\nRuntimeError: Triton Error [CUDA]: device kernel image is invalid\n")
    texts = [
        command("device kernel", "image is invalid"),
        command(given="device kernel image is invalid"),
        command("--file", str(tmp_path / "log")),
    ]
    for done in texts:
        assert done.returncode == 0
        assert "do:  Install a newer driver" in done.stdout
    unknown = command("nothing of the kind")
    assert unknown.returncode == 1
    assert "None of the known failures" in unknown.stdout
    missing = command("--file", str(tmp_path / "none"))
    assert (missing.returncode, missing.stdout) == (2, "")
