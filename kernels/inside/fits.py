"""What would fit, where a target refuses a launch: the nearest launches that it takes, found by compiling them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..runtime.compile import verdict
from ..runtime.device import Target
from ..runtime.limits import MAX_LANES, legal_values
from ..runtime.request import Request

SECONDS = 8.0
MOST = 3


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
        if all(other != one.request for one in found) and verdict(other.launch(), target).launchable:
            found.append(Fit(change, other))
    return tuple(found)


def _neighbours(request: Request, target: Target) -> Iterator[tuple[str, Request]]:
    """First every value that is not legal at the nearest that is; then one value changed, by more and more."""
    for end in (-1, 0):
        yield from _changed(request, {name: legal_values(name, one, target)[end] for name, one in _values(request).items()})
    for factor in (2, 4, 8, 16):
        for name, value in _values(request).items():
            for other in (value // factor, value * factor):
                most = target.threads // target.warp_size if name == "num_warps" else MAX_LANES
                if 1 <= other <= most and (other < value or name == "num_warps" or value < 16):
                    yield from _changed(request, {name: other})
        stages = request.tiling.num_stages - factor + 1
        if stages >= 1:
            tiling = replace(request.tiling, num_stages=stages)
            yield f"num_stages = {stages}", replace(request, tiling=tiling)
        raised = {name: max(value, 16) for name, value in _values(request).items() if name.startswith("BLOCK")}
        yield from _changed(request, raised)
        halved = {name: max(value // factor, 16) for name, value in _values(request).items() if name.startswith("BLOCK")}
        yield from _changed(request, halved)


def _values(request: Request) -> dict[str, int]:
    blocks = {name: value for name, value in request.tiling.blocks.items() if name.startswith("BLOCK")}
    return {**blocks, "num_warps": request.tiling.num_warps}


def _changed(request: Request, values: dict[str, int]) -> Iterator[tuple[str, Request]]:
    """The request with these values, and what changes in words; nothing where nothing does."""
    now = _values(request)
    changes = {name: value for name, value in values.items() if value != now[name]}
    if not changes:
        return
    blocks = {name: value for name, value in changes.items() if name != "num_warps"}
    other = request.with_blocks(**blocks)
    warps = changes.get("num_warps", request.tiling.num_warps)
    words = ", ".join(f"{name} = {value:,}" for name, value in changes.items())
    yield words, replace(other, tiling=replace(other.tiling, num_warps=warps))
