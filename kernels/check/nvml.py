"""One card through NVML (the package nvidia-ml-py, module pynvml). What card, driver or permissions do not tell is None."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# One direction of one PCIe lane, GB/s: transfer rate times line code (PCI Express base specifications 1.0 to 6.0).
LANE = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938, 6: 7.563}
# One direction of one NVLink by compute capability, GB/s: NVIDIA's data sheets of P100, V100, A100, H100 and B200. (NVML's
# number of the link's version is another in newer drivers.)
NVLINK = {60: 20.0, 70: 25.0, 80: 25.0, 90: 25.0, 100: 50.0, 103: 50.0}
MOST_LINKS = 18


@dataclass(frozen=True)
class Problem:
    """Why NVML does not open, in a few words; `code` is what nvmlInit returned, None where it was never called."""

    said: str
    code: int | None = None
    installed: bool = True


def opened() -> tuple[Any, Problem | None]:
    """NVML's module, ready, and None; or None and why not."""
    try:
        import pynvml
    except ImportError:
        return None, Problem("the package nvidia-ml-py is not installed", installed=False)
    try:
        pynvml.nvmlInit()
        return pynvml, None
    except Exception as error:  # a missing library, a driver of another version: both end as NVMLError of some kind
        return None, Problem(str(error) or type(error).__name__, getattr(error, "value", None))


@dataclass(frozen=True)
class Card:
    """NVML's handle of one card, with answers that are None where there are none."""

    module: Any
    handle: Any

    def ask(self, function: str, *arguments: Any) -> Any:
        """What that function of NVML says of this card; None where it says nothing."""
        with contextlib.suppress(Exception):
            constants = [getattr(self.module, one) if isinstance(one, str) else one for one in arguments]
            return getattr(self.module, function)(self.handle, *constants)
        return None

    def pci(self) -> str | None:
        """The card's place on the bus, "0000:17:00.0"."""
        found = getattr(self.ask("nvmlDeviceGetPciInfo"), "busId", None)
        return found.decode() if isinstance(found, bytes) else found

    def mig(self) -> bool | None:
        """Whether the card is cut into slices."""
        found = self.ask("nvmlDeviceGetMigMode")
        return None if found is None else bool(found[0])

    def memory(self) -> Mapping[str, int] | None:
        """Bytes of memory: total and used, without what the driver reserves where NVML tells it apart."""
        found = self.ask("nvmlDeviceGetMemoryInfo", "nvmlMemory_v2") or self.ask("nvmlDeviceGetMemoryInfo")
        return None if found is None else {"total": int(found.total), "used": int(found.used)}

    def processes(self) -> tuple[int, ...] | None:
        """The processes that compute on it, by number; a container sees its own numbers or none."""
        found = self.ask("nvmlDeviceGetComputeRunningProcesses")
        return None if found is None else tuple(one.pid for one in found)

    def uncorrected(self) -> int | None:
        """Memory errors that could not be corrected, since the driver was loaded."""
        return self.ask("nvmlDeviceGetTotalEccErrors", "NVML_MEMORY_ERROR_TYPE_UNCORRECTED", "NVML_VOLATILE_ECC")

    def corrected(self) -> int | None:
        """Memory errors that were corrected, since the driver was loaded."""
        return self.ask("nvmlDeviceGetTotalEccErrors", "NVML_MEMORY_ERROR_TYPE_CORRECTED", "NVML_VOLATILE_ECC")

    def replays(self) -> int | None:
        """Packets that were sent again over PCIe."""
        return self.ask("nvmlDeviceGetPcieReplayCounter")

    def link(self) -> tuple[int, int] | None:
        """The PCIe link as it is now: generation and lanes. An idle card goes down to generation 1."""
        found = self.ask("nvmlDeviceGetCurrPcieLinkGeneration"), self.ask("nvmlDeviceGetCurrPcieLinkWidth")
        return None if not all(found) else (int(found[0]), int(found[1]))

    def best_link(self) -> tuple[int, int] | None:
        """The best PCIe link that card and slot allow together."""
        found = self.ask("nvmlDeviceGetMaxPcieLinkGeneration"), self.ask("nvmlDeviceGetMaxPcieLinkWidth")
        return None if not all(found) else (int(found[0]), int(found[1]))

    def power_limits(self) -> tuple[float, float] | None:
        """Watts: the limit in force, and the card's default."""
        found = self.ask("nvmlDeviceGetEnforcedPowerLimit"), self.ask("nvmlDeviceGetPowerManagementDefaultLimit")
        return None if not all(found) else (found[0] / 1000, found[1] / 1000)

    def clocks(self) -> tuple[int, int] | None:
        """MHz: the multiprocessors' clock that applications are given, and the most there is."""
        found = (
            self.ask("nvmlDeviceGetApplicationsClock", "NVML_CLOCK_SM"),
            self.ask("nvmlDeviceGetMaxClockInfo", "NVML_CLOCK_SM"),
        )
        return None if not all(found) else (int(found[0]), int(found[1]))

    def margin(self) -> int | None:
        """Degrees Celsius up to where the card slows itself down."""
        told = self.ask("nvmlDeviceGetMarginTemperature")
        if isinstance(told, int):
            return told
        limit = self.ask("nvmlDeviceGetTemperatureThreshold", "NVML_TEMPERATURE_THRESHOLD_SLOWDOWN")
        now = self.ask("nvmlDeviceGetTemperature", "NVML_TEMPERATURE_GPU")
        return None if limit is None or now is None else int(limit) - int(now)

    def nvlinks(self) -> int:
        """How many NVLinks are up."""
        return sum(bool(self.ask("nvmlDeviceGetNvLinkState", link)) for link in range(MOST_LINKS))


def card(module: Any, uuid: str | None, index: int) -> Card | None:
    """The card of that UUID; by index, which is NVML's own order, where it has none."""
    with contextlib.suppress(Exception):
        handle = module.nvmlDeviceGetHandleByUUID(uuid) if uuid else module.nvmlDeviceGetHandleByIndex(index)
        return Card(module, handle)
    return None
