"""What would fit, where a target refuses a launch: the nearest launches that it takes, found by compiling them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from ..runtime.compile import verdict
from ..runtime.device import Target
from ..runtime.limits import MAX_LANES, legal_values
from ..runtime.request import Request

SECONDS = 8.0
MOST = 3
# Elements of one tile for each thread. Past it kernels spill and compiling takes long, and nobody should be offered that (2
# cores, Triton 3.9: a float32 matmul of 256 by 256 for 8 warps of sm_120 25 s; vector add of 2^20 for 4 warps over 60 s).
PER_THREAD = 128
HEAVY = 2 * PER_THREAD  # more than that is not launched: every operator's kernels may take over 20 s to compile


@dataclass(frozen=True)
class Fit:
    """A launch that the target takes: what to change, in words and as a request."""

    change: str
    request: Request


def fits(request: Request, target: Target) -> tuple[Fit, ...]:
    """Up to three launches that the target takes, the nearest first; asks the compiler for at most eight seconds."""
    found: list[Fit] = []
    ends = time.monotonic() + SECONDS
    for change, other in _neighbours(request, target):
        if len(found) == MOST or time.monotonic() > ends:
            break
        known = other == request or any(other == one.request for one in found)
        if not known and elements(other, target) <= PER_THREAD and verdict(other.launch(), target).launchable:
            found.append(Fit(change, other))
    return tuple(found)


def extents(request: Request) -> dict[str, int]:
    """The lengths of the request's blocks by name."""
    return {name: request.tiling[name] for name in request.description.extents}


def elements(request: Request, target: Target) -> float:
    """Elements of the largest tile for each thread: of one block length, or of the two longest."""
    blocks = sorted(extents(request).values())
    return prod(blocks[-2:]) / (max(request.tiling.num_warps, 1) * target.warp_size)


def _neighbours(request: Request, target: Target) -> Iterator[tuple[str, Request]]:
    """First every value that is not legal at the nearest that is, and what few enough elements a thread leave of that; then
    the launch rule's own choice; then one more value changed, by more and more, or all blocks.
    """
    for end in (-1, 0):
        legal = {name: legal_values(name, one, target)[end] for name, one in _values(request).items()}
        yield from _changed(request, _values(lighter(_with(request, legal), target)))
    rule = request.description.tiling(request.problem)
    yield from _changed(request, _values(replace(request, tiling=rule)))
    base = {name: legal_values(name, one, target)[-1] for name, one in _values(request).items()}
    blocks = {name: value for name, value in base.items() if name != "num_warps"}
    for factor in (2, 4, 8, 16):
        for name, value in base.items():
            most = target.threads // target.warp_size if name == "num_warps" else MAX_LANES
            others = [value // factor, *([value * factor] if name == "num_warps" or value < 16 else [])]
            for other in others:
                if 1 <= other <= most:
                    yield from _changed(request, {**base, name: other})
        stages = request.tiling.num_stages - factor + 1
        if stages >= 1:
            yield f"num_stages = {stages}", replace(request, tiling=replace(request.tiling, num_stages=stages))
        yield from _changed(request, {**base, **{name: max(value, 16) for name, value in blocks.items()}})
        yield from _changed(request, {**base, **{name: max(value // factor, 16) for name, value in blocks.items()}})


def lighter(request: Request, target: Target) -> Request:
    """The request with its longest block halved until its threads have few enough elements."""
    while elements(request, target) > PER_THREAD:
        blocks = extents(request)
        longest = max(blocks, key=lambda name: blocks[name])
        request = request.with_blocks(**{longest: blocks[longest] // 2})
    return request


def _values(request: Request) -> dict[str, int]:
    blocks = extents(request)
    return {**blocks, "num_warps": request.tiling.num_warps}


def _with(request: Request, values: dict[str, int]) -> Request:
    other = request.with_blocks(**{name: value for name, value in values.items() if name != "num_warps"})
    return replace(other, tiling=replace(other.tiling, num_warps=values["num_warps"]))


def _changed(request: Request, values: dict[str, int]) -> Iterator[tuple[str, Request]]:
    """The request with these values, and what changes in words; nothing where nothing does."""
    now = _values(request)
    changes = {name: value for name, value in values.items() if value != now[name]}
    if changes:
        yield ", ".join(f"{name} = {value:,}" for name, value in changes.items()), _with(request, values)
