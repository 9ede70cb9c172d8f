"""AMD: ROCm's device file, wheels without code for a chip, faults of memory."""

from __future__ import annotations

from .recipe import Recipe, Sign, issues

OVERRIDE = (
    "For a chip next to a listed one HSA_OVERRIDE_GFX_VERSION makes it pass for that: 10.3.0 for gfx103x, 11.0.0 for gfx110x; "
    "it may hang or compute wrongly."
)

RECIPES = (
    Recipe(
        "kfd",
        "This user may not use the AMD GPU",
        "/dev/kfd, ROCm's device file, may not be opened by this user or this container.",
        "sudo usermod -aG render,video $USER, then log in again. A container needs --device=/dev/kfd --device=/dev/dri and "
        "--group-add with the number of the group that owns /dev/kfd.",
        issues("ROCm/legacy-rocm-build#1211", "ROCm/ROCm-docker#116", "ROCm/rocminfo#34"),
        (Sign("/dev/kfd", r"/dev/kfd(?: read-write)?: (?:Permission denied|Operation not permitted)"),),
    ),
    Recipe(
        "hip-code-object",
        "A ROCm library has no code for this AMD GPU",
        "The program or wheel was built without this chip's gfx number (rocminfo shows it).",
        "Install a torch build for ROCm that lists the chip: torch.cuda.get_arch_list() tells what one has. " + OVERRIDE,
        issues("ROCm/legacy-rocm-build#1623", "ROCm/legacy-rocm-build#2061", "ROCm/tensorflow-upstream#1106"),
        (
            Sign("hiperrornobinaryforgpu", r"\bhipErrorNoBinaryForGpu\b"),
            Sign("code object for all current devices", r"Unable to find code object for all current devices"),
        ),
    ),
    Recipe(
        "hip-device-function",
        "The torch wheel has no code for this AMD GPU",
        "The ROCm wheel was built without this chip's gfx number (rocminfo shows it).",
        "Install a torch build for ROCm that lists the chip: torch.cuda.get_arch_list() tells what one has. " + OVERRIDE,
        issues("pytorch/pytorch#164346", "ROCm/TheRock#1184", "ROCm/legacy-rocm-build#5668"),
        (
            Sign("hip error: invalid device function", r"\bHIP error: invalid device function\b"),
            Sign("hiperrorinvaliddevicefunction", r"\bhipErrorInvalidDeviceFunction\b"),
        ),
        follows=("hip-code-object",),
    ),
    Recipe(
        "hip-memory-fault",
        "A kernel on the AMD GPU accessed memory that is not there",
        "GPU node {node} met an address without memory: an access out of bounds in a kernel, or code for another chip "
        "(HSA_OVERRIDE_GFX_VERSION, an unsupported GPU).",
        "See that loads and stores have their masks and offsets stay below 2^31. If plain torch code does it too, unset "
        "HSA_OVERRIDE_GFX_VERSION and install a ROCm build that lists this chip. AMD_SERIALIZE_KERNEL=3 names the kernel.",
        issues("ROCm/legacy-rocm-build#1339", "ROCm/legacy-rocm-build#4554", "ROCm/pytorch#797"),
        (Sign("memory access fault by gpu", r"Memory access fault by GPU node-(?P<node>\d{1,3})\b"),),
        unnamed={"node": "1"},
    ),
    Recipe(
        "hip-launch-argument",
        "The AMD driver refuses the launch's shape",
        "This may be more than 1,024 threads per block: num_warps times 64 on AMD Instinct.",
        "Take num_warps of 16 or fewer (a newer Triton says so by itself).",
        issues("triton-lang/triton#4128", "triton-lang/triton#6125"),
        (Sign("triton error [hip]", r"\bTriton Error \[HIP\]:? ? ?Code: 1, Mess?s?age: invalid argument"),),
        certain=False,
    ),
)
