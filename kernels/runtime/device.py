"""Facts about the attached GPUs, without torch and without a CUDA context, and about targets that are not attached.

NVIDIA: from the driver (`libcuda`, cuDeviceGetAttribute). AMD: from the kernel driver's topology files. What neither tells is
None, never a guess.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
from dataclasses import dataclass
from pathlib import Path

KFD = Path("/sys/class/kfd/kfd/topology/nodes")


@dataclass(frozen=True)
class Target:
    """What a kernel is compiled for, and the hardware's limits on a launch there.

    `shared_bytes` is what one program may have of shared memory; `grid` the most programs along each axis.
    """

    name: str
    backend: str
    arch: int | str
    warp_size: int = 32
    shared_bytes: int | None = None
    threads: int = 1024
    grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)


# Shared memory of one block, opted in: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; LDS of a
# workgroup: AMD's CDNA 3 and CDNA 4 instruction set guides.
_NVIDIA_SHARED = {75: 65536, 80: 166912, 86: 101376, 89: 101376, 90: 232448, 100: 232448, 103: 232448, 120: 101376}
_AMD_SHARED = {"gfx90a": 65536, "gfx942": 65536, "gfx950": 163840}

TARGETS = {
    **{f"sm_{arch}": Target(f"sm_{arch}", "cuda", arch, shared_bytes=size) for arch, size in _NVIDIA_SHARED.items()},
    **{
        arch: Target(arch, "hip", arch, warp_size=64, shared_bytes=size, grid=(2**31 - 1, 65535, 65535))
        for arch, size in _AMD_SHARED.items()
    },
}
DEFAULT_TARGET = "sm_90"


@dataclass(frozen=True)
class Gpu:
    """An attached GPU as its driver describes it; bytes, hertz and counts; None where the driver does not tell."""

    index: int
    name: str
    uuid: str | None
    target: Target
    multiprocessors: int | None
    memory_bytes: int | None
    l2_bytes: int | None
    registers: int | None = None
    threads_per_multiprocessor: int | None = None
    memory_clock_hz: int | None = None
    bus_bits: int | None = None
    clock_hz: int | None = None

    @property
    def worker(self) -> str:
        """The name of the worker that has this GPU alone."""
        return f"device {self.uuid or self.index}"


def find_target(name: str) -> Target:
    """The target of that name; raises ValueError, with the names there are, for another."""
    if name not in TARGETS:
        raise ValueError(f"There is no target {name[:40]!r}. There are: {', '.join(TARGETS)}.")
    return TARGETS[name]


@functools.cache
def attached() -> tuple[Gpu, ...]:
    """Every GPU that the driver shows to this process, in the order in which CUDA or HIP numbers them."""
    return _nvidia() or _amd()


_ATTRIBUTES = {
    "threads": 1,
    "grid_x": 5,
    "grid_y": 6,
    "grid_z": 7,
    "warp_size": 10,
    "clock_khz": 13,
    "multiprocessors": 16,
    "memory_clock_khz": 36,
    "bus_bits": 37,
    "l2_bytes": 38,
    "threads_per_multiprocessor": 39,
    "major": 75,
    "minor": 76,
    "registers": 82,
    "shared_bytes": 97,
}


def _nvidia() -> tuple[Gpu, ...]:
    for library in ("libcuda.so.1", "nvcuda.dll"):
        with contextlib.suppress(OSError):
            cuda = ctypes.CDLL(library)
            count = ctypes.c_int()
            if cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(count)):
                return ()
            return tuple(_nvidia_gpu(cuda, index) for index in range(count.value))
    return ()


def _nvidia_gpu(cuda: ctypes.CDLL, index: int) -> Gpu:
    device = ctypes.c_int()
    cuda.cuDeviceGet(ctypes.byref(device), index)
    name, uuid, memory = ctypes.create_string_buffer(256), (ctypes.c_ubyte * 16)(), ctypes.c_size_t()
    cuda.cuDeviceGetName(name, 256, device)
    known_uuid = not getattr(cuda, "cuDeviceGetUuid_v2", cuda.cuDeviceGetUuid)(ctypes.byref(uuid), device)
    known_memory = not cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
    fact = {key: _attribute(cuda, device, number) for key, number in _ATTRIBUTES.items()}
    arch = 10 * (fact["major"] or 0) + (fact["minor"] or 0)
    digits = bytes(uuid).hex()
    clock = fact["memory_clock_khz"]
    return Gpu(
        index=index,
        name=name.value.decode(errors="replace"),
        uuid=f"GPU-{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}" if known_uuid else None,
        target=Target(
            f"sm_{arch}",
            "cuda",
            arch,
            fact["warp_size"] or 32,
            fact["shared_bytes"],
            fact["threads"] or 1024,
            (fact["grid_x"] or 2**31 - 1, fact["grid_y"] or 65535, fact["grid_z"] or 65535),
        ),
        multiprocessors=fact["multiprocessors"],
        memory_bytes=memory.value if known_memory else None,
        l2_bytes=fact["l2_bytes"],
        registers=fact["registers"],
        threads_per_multiprocessor=fact["threads_per_multiprocessor"],
        memory_clock_hz=clock * 1000 if clock else None,
        bus_bits=fact["bus_bits"],
        clock_hz=fact["clock_khz"] * 1000 if fact["clock_khz"] else None,
    )


def _attribute(cuda: ctypes.CDLL, device: ctypes.c_int, number: int) -> int | None:
    value = ctypes.c_int()
    failed = cuda.cuDeviceGetAttribute(ctypes.byref(value), number, device)
    return None if failed or value.value <= 0 else value.value


def _amd(root: Path = KFD) -> tuple[Gpu, ...]:
    nodes = sorted(root.glob("[0-9]*"), key=lambda path: int(path.name)) if root.is_dir() else []
    facts = [fact for fact in map(_amd_node, nodes) if fact.get("simd_count") and fact.get("gfx_target_version")]
    return tuple(_amd_gpu(index, fact) for index, fact in enumerate(facts))


def _amd_node(node: Path) -> dict[str, int]:
    with contextlib.suppress(OSError, ValueError):
        lines = (node / "properties").read_text().split("\n")
        return {line.split()[0]: int(line.split()[1]) for line in lines if len(line.split()) == 2}
    return {}


def _amd_gpu(index: int, fact: dict[str, int]) -> Gpu:
    version = fact["gfx_target_version"]
    arch = f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"
    known = TARGETS.get(arch)
    wave, lds = fact.get("wave_front_size", 64), fact.get("lds_size_in_kb")
    target = Target(arch, "hip", arch, wave, lds * 1024 if lds else known and known.shared_bytes)
    units = fact["simd_count"] // fact["simd_per_cu"] if fact.get("simd_per_cu") else None
    return Gpu(index, f"AMD {arch}", None, target, units, None, None)


def idle_first(gpus: tuple[Gpu, ...]) -> tuple[Gpu, ...]:
    """The GPUs, those with less memory in use by anyone first; in their own order where NVML is not installed."""
    used = {gpu.index: _used_bytes(gpu) for gpu in gpus}
    return tuple(sorted(gpus, key=lambda gpu: (used[gpu.index] or 0) // 2**28))


def _used_bytes(gpu: Gpu) -> int | None:
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        return int(pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByUUID(gpu.uuid)).used)
    except (pynvml.NVMLError, TypeError):
        return None
