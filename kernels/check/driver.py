"""The first stage, without torch: the driver, NVML, the torch build against both, the environment; what machine it is."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from .failures import advice, known, of_cuda
from .pairs import PAIR_STEP, PAIRS, TRITONS, belongs, installed, wanted
from .values import FAIL, NOT_MEASURED, PASS, WARN, Result

STAGE = "bring-up"
# Variables that make kernels slower, or not real at all, while they are set.
SLOWING = {
    "TRITON_INTERPRET": "kernels run in the interpreter, on the CPU",
    "CUDA_LAUNCH_BLOCKING": "every launch waits for its end",
    "TRITON_ALWAYS_COMPILE": "nothing is taken from the cache",
    "TRITON_DEBUG": "kernels carry checks",
    "DISABLE_PTXAS_OPT": "machine code is not optimised",
    "CUDA_INJECTION64_PATH": "a profiler is injected into every process",
    "CUDA_PROFILE": "the driver profiles every process",
    "NSIGHT_CUDA_DEBUGGER": "a debugger may attach",
    "NVIDIA_TF32_OVERRIDE": "the precision of float32 products is forced",
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "every tensor is a call of the driver",
}


@dataclass(frozen=True)
class Machine:
    """What is there, before torch is imported. Versions of CUDA are (major, minor); None where it is not told or not there."""

    platform: str
    wsl: bool
    cuda_driver: tuple[int, int] | None
    cuda_problem: str
    amd: bool
    intel: bool
    torch: str | None
    torch_cuda: tuple[int, int] | None
    torch_hip: str | None
    torch_xpu: str | None
    triton: str | None
    triton_wanted: str | None  # as torch's metadata has it: "==3.6.0", "~=3.8.0"
    cuda_code: int | None = None  # what cuInit (or cuDriverGetVersion) returned, where it failed

    @property
    def build(self) -> str:
        """What torch was built for: "CUDA 13.0", "ROCm 6.4", "XPU", "CPU", or "" where there is no torch."""
        if self.torch is None:
            return ""
        if self.torch_cuda:
            return f"CUDA {_dotted(self.torch_cuda)}"
        return f"ROCm {self.torch_hip}" if self.torch_hip else "XPU" if self.torch_xpu else "CPU"


def machine() -> Machine:
    """Looks at the driver's library, the device files and the packages' own files; imports none of the packages."""
    version, problem, code = cuda_driver()
    facts = torch_facts()
    return Machine(
        platform=platform.system(),
        wsl="microsoft" in platform.release().lower(),
        cuda_driver=version,
        cuda_problem=problem,
        amd=Path("/dev/kfd").exists(),
        intel=_intel(),
        torch=installed("torch"),
        torch_cuda=_numbers(facts.get("cuda")),
        torch_hip=facts.get("hip"),
        torch_xpu=facts.get("xpu"),
        triton=next(filter(None, map(installed, TRITONS)), None),
        triton_wanted=wanted(),
        cuda_code=code,
    )


def cuda_driver() -> tuple[tuple[int, int] | None, str, int | None]:
    """The newest CUDA that the driver supports; or None, why in a few words, and the code of CUDA's call that failed."""
    for library in ("libcuda.so.1", "nvcuda.dll"):
        with contextlib.suppress(OSError):
            cuda, number = ctypes.CDLL(library), ctypes.c_int()
            if failed := cuda.cuDriverGetVersion(ctypes.byref(number)):
                return None, f"cuDriverGetVersion fails with error {failed}{_cu_error(failed)}", failed
            if not number.value:
                return None, "its library does not tell its version", None
            failed, count = cuda.cuInit(0), ctypes.c_int()
            if failed:
                return None, f"cuInit fails with error {failed}{_cu_error(failed)}", failed
            cuda.cuDeviceGetCount(ctypes.byref(count))
            version = (number.value // 1000, number.value % 1000 // 10)
            return version, "" if count.value else "it shows no GPU to this process", None
    return None, "libcuda.so.1 cannot be loaded", None


# The errors with which cuInit fails, as cuGetErrorString says them.
_CU_ERRORS = {
    3: "initialization error",
    34: "CUDA driver is a stub library",
    46: "CUDA-capable device(s) is/are busy or unavailable",
    100: "no CUDA-capable device is detected",
    101: "invalid device ordinal",
    304: "OS call failed or operation not supported on this OS",
    801: "operation not supported",
    802: "system not yet initialized",
    803: "system has unsupported display driver / cuda driver combination",
    804: "forward compatibility was attempted on non supported HW",
    999: "unknown error",
}


def _cu_error(number: int) -> str:
    return f": {_CU_ERRORS[number]}" if number in _CU_ERRORS else ""


def torch_facts() -> dict[str, str]:
    """`cuda`, `hip` and `xpu` as torch/version.py has them, read as text."""
    with contextlib.suppress(OSError, ImportError, ValueError):
        spec = importlib.util.find_spec("torch")
        if spec and spec.origin:
            return assigned((Path(spec.origin).parent / "version.py").read_text())
    return {}


def assigned(text: str) -> dict[str, str]:
    """The names that a module's text gives a string, annotated or not."""
    return dict(re.findall(r"^(\w+)(?:: [^=\n]+)? = '([^'\n]+)'", text, re.MULTILINE))


def _numbers(text: str | None) -> tuple[int, int] | None:
    found = re.match(r"(\d+)\.(\d+)", text or "")
    return (int(found[1]), int(found[2])) if found else None


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _intel() -> bool:
    """Whether an Intel GPU with a render node is there: PCI vendor 0x8086."""
    for path in Path("/sys/class/drm").glob("renderD*/device/vendor"):
        with contextlib.suppress(OSError):
            if path.read_text().strip() == "0x8086":
                return True
    return False


def checks(found: Machine, environment: Mapping[str, str] = os.environ) -> Iterator[Result]:
    """The results of this stage, in order."""
    yield driver(found)
    yield torch_build(found)
    yield pair(found)
    yield variables(environment)


def driver(found: Machine) -> Result:
    """The driver loads, and shows a GPU."""
    here = Result("driver", "GPU driver", STAGE, PASS, limit="it loads, and shows a GPU", source="cuInit of the driver")
    wsl = " under WSL" if found.wsl else ""
    if found.cuda_driver and not found.cuda_problem:
        return replace(here, said=f"NVIDIA's{wsl}, for CUDA up to {_dotted(found.cuda_driver)}", origin="read")
    if found.amd:
        return replace(here, said=f"AMD's{wsl} (/dev/kfd)", source="the kernel driver's files", origin="read")
    if found.torch_xpu or (found.intel and not found.cuda_driver):
        said = "Intel GPU: this check knows its torch build, and measures nothing on it yet"
        return replace(here, status=NOT_MEASURED, said=said, source="the kernel driver's files")
    return replace(here, status=FAIL, said=found.cuda_problem, step=_driver_step(found))


def _driver_step(found: Machine) -> str:
    """What to do about a driver that shows no GPU: by cuInit's code where it gave one."""
    if found.platform == "Darwin":
        return "Triton has no GPUs on macOS; kernels run in its interpreter here."
    if failure := of_cuda(found.cuda_code):
        return f"{failure.cause} {failure.fix}"
    if found.cuda_code is not None:
        return f"Look up CUresult {found.cuda_code} in NVIDIA's CUDA driver API; see whether nvidia-smi works, then restart."
    if found.wsl and not found.cuda_driver:
        return f"Install NVIDIA's driver in Windows (not in WSL). {known('link-libcuda').fix}"
    install = "Install the GPU's driver, and see that nvidia-smi (or rocminfo) lists the GPU; a container needs --gpus all."
    return advice(found.cuda_problem) or (known("no-device").fix if found.cuda_driver else install)


def torch_build(found: Machine) -> Result:
    """torch is built for this driver's GPUs, and for a CUDA that the driver supports."""
    here = Result("torch", "torch build", STAGE, PASS, limit="built for this driver", source="torch/version.py and the driver")
    if found.torch is None:
        return replace(
            here, status=FAIL, said="torch is not installed", step="Install torch by the command on pytorch.org, Get started."
        )
    said = f"torch {found.torch.split('+')[0]} for {found.build}"
    if found.build == "CPU":
        return replace(here, status=FAIL, said=said, step=known("cpu-build").fix)
    if found.torch_hip or found.torch_xpu:
        right = found.amd if found.torch_hip else found.intel
        step = "" if right else "Install the torch build of this GPU's maker."
        return replace(here, status=PASS if right else FAIL, said=said, step=step)
    if found.cuda_driver is None:
        return replace(here, status=NOT_MEASURED, said=f"{said}; there is no driver to compare with")
    supported = f"the driver supports CUDA up to {_dotted(found.cuda_driver)}"
    if found.torch_cuda[0] > found.cuda_driver[0]:
        return replace(here, status=FAIL, said=f"{said}; {supported}", step=known("driver-too-old").fix)
    if found.torch_cuda > found.cuda_driver:
        step = f"It runs by CUDA's minor-version compatibility. If a kernel cannot be loaded: {known('image-invalid').fix}"
        return replace(here, status=WARN, said=f"{said}; {supported}", step=step)
    return replace(here, said=f"{said}; {supported}")


def pair(found: Machine) -> Result:
    """torch and Triton are of releases that belong together."""
    here = Result("pair", "torch and Triton", STAGE, PASS, limit="releases that belong together", source="torch's own metadata")
    if found.triton is None:
        missing = (
            "There are no wheels for this system."
            if found.platform == "Darwin"
            else "pip install triton (it comes with torch for CUDA)."
        )
        return replace(here, status=FAIL, said="Triton is not installed", step=missing)
    if found.torch is None:
        return replace(here, status=NOT_MEASURED, said=f"Triton {found.triton}, and no torch")
    said = f"torch {found.torch.split('+')[0]}, Triton {found.triton}"
    short = ".".join(found.torch.split(".")[:2])
    wanted, source = found.triton_wanted, here.source
    if wanted is None:
        wanted, source = PAIRS.get(short), "release notes of torch and Triton"
    if wanted is None:
        return replace(here, status=NOT_MEASURED, said=f"{said}: this torch does not say which Triton it wants")
    limit = f"Triton {wanted} for torch {short}"
    if not belongs(found.triton, wanted):
        return replace(here, status=WARN, said=said, limit=limit, source=source, step=PAIR_STEP)
    return replace(here, said=said, limit=limit, source=source)


def variables(environment: Mapping[str, str]) -> Result:
    """No variable is set that slows kernels down or hides the GPU."""
    here = Result(
        "variables",
        "Environment variables",
        STAGE,
        PASS,
        limit="none that slows or hides",
        source="NVIDIA DCGM's list, Triton's",
    )
    hides = [name for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES") if environment.get(name) in ("", "-1", "none")]
    slow = [name for name in SLOWING if environment.get(name, "0").lower() not in ("", "0", "off", "false", "no")]
    if not hides and not slow:
        return replace(here, said="none set", origin="read")
    said = [f"{name} hides every GPU" for name in hides] + [f"{name}: {SLOWING[name]}" for name in slow]
    return replace(here, status=WARN, said="; ".join(said), step=f"unset {' '.join(hides + slow)}", origin="read")
