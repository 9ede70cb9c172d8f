"""What may be launched: the hardware's limits, in words, and the nearest values that are legal."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from ..launch import Launch
from ..operator import grid_refusal
from ..tilings import MAX_LANES, nearest_powers
from .device import Target


def legal_values(name: str, value: int, target: Target) -> tuple[int, ...]:
    """The nearest values of a block size or of num_warps that Triton and the target take."""
    return nearest_powers(value, target.threads // target.warp_size if name == "num_warps" else MAX_LANES)


def illegal(blocks: Mapping[str, int], num_warps: int, target: Target) -> dict[str, tuple[int, ...]]:
    """The lengths of blocks and num_warps that Triton or the target does not take, each with the nearest that it does."""
    given = {**blocks, "num_warps": num_warps}
    nearest = {name: legal_values(name, value, target) for name, value in given.items()}
    return {name: nearest[name] for name, value in given.items() if value not in nearest[name]}


def lanes_held(launch: Launch) -> int:
    """The most lanes that one tensor of a program has: a block, or a tile of two; 0 where a block is below 1."""
    blocks = sorted(launch.constants[name] for name in launch.blocks if name in launch.constants)
    return prod(blocks[-2:]) if min(blocks, default=1) > 0 else 0


def traceable(launch: Launch) -> bool:
    """Whether a program of the launch can be run at all: there is one, its blocks neither empty nor too large."""
    return launch.programs > 0 and 0 < lanes_held(launch) <= MAX_LANES


def refusal(launch: Launch, target: Target) -> str | None:
    """Why the hardware would refuse this launch, whatever the kernel; None where it would not."""
    for axis, programs, most in zip("xyz", launch.grid, target.grid, strict=True):
        if programs > most:
            hint = "; the axis x takes more" if axis != "x" else ""
            return f"{target.name} takes {most:,} programs along {axis}, and the grid has {programs:,}{hint}."
    if reason := grid_refusal(launch.grid):
        return reason
    threads = launch.num_warps * target.warp_size
    if threads > target.threads:
        return (
            f"{launch.num_warps} warps of {target.warp_size} are {threads:,} threads a program, "
            f"and {target.name} takes {target.threads:,}."
        )
    return None


def shared_refusal(shared_bytes: int, target: Target) -> str | None:
    """Why a program with that much shared memory cannot start; None where it can, or where the limit is not known."""
    if target.shared_bytes is None or shared_bytes <= target.shared_bytes:
        return None
    return (
        f"A program needs {shared_bytes:,} bytes of shared memory, and {target.name} gives it {target.shared_bytes:,}: "
        "smaller tiles or fewer stages fit."
    )
