"""The checks that run in processes of their own, in order: where each is, how long it may take, what it builds on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One check: its function, "module:name" of this package, which yields results; `seconds` after which it has hung.

    `needs` names checks of the same card (of any card, where all are checked together) that have to be right before it means
    anything; `alone`: not while another card does the same, because they share what is measured; `quick`: part of the
    ten-second check.
    """

    name: str
    title: str
    stage: str
    function: str
    seconds: float
    needs: tuple[str, ...] = ()
    quick: bool = False
    alone: bool = False


START = 150.0  # a first import of torch from a cold disk, and a CUDA context

DEVICE = (
    Check("torch loads", "torch sees the GPU", "bring-up", "bring_up:torch_loads", START, quick=True),
    Check("architecture", "torch covers the GPU", "bring-up", "bring_up:covered_by_torch", START, ("torch loads",), quick=True),
    Check("triton loads", "Triton loads", "bring-up", "bring_up:triton_loads", START, ("torch loads",), quick=True),
    Check("compile", "Compile to PTX and cubin", "bring-up", "bring_up:compiles", 120, ("triton loads",), quick=True),
    Check("load", "Load into the driver", "bring-up", "bring_up:loads", 60, ("cubin",), quick=True),
    Check("launch", "Launch and verify", "bring-up", "bring_up:launches", 60, ("triton loads",), quick=True),
    Check("ragged", "Ragged vector add", "truth", "truth:ragged", 60, ("launch",), quick=True),
    Check("launch time", "Empty launch", "speed", "physics:launch_time", 30, ("launch",), quick=True),
    Check("dram", "DRAM copy and add", "speed", "physics:dram", 60, ("launch",), quick=True),
    Check("sweep", "Copies of many sizes: T = a + V / b", "speed", "physics:sweep", 60, ("launch",)),
    Check("matmul", "Matmul, cuBLAS and Triton", "speed", "physics:matmul", 90, ("launch",)),
    Check("host copies", "Host copies, PCIe link", "speed", "host_copies:measured", 60, ("torch loads",), alone=True),
    Check("operators", "Every operator and dtype against float64", "truth", "truth:operators", 240, ("launch",)),
    Check("repeats", "20 repeats, bit for bit", "truth", "truth:repeats", 60, ("launch",)),
    Check("thread", "Launch from a second thread", "truth", "truth:second_thread", 60, ("launch",)),
    Check(
        "sustained", "15 seconds of matmul: speed, clock, power, heat, errors", "sustained", "sustained:load", 90, ("launch",)
    ),
)
JOINT = (
    Check("last gpu", "Launch on the last GPU", "several GPUs", "peers:last_gpu", START, ("launch",), quick=True),
    Check("peers", "Peer copies", "several GPUs", "peers:copies", START, ("torch loads",)),
)
WITHOUT_GPU = (Check("cross compile", "Compile for another GPU", "bring-up", "bring_up:cross_compiles", START, quick=True),)
INTERPRETED = (Check("interpreter", "Operators in the interpreter", "truth", "truth:interpreted", 240),)


def device_checks(quick: bool) -> tuple[Check, ...]:
    """The checks of every card."""
    return tuple(check for check in DEVICE if check.quick or not quick)


def joint_checks(quick: bool) -> tuple[Check, ...]:
    """The checks of all cards together."""
    return tuple(check for check in JOINT if check.quick or not quick)
