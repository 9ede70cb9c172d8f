"""NVML, the library that nvidia-smi and the check ask about a card, by its messages and its codes (nvml.h)."""

from __future__ import annotations

from .recipe import Recipe, Sign, issues

# What NVML's functions return, and the recipe that tells of it.
CODES = {
    3: "nvml-not-supported",
    4: "nvml-permissions",
    9: "driver-not-loaded",
    12: "nvml-missing",
    15: "gpu-lost",
    17: "wsl-blocked",
    18: "driver-mismatch",
    999: "nvml-unknown",
}

RECIPES = (
    Recipe(
        "nvml-missing",
        "NVML's library is not found",
        "libnvidia-ml.so.1, which comes with NVIDIA's driver, is not on this system or not in the linker's path.",
        "Install the driver's full package; in a container start with --gpus all (the toolkit mounts the library). Under WSL "
        "add /usr/lib/wsl/lib to LD_LIBRARY_PATH. On a machine without an NVIDIA GPU nothing is wrong.",
        issues("wookayin/gpustat#90", "wookayin/gpustat#134", "deepfakes/faceswap#778"),
        (
            Sign("nvml shared library not found", r"\bNVML Shared Library Not Found\b"),
            Sign("nvmlerror_librarynotfound", r"\bNVMLError_LibraryNotFound\b"),
            Sign("libnvidia-ml.so", r"(?<!load library failed: )\blibnvidia-ml\.so\.1: cannot open shared object file"),
        ),
        follows=("container-driver",),
    ),
    Recipe(
        "nvml-permissions",
        "This user may not ask NVML",
        "The device files /dev/nvidiactl and /dev/nvidia0 may not be opened by this user or this container.",
        "ls -l /dev/nvidia* shows whose they are: join that group (often video), then log in again. In a container under "
        "SELinux: sudo setsebool -P container_use_devices 1.",
        issues("NVIDIA/nvidia-container-toolkit#33", "NVIDIA/nvidia-container-toolkit#210", "NVIDIA/nvidia-docker#1523"),
        (
            Sign("insufficient permissions", r"\bNVML(?: error)?: Insufficient Permissions\b"),
            Sign("insufficient permissions", r"\bNVMLError_NoPermission: Insufficient Permissions\b"),
        ),
    ),
    Recipe(
        "nvml-unknown",
        "NVML fails and gives no reason",
        "This may be a container that lost its devices (a reload of systemd on the host takes them away), or a driver that was "
        "updated underneath.",
        "Make the container anew, and give it the devices by name (--device /dev/nvidiactl, /dev/nvidia0, ...) so that it "
        "keeps them. Outside a container restart the machine.",
        issues("NVIDIA/nvidia-container-toolkit#48", "NVIDIA/nvidia-container-toolkit#251"),
        (
            Sign("nvml: unknown error", r"\bFailed to initiali[sz]e NVML: Unknown Error\b"),
            Sign("nvmlerror_unknown", r"\bNVMLError_Unknown\b"),
        ),
        certain=False,
    ),
    Recipe(
        "handle-unknown",
        "{gpu} does not answer NVML",
        "This may be a GPU that fell off the bus (overheated, short of power, badly seated); sudo dmesg | grep Xid tells.",
        "Restart. If it comes again under load: seat the card and its power cables anew, see its cooling, keep its clock low "
        "(nvidia-smi -lgc 300,1500) to try, have it replaced.",
        issues("NVIDIA/open-gpu-kernel-modules#387", "haotian-liu/LLaVA#1466", "meta-llama/llama-models#200"),
        (
            Sign(
                "unable to determine the device handle",
                r"Unable to determine the device handle for (?P<gpu>GPU ?[0-9a-f:.]{4,20}): Unknown Error",
            ),
        ),
        certain=False,
        follows=("gpu-lost",),
        unnamed={"gpu": "A GPU"},
    ),
    Recipe(
        "nvml-not-supported",
        "This card or driver does not tell that value",
        "Nothing is broken: NVML answers Not Supported where a card has no such sensor or counter (GeForce, unified memory, "
        "WSL).",
        "The program that asked should take the value as unknown: update it. A newer driver may know more.",
        issues("rapidsai/ucx-py#982", "NVIDIA/cosmos#180", "bytedance/Protenix#215"),
        (Sign("nvmlerror_notsupported", r"\bNVMLError_NotSupported\b"),),
    ),
    Recipe(
        "wsl-blocked",
        "Windows keeps the GPU from WSL",
        "The GPU is not shared with this WSL: an old driver or WSL, a data centre card in TCC mode, or a container under WSL "
        "that may not open the devices.",
        "Update Windows' NVIDIA driver, then wsl --update and wsl --shutdown. A card in TCC mode has to be in WDDM. In a "
        "container: no-cgroups = false in /etc/nvidia-container-runtime/config.toml.",
        issues("microsoft/WSL#9962", "microsoft/WSL#9938", "microsoft/WSL#11865"),
        (
            Sign("blocked by the operating system", r"\bGPU access blocked by the operating system\b"),
            Sign("system has blocked the request", r"\bThe operating system has blocked the request\b"),
        ),
    ),
)
