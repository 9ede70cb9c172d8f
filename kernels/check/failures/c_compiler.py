"""The C compiler and linker, with which Triton builds the small module that starts kernels."""

from __future__ import annotations

from .recipe import Recipe, Sign, issues

# The command that a failed CalledProcessError names: a compiler, and the C file that Triton wrote for it.
COMPILER = r"(?P<compiler>(?:gcc|g\+\+|cc|clang|tcc|cl|[\w-]{1,40}-(?:gcc|cc))(?:-\d{1,2})?)(?:\.exe)?"
SOURCE = r"(?P<source>main|cuda_utils|hip_utils|driver|__triton_launcher)\.c"
FOLDER = r"(?:[^'\n]{0,300}[/\\])?"

RECIPES = (
    Recipe(
        "python-headers",
        "Python's headers are missing",
        "Triton compiles a small C module, and Python.h is not installed (an embedded Python has none).",
        "Install the headers of this very Python: apt install python3-dev (python3.12-dev, ...), or use a Python from uv, "
        "conda or python.org.",
        issues("sgl-project/sglang#1117", "woct0rdho/triton-windows#156", "woct0rdho/triton-windows#77"),
        (
            Sign("python.h", r"\bPython\.h['\"]?:? ?(?:No such file|file not found)"),
            Sign("python.h", r"'Python\.h' not found|search for Python\.h"),
            Sign("python.h", r"cannot open (?:include|source) file:? ['\"]Python\.h"),
        ),
    ),
    Recipe(
        "no-compiler",
        "There is no C compiler",
        "Triton builds a small launcher in C, and found no compiler: a slim image, or CC names a folder.",
        "Install one (apt install build-essential), or set CC to the full path of a compiler.",
        issues("apple/ml-cross-entropy#5", "Comfy-Org/ComfyUI#5216", "woct0rdho/triton-windows#91"),
        (
            Sign("failed to find c compiler", r"Failed to find C compiler"),
            Sign("error trying to exec", r"error trying to exec 'cc1'"),
        ),
    ),
    Recipe(
        "link-libcuda",
        "The linker does not find libcuda",
        "Triton links its launcher against the driver's libcuda, and the linker knows no folder that holds {library}.",
        "Set TRITON_LIBCUDA_PATH to the folder that holds libcuda.so.1 (ldconfig -p | grep libcuda shows it; under WSL it is "
        "/usr/lib/wsl/lib), or run ldconfig as root. Where only libcuda.so.1 is there and -lcuda is asked for, link "
        "libcuda.so to it.",
        issues("state-spaces/mamba#123", "triton-lang/triton#3053", "pytorch/pytorch#103417", "microsoft/WSL#8587"),
        (
            Sign("cannot find -l", r"\bcannot find (?P<library>-lcuda|-l:?libcuda\.so(?:\.1)?)(?![\w])"),
            Sign("cuda.lib", r"LNK1181: cannot open input file '(?P<library>cuda\.lib)'"),
        ),
        unnamed={"library": "libcuda"},
    ),
    Recipe(
        "libcuda-missing",
        "libcuda is not found",
        "The linker's cache does not list libcuda.so.1: the driver is not installed here, or the cache is stale.",
        "See that nvidia-smi works. Then run ldconfig as root, or set TRITON_LIBCUDA_PATH to the folder that holds "
        "libcuda.so.1 (under WSL: /usr/lib/wsl/lib).",
        issues("triton-lang/triton#1981", "triton-lang/triton#2019", "unslothai/unsloth#679"),
        (
            Sign("libcuda.so", r"\blibcuda\.so(?:\.1)? cannot found"),
            Sign("libcuda.so", r"\blibcuda\.so(?:\.1)?: cannot open shared object file"),
        ),
    ),
    Recipe(
        "launcher-build",
        "The C compiler failed on Triton's {source}.c",
        "{compiler} could not build the small C module that starts kernels. This line does not say why: it may be Python's "
        "headers, libcuda for the linker, or a full or unwritable temporary folder.",
        "Read the compiler's own lines, which stand above the traceback; `python -m kernels check` tries compiler, headers and "
        "libcuda one by one.",
        issues("unslothai/unsloth#218", "luka-group/mDPO#14", "woct0rdho/triton-windows#107", "Comfy-Org/ComfyUI#8608"),
        (
            Sign("command '[", rf"Command '\['{FOLDER}{COMPILER}', '{FOLDER}{SOURCE}'"),
            Sign("cc_cmd:", rf"Failed to compile\. cc_cmd: \['{FOLDER}{COMPILER}', '{FOLDER}{SOURCE}'"),
        ),
        certain=False,
        follows=("python-headers", "no-compiler", "link-libcuda", "libcuda-missing", "disk-full"),
        unnamed={"compiler": "The compiler", "source": "launcher"},
    ),
)
