"""What a card is, from its driver and a formula, each with its source. What is not known stays unknown."""

from __future__ import annotations

from ..runtime.device import Gpu
from .values import Fact

UNKNOWN = "unknown"
# CUDA cores of one multiprocessor by compute capability: NVIDIA's cuda-samples (helper_cuda.h of CUDA 13).
CORES = {
    **dict.fromkeys((30, 32, 35, 37), 192),
    **dict.fromkeys((50, 52, 53, 61, 62, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121), 128),
    **dict.fromkeys((60, 70, 72, 75, 80), 64),
}
# Dense operations of tensor cores in one clock of one multiprocessor, 16 bits with a float32 sum, a multiply-add counted as
# two: architecture white papers (A100, H100, Blackwell). Of 7.5, 8.6, 8.9 and 12.0 consumer cards do half of what workstation
# and data-centre cards do: GA102, AD102 and RTX Blackwell white papers.
TENSOR = {80: 2048, 90: 4096, 100: 8192, 103: 8192}
TENSOR_HALVED = {75: 1024, 86: 1024, 89: 1024, 120: 1024}


def cores(gpu: Gpu) -> int | None:
    """CUDA cores: multiprocessors times the cores of one; None where the capability is not in the list, or not NVIDIA's."""
    per = CORES.get(gpu.target.arch) if gpu.target.backend == "cuda" else None
    return per * gpu.multiprocessors if per and gpu.multiprocessors else None


def tensor_rate(gpu: Gpu) -> int | None:
    """Operations a clock and multiprocessor, dense, 16 bits with a float32 sum; None where it is not known."""
    if gpu.target.backend != "cuda":
        return None
    arch = gpu.target.arch
    if arch in TENSOR:
        return TENSOR[arch]
    if arch not in TENSOR_HALVED or "GTX" in gpu.name:  # a GTX 16 is a 7.5 without tensor cores
        return None
    workstation = any(word in gpu.name for word in ("RTX PRO", "RTX A", "Quadro", "Tesla", "Ada Generation"))
    if "GeForce" in gpu.name or "TITAN" in gpu.name:
        return TENSOR_HALVED[arch] // 2
    data_centre = gpu.name.removeprefix("NVIDIA ").split("-")[0].strip() in (
        "T4",
        "A10",
        "A10G",
        "A16",
        "A2",
        "A40",
        "L4",
        "L40",
        "L40S",
    )
    return TENSOR_HALVED[arch] if workstation or data_centre else None


def bandwidth(gpu: Gpu) -> float | None:
    """Bytes a second of the DRAM: memory clock x bus width x 2 / 8; None on other makers' cards, where the 2 may be another."""
    if gpu.target.backend != "cuda" or not gpu.memory_clock_hz or not gpu.bus_bits:
        return None
    return 2.0 * gpu.memory_clock_hz * gpu.bus_bits / 8


def facts(gpu: Gpu, pci: str | None = None, driver: str | None = None) -> tuple[Fact, ...]:
    """The card in a few lines, for people."""
    said = [Fact("GPU", gpu.name, "driver"), _capability(gpu)]
    unit = "Multiprocessors" if gpu.target.backend == "cuda" else "Compute units"
    said += [_plain(unit, gpu.multiprocessors, "driver"), _cores(gpu), Fact(*_warp(gpu))]
    said += [
        _size("Memory", gpu.memory_bytes),
        _size("L2 cache", gpu.l2_bytes),
        _size("Shared memory of a program, at most", gpu.target.shared_bytes),
        _plain("Registers of a multiprocessor", gpu.registers, "driver"),
        _bandwidth(gpu),
        _compute(gpu),
    ]
    more = {"UUID": (gpu.uuid, "driver"), "PCI": (pci, "NVML"), "Driver": (driver, "NVML")}
    return (*said, *(Fact(name, value, source) for name, (value, source) in more.items() if value))


def _capability(gpu: Gpu) -> Fact:
    if gpu.target.backend == "cuda":
        return Fact("Compute capability", f"{gpu.target.arch // 10}.{gpu.target.arch % 10} ({gpu.target.name})", "driver")
    return Fact("Architecture", str(gpu.target.arch), "driver")


def _warp(gpu: Gpu) -> tuple[str, str, str]:
    name = "Warp" if gpu.target.backend == "cuda" else "Wavefront"
    return name, f"{gpu.target.warp_size} threads", "driver"


def _plain(name: str, value: int | None, source: str) -> Fact:
    return Fact(name, f"{value:,}" if value else UNKNOWN, source)


def _size(name: str, value: int | None) -> Fact:
    if not value:
        return Fact(name, UNKNOWN, "driver does not tell")
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if value >= size:
            return Fact(name, f"{value / size:,.4g} {unit}", "driver")
    return Fact(name, f"{value} B", "driver")


def _cores(gpu: Gpu) -> Fact:
    found = cores(gpu)
    if found is None:
        return Fact("CUDA cores", UNKNOWN, "only NVIDIA's" if gpu.target.backend != "cuda" else "capability not in the list")
    return Fact("CUDA cores", f"{found:,}", f"{gpu.multiprocessors} multiprocessors x {CORES[gpu.target.arch]}")


def _bandwidth(gpu: Gpu) -> Fact:
    found = bandwidth(gpu)
    if found is None:
        return Fact("Bandwidth by formula", UNKNOWN, "clock or bus width not told")
    formula = f"{gpu.memory_clock_hz / 1e6:,.0f} MHz x {gpu.bus_bits:,} bits x 2 / 8"
    return Fact("Bandwidth by formula", f"{found / 1e9:,.0f} GB/s", formula)


def _compute(gpu: Gpu) -> Fact:
    rate = tensor_rate(gpu)
    if rate is None or not gpu.clock_hz or not gpu.multiprocessors:
        return Fact("16-bit matmul by formula", UNKNOWN, "rate of the tensor cores not known")
    found = rate * gpu.multiprocessors * gpu.clock_hz
    formula = f"{gpu.multiprocessors} x {rate:,} a clock x {gpu.clock_hz / 1e6:,.0f} MHz, dense, at the highest clock"
    return Fact("16-bit matmul by formula", f"{found / 1e12:,.0f} TFLOP/s", formula)
