"""The codes with which CUDA does not start. Their names are those of cuda.h."""

from __future__ import annotations

from .recipe import Recipe, Sign, issues

# What cuInit and cudaGetDeviceCount return, and the recipe that tells of it.
CODES = {
    3: "cuda-not-initialized",
    34: "stub-library",
    46: "devices-busy",
    100: "no-device",
    101: "invalid-device",
    304: "os-call-failed",
    801: "cuda-not-supported",
    802: "fabric-manager",
    803: "driver-combination",
    804: "forward-compatibility",
    999: "cuda-unknown",
}
MODULE = "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm"

RECIPES = (
    Recipe(
        "fabric-manager",
        "The fabric manager is not running",
        "GPUs that are joined by NVSwitch (HGX and DGX machines) start only once the service nvidia-fabricmanager has set the "
        "switches up: CUDA's error 802, system not yet initialized.",
        "On the host: systemctl status nvidia-fabricmanager; install the version of exactly this driver, and start it. "
        "nvidia-smi -q then shows the fabric's state as Completed. In a rented machine that is the provider's to do.",
        issues("pytorch/pytorch#35710", "huggingface/huggingface_hub#4134", "jax-ml/jax#34113"),
        (
            Sign("system not yet initialized", r"\bsystem not yet initialized\b"),
            Sign("system_not_ready", r"\bCUDA_ERROR_SYSTEM_NOT_READY\b"),
            Sign("systemnotready", r"\bcudaErrorSystemNotReady\b"),
        ),
    ),
    Recipe(
        "driver-combination",
        "libcuda and the kernel's driver do not belong together",
        "The libcuda that is loaded is of another version than the loaded kernel module: the driver was updated without a "
        "restart, or a container or environment brings a libcuda of its own.",
        "Restart the machine after an update. In a container remove the libcuda that was installed in the image: the host's is "
        "the one to use.",
        issues("NVIDIA/nvidia-docker#1256", "easydiffusion/easydiffusion#379", "CompVis/stable-diffusion#439"),
        (
            Sign("unsupported display driver", r"\bunsupported display driver ?/ ?cuda driver combination"),
            Sign("system_driver_mismatch", r"\bCUDA_ERROR_SYSTEM_DRIVER_MISMATCH\b"),
        ),
    ),
    Recipe(
        "forward-compatibility",
        "The image's newer CUDA cannot run on this driver",
        "A libcuda of a newer CUDA (the package cuda-compat, mostly in a container) was loaded, and only data centre cards may "
        "use one that is newer than their driver.",
        "Update the host's driver, take an image of a CUDA that the driver knows, or take the compat folder out of "
        "LD_LIBRARY_PATH.",
        issues("NVIDIA/libnvidia-container#131", "gpustack/gpustack#1254", "PKU-YuanGroup/Video-LLaVA#22"),
        (
            Sign("forward compatibility", r"\bforward compatibility was attempted on non[- ]supported (?:HW|hardware)"),
            Sign("compat_not_supported", r"\bCUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE\b"),
        ),
    ),
    Recipe(
        "stub-library",
        "CUDA's stub is loaded in the driver's place",
        "The libcuda of a toolkit's folder stubs is for linking only: it holds no driver, and was found before the real one.",
        "Take the folder that ends in /stubs out of LD_LIBRARY_PATH and out of /etc/ld.so.conf.d, then run ldconfig as root.",
        issues("NVIDIA/cutlass#1636", "fboulnois/stable-diffusion-docker#22", "xmake-io/xmake#4686"),
        (
            Sign("stub library", r"\bCUDA driver is a stub library\b"),
            Sign("cuda_error_stub_library", r"\bCUDA_ERROR_STUB_LIBRARY\b"),
        ),
    ),
    Recipe(
        "devices-busy",
        "The GPU is taken, or waits for a reset",
        "Another process holds a GPU in exclusive mode (nvidia-smi shows E. Process), or the GPU needs a reset after a fault.",
        "End the other process, or set the mode back as root: nvidia-smi -c 0. If nobody uses the GPU, reset it "
        "(nvidia-smi --gpu-reset) or restart.",
        issues("NVIDIA/DIGITS#2005", "pytorch/pytorch#2704", "AILab-CVC/YOLO-World#385"),
        (
            Sign("busy or unavailable", r"CUDA-capable device(?:\(s\) is/are|s are) busy or unavailable"),
            Sign("cuda_error_device_unavailable", r"\bCUDA_ERROR_DEVICE_UNAVAILABLE\b"),
        ),
    ),
    Recipe(
        "invalid-device",
        "There is no GPU of that number",
        "The number is not below the count of GPUs that this process sees; numbers start at 0 and count within "
        "CUDA_VISIBLE_DEVICES. A process sees one slice of a card in MIG mode only.",
        "`python -c 'import torch; print(torch.cuda.device_count())'` tells the count; start no more processes per machine "
        "(--nproc_per_node) than that.",
        issues("pytorch/pytorch#104152", "openai/summarize-from-feedback#5", "wenwenyu/PICK-pytorch#14"),
        (
            Sign("invalid device ordinal", r"\binvalid device ordinal\b"),
            Sign("cuda_error_invalid_device", r"\bCUDA_ERROR_INVALID_DEVICE\b"),
        ),
    ),
    Recipe(
        "os-call-failed",
        "The operating system refused a call of the driver",
        "This may be a container or sandbox that forbids it (seccomp, a missing /dev/nvidia-uvm), or a process that was forked "
        "after CUDA had started.",
        "Try outside the container, or start it with --gpus all and --security-opt seccomp=unconfined; start CUDA in the "
        "process that uses it, not before a fork.",
        issues("microsoft/onnxruntime#20421", "abetlen/llama-cpp-python#645", "NVIDIA/DALI#4852"),
        (
            Sign("os call failed", r"\bOS call failed or operation not supported on this OS"),
            Sign("cuda_error_operating_system", r"\bCUDA_ERROR_OPERATING_SYSTEM\b"),
        ),
        certain=False,
    ),
    Recipe(
        "cuda-not-supported",
        "The driver or the card does not support what was asked",
        "This may be a driver without a GPU behind it, a driver that is older than the feature, or a card, virtual GPU or "
        "operating system without it.",
        "See that nvidia-smi lists the GPU, and update the driver; if the message comes from one function, do without that "
        "feature.",
        issues("pytorch/pytorch#162412", "pytorch/pytorch#161046", "CESNET/GPUJPEG#20"),
        (
            Sign("operation not supported", r"\bCUDA (?:runtime )?error(?: \(801\) ?)?: operation not supported\b"),
            Sign("cudaerrornotsupported", r"\bcudaErrorNotSupported\b"),
            Sign("cuda_error_not_supported", r"\bCUDA_ERROR_NOT_SUPPORTED\b"),
        ),
        certain=False,
    ),
    Recipe(
        "cuda-not-initialized",
        "CUDA could not start",
        "This may be a process that was forked after its parent had used CUDA, or a driver that is only half set up (another "
        "version of the kernel's module, missing device files).",
        "Start worker processes with spawn instead of fork. If a fresh process fails too, see that nvidia-smi works, then "
        "restart the machine or install the driver again.",
        issues("NVIDIA/open-gpu-kernel-modules#947", "ccsb-scripts/AutoDock-GPU#192", "JuliaGPU/CUDA.jl#1331"),
        (
            Sign("initialization error", r"\b(?:CUDA error|Error 3|cudaGetDeviceCount failed):? initialization error\b"),
            Sign("cuda_error_not_initialized", r"\bCUDA_ERROR_NOT_INITIALIZED\b"),
        ),
        certain=False,
        follows=("fork", "driver-mismatch"),
    ),
    Recipe(
        "cuda-unknown",
        "CUDA does not start, and gives no reason",
        "This may be the module nvidia_uvm, which is missing or stale after suspend or an update of the driver, or a container "
        "that lost its devices.",
        f"{MODULE} loads it anew (end what uses the GPU first); else restart, and make a container anew.",
        issues("pytorch/pytorch#88639", "pytorch/pytorch#49081", "pytorch/pytorch#31179"),
        (
            Sign("cuda unknown error", r"\bCUDA unknown error - this may be due to an incorrectly set up environment"),
            Sign("unknown error", r"\b(?:CUDA error 999|cuda runtime error \(999\)) ?: unknown error\b"),
            Sign("error 999: unknown error", r"\bcudaGetDeviceCount\(\)[^\n]{0,300}\bError 999: unknown error\b"),
            Sign("cuda_error_unknown", r"\bCUDA_ERROR_UNKNOWN\b"),
        ),
        certain=False,
        follows=("nvml-unknown", "driver-mismatch", "gpu-lost"),
    ),
)
