"""From Triton's source to machine code: LLVM, ptxas, and the driver that loads what they made."""

from __future__ import annotations

from .recipe import Recipe, Sign, issues

RECIPES = (
    Recipe(
        "ptxas-architecture",
        "ptxas does not know this GPU",
        "The ptxas that was used has no {arch}: it is older than the GPU (or, for a chip as old as sm_30, too new).",
        "Install a newer Triton, or set TRITON_PTXAS_PATH (for Blackwell TRITON_PTXAS_BLACKWELL_PATH) to the ptxas of a newer "
        "CUDA toolkit; unset both if they name an old one.",
        issues("triton-lang/triton#8539", "gpustack/gpustack#4372", "InternLM/lmdeploy#3410"),
        (
            Sign("'gpu-name'", r"(?:Value '(?P<arch>sm_\w{2,5})' )?is not defined for option 'gpu-name'"),
            Sign("unsupported gpu architecture", r"unsupported gpu architecture '(?P<arch>(?:sm|compute)_\w{2,5})'"),
        ),
        unnamed={"arch": "such architecture"},
    ),
    Recipe(
        "ptx-version",
        "The ptxas is too old for Triton's PTX",
        "The PTX is of version {version}, and the ptxas that was found knows up to {current}: one of an older CUDA toolkit was "
        "taken in place of Triton's own.",
        "Unset TRITON_PTXAS_PATH (on Windows CUDA_PATH too), or install a newer CUDA toolkit there.",
        issues("triton-lang/triton#5929", "triton-lang/triton#5385", "triton-lang/triton#4576"),
        (
            Sign(
                "unsupported .version",
                r"Unsupported \.version (?P<version>\d+\.\d+)(?:; current version is '(?P<current>\d+\.\d+)')?",
            ),
        ),
        unnamed={"version": "a newer", "current": "an older one"},
    ),
    Recipe(
        "ptxas-failed",
        "ptxas failed for {arch}",
        "This line does not say why. It may be a ptxas that is older than the GPU, or older than the PTX that Triton writes.",
        "Read the line that begins with ptxas, above the traceback. Without it: {ptxas} --version tells its CUDA release; "
        "Blackwell (sm_100 to sm_121) needs 12.8 or newer. A newer Triton brings a newer one.",
        issues("triton-lang/triton#8096", "fishaudio/fish-speech#907", "woct0rdho/triton-windows#69"),
        (
            Sign(
                "--gpu-name=",
                r"(?:Command '\['|Repro command: )(?P<ptxas>[^'\n]{0,300}ptxas(?:-blackwell)?"
                r"(?:\.exe)?)[^\n]{1,200}--gpu-name=(?P<arch>sm_\w{2,5})",
            ),
        ),
        certain=False,
        follows=("ptxas-architecture", "ptx-version", "ptxas-shared", "dtype-bfloat16", "disk-full"),
        unnamed={"arch": "this GPU", "ptxas": "ptxas"},
    ),
    Recipe(
        "llvm-processor",
        "Triton's LLVM does not know {arch}",
        "This Triton is older than the GPU: its compiler has no {arch}.",
        "Install a torch and Triton that know it: pip install --upgrade torch (Windows: triton-windows too). For an RTX 50 or "
        "another Blackwell GPU that is Triton 3.3 or newer.",
        issues("fishaudio/fish-speech#907", "kijai/ComfyUI-WanVideoWrapper#70"),
        (
            Sign(
                "not a recognized processor",
                r"'(?P<arch>sm_\d{2,3}\w?|gfx\w{3,5})' is not a recognized processor for this target",
            ),
        ),
        unnamed={"arch": "this GPU"},
    ),
    Recipe(
        "llvm-select",
        "Triton's LLVM cannot make {intrinsic} for this GPU",
        "LLVM was told of a GPU that it does not know or that lacks the instruction: this Triton is older than the GPU, or "
        "the GPU is older than Triton supports (compute capability 8.0).",
        "For a new GPU install a newer torch and Triton. Two Tritons in one environment (pip list shows triton and "
        "triton-windows) do the same: remove the older one.",
        issues("kijai/ComfyUI-WanVideoWrapper#70", "woct0rdho/SageAttention#64", "triton-lang/triton#3875"),
        (Sign("cannot select: intrinsic", r"Cannot select: intrinsic %?(?P<intrinsic>llvm\.nvvm\.[\w.]{1,60})"),),
        follows=("llvm-processor",),
        unnamed={"intrinsic": "an instruction"},
    ),
    Recipe(
        "pass-failed",
        "Triton's compiler gave up",
        "A pass of the compiler failed; the message itself says no more. It may be a fault of that release of Triton, or an "
        "operation that this GPU lacks.",
        "Read the line with error: above it, which names the kernel's line. Try the newest release of torch and Triton; if it "
        "stays, report the kernel to triton-lang/triton.",
        issues("lllyasviel/FramePack#350", "pytorch/pytorch#147377", "intel/intel-xpu-backend-for-triton#5654"),
        (Sign("passmanager::run failed", r"\bPassManager::run failed\b"),),
        certain=False,
    ),
    Recipe(
        "image-invalid",
        "The driver cannot load what was compiled",
        "The driver is older than the ptxas that made the code, or the code was cached for another GPU.",
        "Install a newer driver, or an older Triton (with its ptxas). If the cache came from another machine, delete it "
        "(~/.triton/cache).",
        issues("triton-lang/triton#4172", "triton-lang/triton#2971", "triton-lang/triton#3001", "triton-lang/triton#1323"),
        (
            Sign("kernel image is invalid", r"\bdevice kernel image is invalid\b"),
            Sign("unsupported_ptx_version", r"\bCUDA_ERROR_UNSUPPORTED_PTX_VERSION\b"),
            Sign("unsupported toolchain", r"provided PTX was compiled with an unsupported toolchain"),
        ),
    ),
    Recipe(
        "wheel-architecture",
        "The torch wheel has no code for {arch}",
        "The wheel was built without this GPU's architecture: the card is newer, or older, than the wheel.",
        "Blackwell (RTX 50, B200) needs a build for CUDA 12.8 or newer; Maxwell, Pascal and Volta need one for CUDA 12.6 "
        "(torch 2.14 or older). pytorch.org, Get started, lists the builds; torch.cuda.get_arch_list() tells what one has.",
        issues("pytorch/pytorch#150733", "pytorch/pytorch#182250", "pytorch/pytorch#190385", "vllm-project/vllm#21633"),
        (
            Sign("is not compatible with the current", r"CUDA capability (?P<arch>sm_\d{2,3}\w?) is not compatible"),
            Sign("no kernel image is available", r"\bno kernel image is available for execution on the device"),
            Sign("nokernelimagefordevice", r"\bcudaErrorNoKernelImageForDevice\b"),
            Sign("cuda error: invalid device function", r"\bCUDA error: invalid device function\b"),
            Sign("because it is too old", r"PyTorch no longer supports this GPU because it is too old"),
        ),
        unnamed={"arch": "this GPU"},
    ),
    Recipe(
        "capability-range",
        "torch was not built for exactly this GPU",
        "The wheel names compute capabilities {range}. A GPU above that range but of the same major number (12.1 with 12.0, "
        "as on a DGX Spark) runs all the same; one below it, or of a newer major number, may not.",
        "Within the same major number ignore the warning. Otherwise take another build: pytorch.org, Get started.",
        issues("pytorch/pytorch#172629", "eugr/spark-vllm-docker#15"),
        (
            Sign(
                "minimum and maximum cuda capability",
                r"Minimum and Maximum cuda capability supported by this version of PyTorch is\s{0,20}(?P<range>\(\d+\.\d+\) -"
                r" \(\d+\.\d+\))?",
            ),
            Sign("does not include kernels for this gpu", r"\bdoes not include kernels for this GPU\b"),
            Sign(
                "no published pytorch cuda builds", r"\bNo published PyTorch CUDA builds for release \S{1,40} support this GPU"
            ),
        ),
        certain=False,
        follows=("wheel-architecture",),
        unnamed={"range": "that the warning lists"},
    ),
)
