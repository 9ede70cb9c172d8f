"""The failures that people meet most, recognised by their message: cause and fix. Facts from public issue trackers."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST = 200_000  # characters of a pasted text that are read


@dataclass(frozen=True)
class Failure:
    """A known failure: what it is, why it happens, what to do, where it was reported, and the messages that it shows as."""

    number: int
    title: str
    cause: str
    fix: str
    where: tuple[str, ...]
    patterns: tuple[str, ...]

    def found(self, text: str) -> int | None:
        """Where in the text one of its messages begins; None where none does."""
        starts = [match.start() for pattern in self.patterns if (match := re.search(pattern, text, re.IGNORECASE))]
        return min(starts, default=None)


def explain(text: str) -> tuple[Failure, ...]:
    """The known failures whose message stands in a text, the most telling first."""
    return tuple(failure for failure in FAILURES if failure.found(text[-MOST:]) is not None)


def known(number: int) -> Failure:
    """The failure of that number."""
    return next(failure for failure in FAILURES if failure.number == number)


def advice(text: str) -> str:
    """What to do about a message, in one line; empty where it is not known."""
    found = explain(text)
    return f"{found[0].cause} {found[0].fix}" if found else ""


# In the order in which they are tried: what names its cause before what only names a symptom.
FAILURES = (
    Failure(
        1,
        "ptxas does not know this GPU",
        "The ptxas that Triton uses is older than the GPU.",
        "Install a newer Triton, or point TRITON_PTXAS_PATH (from Triton 3.6 on, for Blackwell, TRITON_PTXAS_BLACKWELL_PATH) "
        "to the ptxas of a newer CUDA toolkit.",
        ("triton-lang/triton#8539", "InternLM/lmdeploy#3410"),
        (r"is not defined for option 'gpu-name'", r"ptxas.{0,200}unsupported gpu architecture"),
    ),
    Failure(
        2,
        "The torch wheel has no code for this GPU",
        "The wheel was built without this GPU's architecture: the card is newer, or older, than the wheel.",
        "Install a wheel that lists it: cu128 or cu130 for RTX 50 and Blackwell, cu126 for Pascal and Volta "
        "(cu130 starts at compute capability 7.5).",
        ("pytorch/pytorch#150733", "pytorch/pytorch#151376", "Comfy-Org/ComfyUI#16438"),
        (
            r"no kernel image is available",
            r"cudaErrorNoKernelImageForDevice",
            r"CUDA capability sm_\d+\w? is not compatible",
            r"invalid device function",
        ),
    ),
    Failure(
        4,
        "WSL: the linker does not find libcuda",
        "Under WSL the driver's stub lies in /usr/lib/wsl/lib, where the linker does not look; elsewhere only libcuda.so.1 "
        "is installed, and -lcuda wants libcuda.so.",
        "Add /usr/lib/wsl/lib to the linker's path (LD_LIBRARY_PATH and LIBRARY_PATH, or /etc/ld.so.conf.d and ldconfig); "
        "without WSL, link libcuda.so to libcuda.so.1.",
        ("microsoft/WSL#8587", "NVIDIA/cuda-python#17"),
        (r"cannot find -l:?\s?(lib)?cuda\b", r"/usr/lib/wsl.{0,80}(not found|cannot|No such file)"),
    ),
    Failure(
        3,
        "libcuda is not found",
        "The linker's cache does not list libcuda.so.1: the driver is not installed here, or the cache is stale.",
        "Run ldconfig as root, link libcuda.so to libcuda.so.1, or set TRITON_LIBCUDA_PATH to the folder that holds it.",
        ("triton-lang/triton#1981", "triton-lang/triton#2019", "unslothai/unsloth#679"),
        (
            r"libcuda\.so(\.1)? cannot found",
            r"libcuda\.so(\.1)?[^\n]{0,40}(cannot|could not|not) ",
            r"Possible files are located at.{0,200}libcuda",
        ),
    ),
    Failure(
        5,
        "Python's headers are missing",
        "Triton compiles a small C module, and Python.h is not installed (an embedded Python has none).",
        "Install the headers of this very Python: apt install python3-dev (python3.12-dev, ...), or use a Python from uv, "
        "conda or python.org.",
        ("sgl-project/sglang#1117", "woct0rdho/triton-windows#156"),
        (
            r"Python\.h['\"]?:? ?(No such file|file not found)",
            r"search for Python\.h",
            r"cannot open (include|source) file:? ['\"]Python\.h",
        ),
    ),
    Failure(
        6,
        "There is no C compiler",
        "Triton builds a small launcher in C, and found no compiler: a slim image, or CC names a folder.",
        "Install one (apt install build-essential), or set CC to the full path of a compiler.",
        ("apple/ml-cross-entropy#5", "woct0rdho/triton-windows#91"),
        (r"Failed to find C compiler", r"\bCC\b.{0,60}(is a directory|Permission denied)", r"error trying to exec 'cc1'"),
    ),
    Failure(
        8,
        "The cache folder is shared, or on a network drive",
        "A compiled kernel vanished or was half written: the cache lies on a network drive, or several processes clean it.",
        "Set TRITON_CACHE_DIR to a folder on a local disk, one for each user or job.",
        ("triton-lang/triton#2688", "triton-lang/triton#11512", "pytorch/pytorch#173679"),
        (
            r"(FileNotFoundError|No such file or directory)[^\n]{0,200}(\.triton|triton[_/.-]?\w*/cache|TRITON_CACHE)",
            r"Stale (NFS )?file handle",
            r"Device or resource busy[^\n]{0,200}(\.triton|\.nfs|cache)",
        ),
    ),
    Failure(
        7,
        "The cache folder cannot be written",
        "Triton keeps compiled kernels in ~/.triton, and this user may not write there.",
        "Set TRITON_CACHE_DIR to a folder of your own on a local disk.",
        ("triton-lang/triton#518", "dphnAI/sonar#458"),
        (
            r"(Permission denied|Read-only file system|Access is denied|WinError 5)[^\n]{0,200}(\.triton|triton|cache)",
            r"(\.triton|TRITON_CACHE_DIR)[^\n]{0,200}(Permission denied|Read-only file system|Access is denied|not writable)",
        ),
    ),
    Failure(
        10,
        "An old ptxas of the system was chosen",
        "The PTX is of a newer version than the ptxas that translates it: one of an old CUDA toolkit came first.",
        "Unset TRITON_PTXAS_PATH and CUDA_PATH, or install a newer CUDA toolkit.",
        ("triton-lang/triton#5929",),
        (r"Unsupported \.version \d+\.\d+",),
    ),
    Failure(
        9,
        "The driver cannot load what was compiled",
        "The driver is older than the ptxas that made the code.",
        "Install a newer driver, or an older Triton (with its ptxas).",
        ("triton-lang/triton#4172", "triton-lang/triton#2971", "triton-lang/triton#3001"),
        (
            r"device kernel image is invalid",
            r"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            r"provided PTX was compiled with an unsupported toolchain",
        ),
    ),
    Failure(
        11,
        "The driver is too old for this torch",
        "The wheel was built with a newer CUDA than the driver supports.",
        "Install a newer driver, or a torch wheel for an older CUDA (cu126, for one).",
        ("pytorch/pytorch#4546", "pytorch/pytorch#28195"),
        (
            r"NVIDIA driver on your system is too old",
            r"CUDA driver version is insufficient",
            r"cudaErrorInsufficientDriver",
            r"forward compatibility was attempted on non supported",
        ),
    ),
    Failure(
        12,
        "This torch is a build without GPU support",
        "A CPU-only wheel is installed.",
        "Install torch again from the index for your GPU (pytorch.org, Get started): pip would keep the CPU build otherwise.",
        ("opendatalab/MinerU#240", "Comfy-Org/desktop#1647"),
        (r"not compiled with (CUDA|XPU|ROCm|HIP) enabled", r"not linked with support for (cuda|hip|xpu) devices"),
    ),
    Failure(
        13,
        "Triton finds no GPU",
        "No GPU is visible to this process, or torch and Triton are not of one release.",
        "See that CUDA_VISIBLE_DEVICES is not empty and that nvidia-smi lists the GPU; install the Triton that this torch asks "
        "for. There are no GPUs for Triton on macOS.",
        ("triton-lang/triton#5570", "deepseek-ai/DeepSeek-R1#493", "huggingface/sentence-transformers#3557"),
        (
            r"\d+ active drivers \(\[",
            r"No (CUDA )?GPUs are available",
            r"Found no NVIDIA driver on your system",
            r"no CUDA-capable device is detected",
        ),
    ),
    Failure(
        14,
        "torch and Triton are of different releases",
        "One of them looks for a name that the other's release does not have.",
        "Install the pair that belongs together: pip install --force-reinstall torch brings its Triton along.",
        ("pytorch/pytorch#123042", "pytorch/pytorch#127271", "woct0rdho/triton-windows#158"),
        (
            r"cannot import name '\w+' from 'triton",
            r"module 'triton[\w.]*' has no attribute",
            r"No module named 'triton[.\w]+'",
        ),
    ),
    Failure(
        15,
        "The tensor is not on the GPU that the kernel was launched on",
        "A kernel runs on the current device, which is GPU 0 unless set, and its tensor lies elsewhere.",
        "Launch inside `with torch.cuda.device(x.device):`; see that the tensor is on a GPU at all.",
        ("triton-lang/triton#2441", "triton-lang/triton#2925", "triton-lang/triton#5205"),
        (r"cannot be accessed from Triton \(cpu tensor\?\)",),
    ),
    Failure(
        16,
        "Kernels launched from several threads",
        "A new thread starts on GPU 0, and Triton's autotuner keeps its arguments on the kernel: threads disturb each other.",
        "Call torch.cuda.set_device in every thread, and hold one lock around first launches; Triton before 3.2 also loses its "
        "context in new threads.",
        ("triton-lang/triton#11494", "triton-lang/triton#3729", "mstar-project/mstar#180"),
        (
            r"'NoneType' object is not a mapping",
            r"autotuner[^\n]*\n?[^\n]*\n?[^\n]*'NoneType' object",
            r"invalid device context",
            r"CUDA_ERROR_INVALID_CONTEXT",
        ),
    ),
    Failure(
        17,
        "Streamlit walks through torch.classes",
        "Streamlit's file watcher examines every module, and torch.classes answers to any name. It is a warning only.",
        'Set fileWatcherType = "none" in .streamlit/config.toml, or torch.classes.__path__ = [] before the app starts.',
        ("streamlit/streamlit#10992",),
        (r"Examining the path of torch\.classes", r"torch::class_\b[^\n]*__path__", r"Tried to instantiate class '__path__"),
    ),
    Failure(
        18,
        "The tile does not fit into shared memory",
        "The tile was tuned for a larger GPU: a block's shared memory is 227 KiB on an H100, 99 KiB on an RTX 4090.",
        "Take smaller blocks or fewer stages; leave out configurations above the GPU's limit.",
        ("triton-lang/triton#8182", "vllm-project/vllm#36802"),
        (r"out of resource:? ?:?\s*shared memory", r"OutOfResources", r"Hardware limit:? ?\d+"),
    ),
    Failure(
        19,
        "A block that is not a power of two",
        "tl.arange, and so a block, takes powers of two only; a shape was used as it is.",
        "Use triton.next_power_of_2(n) as the block, and a mask for what lies past the end.",
        ("triton-lang/triton#3722", "sgl-project/sglang#25672"),
        (r"arange's range must be a power of 2", r"Shape element \d+ must be a power of 2"),
    ),
    Failure(
        20,
        "The GPU does not have this dtype",
        "float8 e4m3 needs compute capability 8.9, bfloat16 needs 8.0.",
        "Choose the dtype by torch.cuda.get_device_capability(): float8_e5m2 or float16 on older cards.",
        ("triton-lang/triton#4319", "triton-lang/triton#1941", "unslothai/unsloth#434"),
        (
            r"fp8e4nv[^\n]{0,40} not supported",
            r"\.bf16[^\n]{0,80} requires \.?(target )?sm_80",
            r"Feature '\.bf16'",
            r"bfloat16 is only supported on",
        ),
    ),
    Failure(
        22,
        "An offset past 2^31, or a missing mask",
        "The kernel reads or writes where nothing is. Above 2^31 elements a 32-bit offset wraps to a negative one, which the "
        "mask lets through.",
        "Cast tl.program_id to tl.int64 for large tensors, and see that every load and store has its mask. The process has to "
        "be started again: its context is lost.",
        ("triton-lang/triton#832", "triton-lang/triton#1058", "deepspeedai/DeepSpeed#8590"),
        (r"illegal memory access", r"CUDA_ERROR_ILLEGAL_ADDRESS", r"misaligned address"),
    ),
    Failure(
        23,
        "The driver's library and its kernel module differ",
        "The driver was updated while the old module is loaded; in a container, a reload of systemd took the device away.",
        "Restart the machine, or unload and load the nvidia modules; make the container anew.",
        ("pytorch/pytorch#45109", "NVIDIA/nvidia-container-toolkit#48", "NVIDIA/nvidia-container-toolkit#251"),
        (
            r"Driver/library version mismatch",
            r"Failed to initiali[sz]e NVML",
            r"CUDA unknown error - this may be due to an incorrectly set up environment",
        ),
    ),
    Failure(
        24,
        "The hardware reports a fault",
        "Memory errors that could not be corrected, or a GPU that no longer answers: power, heat, a riser, or the card.",
        "Reset the GPU or restart. If it comes again: seat the card anew, see its power supply and cooling, have it replaced.",
        ("vllm-project/vllm#5222", "NVIDIA/open-gpu-kernel-modules#387", "NVIDIA/open-gpu-kernel-modules#900"),
        (
            r"uncorrectable ECC",
            r"fallen off the bus",
            r"GPU is lost",
            r"NVRM: Xid[^\n]*: (79|48|63|64|74|94|95)\b",
            r"CUDA_ERROR_ECC_UNCORRECTABLE",
        ),
    ),
    Failure(
        21,
        "float32 matmul in TF32",
        "tl.dot multiplies float32 in TF32 unless told otherwise, with 10 bits of mantissa; torch multiplies in IEEE float32.",
        'Pass input_precision="ieee" to tl.dot, or compare with torch.backends.cuda.matmul.allow_tf32 = True.',
        ("triton-lang/triton#1800", "triton-lang/triton#6265", "triton-lang/triton#8654"),
        (r"Tensor-likes are not close", r"Greatest absolute difference: \d"),
    ),
    Failure(
        25,
        "Slow, with no error",
        "The card is held back by its power limit or its temperature, its link runs at a lower generation or width, or another "
        "process uses it.",
        "Read the clock event reasons and the PCIe link while it works: nvidia-smi -q -d PERFORMANCE,POWER,TEMPERATURE,PCIE.",
        ("flashinfer-ai/flashinfer#2899", "NVIDIA/DCGM#122", "Syllo/nvtop#6"),
        (
            r"(HW|SW|Hardware|Software) (Thermal |Power Brake )?(Slowdown|Power Cap)[^\n:]*: *Active",
            r"\bthrottl(ed|ing)\b",
            r"clocks?_(event|throttle)_reasons",
            r"held back: \w+",
        ),
    ),
)
