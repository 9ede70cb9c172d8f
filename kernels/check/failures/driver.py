"""The driver: missing, too old, not loaded, refused, or without a GPU."""

from __future__ import annotations

from .recipe import Recipe, Sign, issues

RECIPES = (
    Recipe(
        "driver-too-old",
        "The NVIDIA driver is too old for this torch",
        "The CUDA that the driver knows ({cuda}) is older than the one that torch was built with.",
        "Install a newer driver (580 and newer run every CUDA 13 build, 525 and newer every CUDA 12 build), or torch's build "
        "for CUDA 12.6 (pytorch.org, Get started).",
        issues("pytorch/pytorch#4546", "lllyasviel/Fooocus#1313", "IEIT-Yuan/Yuan-2.0#65"),
        (
            Sign(
                "driver on your system is too old",
                r"NVIDIA driver on your system is too old(?: \(found (?P<cuda>version \d{4,5})\))?",
            ),
            Sign("driver version is insufficient", r"CUDA driver version is insufficient for CUDA runtime version"),
            Sign("cudaerrorinsufficientdriver", r"\bcudaErrorInsufficientDriver\b"),
        ),
        unnamed={"cuda": "nvidia-smi shows it"},
    ),
    Recipe(
        "no-driver",
        "No NVIDIA driver is found",
        "libcuda, which the driver brings, is not found by this process.",
        "Install the driver, and see that nvidia-smi lists the GPU. A container needs --gpus all; WSL takes the driver of "
        "Windows, with none installed inside.",
        issues("facebookresearch/pytorch3d#1259", "googlecolab/colabtools#5136", "facebookresearch/detectron2#3104"),
        (Sign("found no nvidia driver", r"Found no NVIDIA driver on your system"),),
        follows=("docker-gpus", "container-driver", "secure-boot", "driver-not-loaded"),
    ),
    Recipe(
        "no-device",
        "CUDA sees no GPU",
        "The driver answers, and shows this process no GPU.",
        "See that nvidia-smi lists the GPU here, and that CUDA_VISIBLE_DEVICES is unset or names one that exists (empty or -1 "
        "hides all). A container needs --gpus all.",
        issues("NVIDIA/cuda-samples#34", "AlexeyAB/darknet#86"),
        (
            Sign("no cuda-capable device", r"\bno CUDA-capable device is detected"),
            Sign("gpus are available", r"\bNo (?:CUDA|HIP) GPUs are available"),
            Sign("cudaerrornodevice", r"\bcudaErrorNoDevice\b"),
            Sign("cuda_error_no_device", r"\bCUDA_ERROR_NO_DEVICE\b"),
        ),
        follows=("fabric-manager", "driver-not-loaded", "gpu-lost", "docker-gpus", "no-driver", "kfd", "secure-boot"),
    ),
    Recipe(
        "no-active-driver",
        "Triton finds no GPU",
        "No GPU is visible to this process, or torch is a build without GPU support, or there are no GPUs for Triton at all "
        "(macOS).",
        "See that `python -c 'import torch; print(torch.cuda.is_available())'` prints True; if not, mend that first: "
        "`python -m kernels check` tries every stage.",
        issues("triton-lang/triton#5570", "hiyouga/EasyR1#211", "deepseek-ai/DeepSeek-R1#493"),
        (Sign("active drivers", r"\b0 active drivers\b"),),
        follows=("no-device", "no-driver", "cpu-build", "fabric-manager", "driver-too-old", "libcuda-missing"),
    ),
    Recipe(
        "driver-not-loaded",
        "The driver's kernel module is not loaded",
        "The driver is installed, but its module does not run in this kernel: the kernel was updated and the module was not "
        "built for it, another driver (nouveau) holds the card, or Secure Boot refused it.",
        "sudo modprobe nvidia says why. Install the driver again with the headers of this kernel (with dkms it follows "
        "updates), then restart.",
        issues("wookayin/gpustat#110", "NVIDIA/nvidia-docker#988", "mattshma/bigdata#133"),
        (
            Sign("driver not loaded", r"(?:NVML\w{0,20}|DriverNotLoaded)\b[^\n]{0,40}: ?Driver Not Loaded"),
            Sign("drivernotloaded", r"\b(?:NVMLError_|nvml: ?)DriverNotLoaded\b"),
            Sign("nvidia-smi has failed", r"NVIDIA-SMI has failed because it could\w?n.t communicate with the NVIDIA driver"),
        ),
        follows=("secure-boot", "container-driver"),
    ),
    Recipe(
        "driver-mismatch",
        "The driver's library and its kernel module differ",
        "The driver was updated while the old kernel module is still loaded.",
        "Restart the machine, or end what uses the GPU and load the module anew: "
        "sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia, then sudo modprobe nvidia. A container has to be made anew.",
        issues("qixuema/envs#8", "pytorch/pytorch#45109"),
        (
            Sign("version mismatch", r"\bDriver/library version mismatch\b"),
            Sign("version mismatch", r"\bNVML/RM version mismatch\b"),
            Sign("librmversionmismatch", r"\bNVMLError_LibRmVersionMismatch\b"),
        ),
    ),
    Recipe(
        "secure-boot",
        "Secure Boot refused the driver's module",
        "The machine starts signed modules only, and the key that signed {module} is not enrolled.",
        "Enroll the key that the driver's package made (sudo mokutil --import its .der file, set a password, restart, choose "
        "Enroll MOK), or switch Secure Boot off in the firmware.",
        issues("acidanthera/bugtracker#2237", "canonical/nvidia-graphics-drivers#61", "canonical/nvidia-graphics-drivers#62"),
        (
            Sign(
                "key was rejected by service",
                r"could not insert '?(?:module )?(?P<module>nvidia[\w-]{0,20})(?:\.ko)?'?: Key was rejected by service",
            ),
            Sign(
                "required key not available",
                r"could not insert '?(?:module )?(?P<module>nvidia[\w-]{0,20})(?:\.ko)?'?: Required key not available",
            ),
        ),
        unnamed={"module": "nvidia"},
    ),
    Recipe(
        "adapter-failed",
        "The driver cannot start the GPU",
        "This may be a driver without support for the card (Blackwell needs the open kernel modules), a firmware setting "
        "(Resizable BAR, Above 4G Decoding), or a fault of the card or its slot.",
        "sudo dmesg | grep NVRM says more. Install the driver's open variant (nvidia-driver-580-open, for one), switch both "
        "settings on, then seat the card anew.",
        issues(
            "NVIDIA/open-gpu-kernel-modules#862", "NVIDIA/open-gpu-kernel-modules#872", "NVIDIA/open-gpu-kernel-modules#789"
        ),
        (
            Sign("rminitadapter failed", r"\bRmInitAdapter failed!"),
            Sign("no devices were found", r"(?:^|\n)[ \t]{0,20}No devices were found[ \t\r]{0,20}(?=\n|$)"),
        ),
        certain=False,
        follows=("gpu-lost", "secure-boot"),
    ),
)
