"""What GPUs are made of: facts by compute capability and by card, each with its source; what no source tells is None."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..runtime.device import Gpu


@dataclass(frozen=True)
class Multiprocessor:
    """One streaming multiprocessor (SM), and how its resources are handed out.

    cores          -- float32 lanes: results of a float32 addition in one clock
    registers      -- 32-bit registers, given to warps in units of `register_unit`, to `warp_unit` warps at a time
    shared_bytes   -- what all blocks together may have of shared memory, in units of `shared_unit`; the system keeps
                      `shared_reserved` of each block's
    l1_bytes       -- shared memory and L1 cache together
    """

    cores: int
    schedulers: int
    tensor_cores: int
    warps: int
    blocks: int
    shared_bytes: int
    l1_bytes: int
    shared_reserved: int = 1024
    shared_unit: int = 128
    registers: int = 65536
    register_unit: int = 256
    warp_unit: int = 4


MULTIPROCESSOR_SOURCE = (
    "CUDA C++ Programming Guide, technical specifications per compute capability; "
    "allocation units: NVIDIA's occupancy calculator"
)
_KB = 1024
MULTIPROCESSORS = {
    75: Multiprocessor(64, 4, 8, 32, 16, 64 * _KB, 96 * _KB, shared_reserved=0, shared_unit=256),
    80: Multiprocessor(64, 4, 4, 64, 32, 164 * _KB, 192 * _KB),
    86: Multiprocessor(128, 4, 4, 48, 16, 100 * _KB, 128 * _KB),
    89: Multiprocessor(128, 4, 4, 48, 24, 100 * _KB, 128 * _KB),
    90: Multiprocessor(128, 4, 4, 64, 32, 228 * _KB, 256 * _KB),
    100: Multiprocessor(128, 4, 4, 64, 32, 228 * _KB, 256 * _KB),
    103: Multiprocessor(128, 4, 4, 64, 32, 228 * _KB, 256 * _KB),
    120: Multiprocessor(128, 4, 4, 48, 24, 100 * _KB, 128 * _KB),
}


@dataclass(frozen=True)
class Chip:
    """A GPU: bytes, bytes a second, hertz; `multiprocessor` is None where this explorer knows no facts of its kind."""

    name: str
    target: str
    multiprocessors: int | None
    multiprocessor: Multiprocessor | None
    l2_bytes: int | None = None
    memory_bytes: int | None = None
    bandwidth: float | None = None
    clock_hz: float | None = None
    warp_size: int = 32
    source: str = ""

    @property
    def unit(self) -> str:
        """What its maker calls a multiprocessor, in short."""
        return "SM" if self.target.startswith("sm_") else "CU"

    @property
    def cores(self) -> int | None:
        """Float32 lanes of the whole chip."""
        known = self.multiprocessors and self.multiprocessor
        return self.multiprocessors * self.multiprocessor.cores if known else None


def _card(
    name: str, arch: int, units: int, l2: float | None, memory: float, bandwidth: float, mhz: float | None, source: str
) -> Chip:
    """A card from what its data sheet says: MB of L2 (of 2^20 bytes), GB of memory, GB/s, MHz."""
    cache = None if l2 is None else int(l2 * 2**20)
    clock = None if mhz is None else mhz * 1e6
    kind = MULTIPROCESSORS[arch]
    return Chip(name, f"sm_{arch}", units, kind, cache, int(memory * 1e9), bandwidth * 1e9, clock, source=source)


DEFAULT = "H200"
CHIPS = {
    chip.name: chip
    for chip in (
        _card("H200", 90, 132, 60, 141, 4800, 1980, "NVIDIA H200 data sheet; SMs, L2 and clock as an H200's driver tells them"),
        _card("H100 SXM", 90, 132, 50, 80, 3350, 1980, "NVIDIA H100 data sheet and architecture white paper"),
        _card("H100 PCIe", 90, 114, 50, 80, 2000, 1755, "NVIDIA H100 data sheet and architecture white paper"),
        _card("B200", 100, 148, None, 180, 8000, None, "NVIDIA DGX B200 data sheet (an eighth of the system)"),
        _card("A100 80 GB", 80, 108, 40, 80, 2039, 1410, "NVIDIA A100 data sheet and architecture white paper"),
        _card("A100 40 GB", 80, 108, 40, 40, 1555, 1410, "NVIDIA A100 data sheet and architecture white paper"),
        _card("L40S", 89, 142, 96, 48, 864, 2520, "NVIDIA L40S data sheet; L2: Ada architecture white paper"),
        _card("L4", 89, 58, 48, 24, 300, 2040, "NVIDIA L4 data sheet; L2: as the driver tells it"),
        _card("T4", 75, 40, 4, 16, 320, 1590, "NVIDIA T4 data sheet and Turing white paper"),
        _card("RTX 3090", 86, 82, 6, 24, 936, 1695, "NVIDIA GA102 white paper"),
        _card("RTX 4090", 89, 128, 72, 24, 1008, 2520, "NVIDIA Ada architecture white paper"),
        _card("RTX 5090", 120, 170, 96, 32, 1792, 2407, "NVIDIA RTX Blackwell architecture white paper"),
        # How AMD's compute units hand out registers and places is not modelled here.
        Chip("MI300X", "gfx942", 304, None, None, 192 * 10**9, 5.3e12, 2.1e9, 64, "AMD Instinct MI300X data sheet"),
        Chip("MI355X", "gfx950", 256, None, None, 288 * 10**9, 8.0e12, 2.4e9, 64, "AMD Instinct MI355X data sheet"),
    )
}


def of_gpu(gpu: Gpu) -> Chip:
    """The attached GPU as its driver describes it; of an architecture that is not known here, without facts of its SMs."""
    kind = MULTIPROCESSORS.get(gpu.target.arch) if isinstance(gpu.target.arch, int) else None
    if kind and gpu.registers and gpu.threads_per_multiprocessor:
        warps = gpu.threads_per_multiprocessor // gpu.target.warp_size
        kind = replace(kind, registers=gpu.registers, warps=warps)
    bandwidth = 2.0 * gpu.memory_clock_hz * gpu.bus_bits / 8 if gpu.memory_clock_hz and gpu.bus_bits else None
    return Chip(
        gpu.name,
        gpu.target.name,
        gpu.multiprocessors,
        kind,
        gpu.l2_bytes,
        gpu.memory_bytes,
        bandwidth,
        gpu.clock_hz,
        gpu.target.warp_size,
        "as its driver tells; memory clock x bus width x 2",
    )
