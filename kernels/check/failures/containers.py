"""Containers that do not get the GPU, and profilers that do not get its counters."""

from __future__ import annotations

from .recipe import Recipe, Sign, issues

RECIPES = (
    Recipe(
        "docker-gpus",
        "Docker cannot give the container a GPU",
        "The NVIDIA Container Toolkit is not installed on the host, or Docker was not told of it.",
        "On the host install nvidia-container-toolkit, then: sudo nvidia-ctk runtime configure --runtime=docker, and sudo "
        "systemctl restart docker. A Docker that came as a snap cannot use it.",
        issues("hiyouga/LlamaFactory#5268", "NVIDIA/nvidia-docker#1642", "infiniflow/ragflow#9573", "OpenBMB/XAgent#273"),
        (
            Sign(
                "could not select device driver",
                r"could not select device driver (?:\\?[\"'](?:nvidia)?\\?[\"'] )?with capabilities: ?\[\[gpu\]\]",
            ),
        ),
    ),
    Recipe(
        "container-driver",
        "The host has no NVIDIA driver for its containers",
        "The container tool looks for libnvidia-ml.so.1 on the host: no driver is installed there.",
        "Install NVIDIA's driver on the host (not in the image), see that nvidia-smi works there, then start the container "
        "again.",
        issues("NVIDIA/libnvidia-container#231", "docker/for-win#13835", "ameli/manylinux-cuda#5"),
        (
            Sign(
                "nvidia-container-cli",
                r"nvidia-container-cli: initialization error: load library failed: libnvidia-ml\.so\.1",
            ),
        ),
    ),
    Recipe(
        "counter-permission",
        "This user may not read the GPU's counters",
        "The driver keeps performance counters for administrators unless it is told otherwise.",
        "Run the profiler as root, or as root write options nvidia NVreg_RestrictProfilingToAdminUsers=0 into a file of "
        "/etc/modprobe.d and restart. A container needs --cap-add=SYS_ADMIN; rented machines often do not allow it.",
        (
            "https://developer.nvidia.com/nvidia-development-tools-solutions-err_nvgpuctrperm-permission-issue-performance-counters",
            *issues("HazyResearch/ThunderKittens#73", "deepseek-ai/DeepGEMM#46"),
        ),
        (Sign("err_nvgpuctrperm", r"\bERR_NVGPUCTRPERM - The user does not have permission"),),
    ),
)
