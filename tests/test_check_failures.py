"""Known failures by messages that are produced here where that is possible, and the command that explains them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kernels.check.failures import RECIPES, explain

from .limits import PATIENCE

ROOT = Path(__file__).parents[1]


def first(text: str) -> str:
    found = explain(text)
    assert found, text
    return found[0].id


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


def test_ptxas_does_not_know_the_gpu(tmp_path):
    (tmp_path / "a.ptx").write_text(PTX.format(version="8.0"))
    done = subprocess.run(
        [bundled_ptxas(), "--gpu-name=sm_999", str(tmp_path / "a.ptx")],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=tmp_path,
    )
    assert first(done.stdout + done.stderr) == "ptxas-architecture"


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("RuntimeError: CUDA error: no kernel image is available for execution on the device", "wheel-architecture"),
        (
            "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.",
            "wheel-architecture",
        ),
        ("RuntimeError: HIP error: invalid device function", "hip-device-function"),
    ],
)
def test_the_wheel_lacks_the_architecture(text, failure):
    assert first(text) == failure


def test_libcuda_is_not_found():
    if "libcuda.so.1" in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout:
        pytest.skip("a driver is installed")
    code = "from triton.backends.nvidia.driver import libcuda_dirs; libcuda_dirs()"
    assert first(said_by(code, LD_LIBRARY_PATH="")) == "libcuda-missing"


def test_the_linker_does_not_find_libcuda(tmp_path):
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    text = compiler(str(tmp_path / "a.c"), "-o", str(tmp_path / "a"), "-lcuda")
    if not text:
        pytest.skip("libcuda is installed")
    assert first(text) == "link-libcuda"
    assert first("/usr/lib/wsl/lib/libcuda.so.1: cannot open shared object file") == "libcuda-missing"


def test_python_headers_are_missing(tmp_path):
    (tmp_path / "a.c").write_text("#include <Python.h>\n")
    for option in ("-nostdinc", f"-I{tmp_path}"):
        text = compiler("-c", str(tmp_path / "a.c"), option, "-o", str(tmp_path / "a.o"))
        assert not text or first(text) == "python-headers"
    assert first("fatal error: Python.h: No such file or directory") == "python-headers"


def test_there_is_no_compiler(tmp_path):
    code = (
        "import inspect\n"
        "from triton.runtime import build\n"
        "needed = [one for one in inspect.signature(build._build).parameters.values() if one.default is one.empty]\n"
        "build._build('a', 'a.c', '.', *[[]] * (len(needed) - 3))"
    )
    text = said_by(f"import os; os.environ.pop('CC', None); os.environ['PATH'] = {str(tmp_path)!r}\n{code}")
    assert first(text) == "no-compiler"


def test_the_cache_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    assert first(str(PermissionError(13, "Permission denied", "/home/someone/.triton/cache/ab"))) == "cache-not-writable"
    assert first("OSError: [Errno 30] Read-only file system: '/root/.triton'") == "cache-not-writable"


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        (
            str(FileNotFoundError(2, "No such file or directory", "/home/someone/.triton/cache/ab/add_kernel.cubin.tmp")),
            "cache-shared",
        ),
        ("OSError: [Errno 116] Stale file handle", "stale-handle"),
        ("OSError: [Errno 16] Device or resource busy: '/nfs/.triton/cache/.nfs0001'", "cache-shared"),
    ],
)
def test_the_cache_is_shared(text, failure):
    assert first(text) == failure


def test_the_driver_cannot_load():
    assert first("RuntimeError: Triton Error [CUDA]: device kernel image is invalid") == "image-invalid"


def test_an_old_ptxas(tmp_path):
    (tmp_path / "a.ptx").write_text(PTX.format(version="99.0"))
    done = subprocess.run(
        [bundled_ptxas(), "--gpu-name=sm_90", str(tmp_path / "a.ptx")],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=tmp_path,
    )
    assert first(done.stdout + done.stderr) == "ptx-version"


def test_the_driver_is_too_old():
    assert first("RuntimeError: The NVIDIA driver on your system is too old (found version 11040).") == "driver-too-old"


def test_a_cpu_only_torch():
    import torch

    if torch.version.cuda or torch.version.hip:
        text = "AssertionError: Torch not compiled with CUDA enabled"
    else:
        text = said_by("import torch; torch.zeros(1, device='cuda')")
    assert first(text) == "cpu-build"


def test_no_gpu_for_triton():
    from kernels.runtime.device import attached

    if attached():
        text = "RuntimeError: 0 active drivers ([]). There should only be one."
    else:
        text = said_by("import triton; triton.runtime.driver.active.get_current_device()")
    assert first(text) == "no-active-driver"


def test_torch_and_triton_do_not_belong_together():
    assert first(said_by("from triton.compiler.compiler import triton_key_of_another_release")) == "triton-release"
    assert first(said_by("import triton; triton.key_of_another_release")) == "triton-release"
    assert first(said_by("import triton.of_another_release")) == "triton-release"


def test_a_tensor_on_another_gpu():
    assert first("ValueError: Pointer argument (at 0) cannot be accessed from Triton (cpu tensor?)") == "tensor-elsewhere"


def test_launches_from_several_threads():
    nargs = None  # what the autotuner holds once another thread has cleared its arguments
    with pytest.raises(TypeError) as error:
        print({**nargs})
    frame = 'File "/site-packages/triton/runtime/autotuner.py", line 171, in run'
    assert first(f"{frame}\n{error.value}") == "autotuner-threads"
    assert explain(str(error.value)) == ()  # any program may write that
    assert first("CUDA error: invalid device context") == "context-threads"


def test_streamlit_walks_through_torch_classes():
    assert (
        first("Examining the path of torch.classes raised: Tried to instantiate class '__path__._path'") == "streamlit-classes"
    )


def test_shared_memory():
    from triton.runtime.errors import OutOfResources

    assert first(str(OutOfResources(131072, 101376, "shared memory"))) == "shared-memory"


def test_a_block_of_three():
    code = (
        "from kernels import find, Numbers, Problem, Tiling\n"
        "from kernels.runtime.compile import build\n"
        "from kernels.runtime.device import find_target\n"
        "launch = find('vector_add').plan(Problem(Numbers(n_elements=7)), Tiling(Numbers(BLOCK_SIZE=3)))\n"
        "build(launch, find_target('sm_90'))"
    )
    assert first(said_by(code)) == "power-of-two"


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        (
            "ValueError: type fp8e4nv not supported in this architecture. The supported fp8 dtypes are ('fp8e4b15', 'fp8e5')",
            "dtype-float8",
        ),
        ("ptxas error : Feature '.bf16' requires .target sm_80 or higher", "dtype-bfloat16"),
    ],
)
def test_a_dtype_that_the_gpu_lacks(text, failure):
    assert first(text) == failure


def test_float32_in_tf32():
    import torch

    exact = torch.full((4, 4), 100.0)
    with pytest.raises(AssertionError) as error:
        torch.testing.assert_close(exact * (1 + 2**-11), exact)
    assert first(str(error.value)) == "tf32"


def test_past_the_end():
    assert first("RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered") == "illegal-access"


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("Failed to initialize NVML: Driver/library version mismatch", "driver-mismatch"),
        ("Failed to initialize NVML: Unknown Error", "nvml-unknown"),
        (
            "CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable",
            "cuda-unknown",
        ),
    ],
)
def test_a_driver_that_does_not_start(text, failure):
    assert first(text) == failure


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", "ecc"),
        ("NVRM: Xid (PCI:0000:41:00): 79, pid=1234, GPU has fallen off the bus.", "gpu-lost"),
    ],
)
def test_the_hardware_fails(text, failure):
    assert first(text) == failure


def test_slow_with_no_error():
    from kernels.measure.records import State
    from kernels.measure.watch import disturbed

    assert first("\n".join(disturbed(State(), State(throttled=("software thermal limit",))))) == "held-back"
    assert first("        SW Power Cap                      : Active") == "held-back"


def test_each_says_why_and_what_to_do_in_sentences():
    for recipe in RECIPES.values():
        failure = recipe.told()
        assert failure.cause.endswith("."), recipe.id
        assert failure.fix.endswith("."), recipe.id
        assert not failure.title.endswith("."), recipe.id


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
