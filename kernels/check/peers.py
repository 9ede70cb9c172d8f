"""All cards in one process: a launch on the last one, and copies from each to each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..measure.timing import batch_seconds
from ..runtime.device import attached
from . import judge, nvml
from .failures import known
from .truth import RAGGED, ragged_add
from .values import FAIL, NOT_MEASURED, PASS, Result, worst
from .worker import Context

STAGE = "several GPUs"
BYTES = 2**28
TRIES, COPIES = 3, 5


def last_gpu(context: Context) -> Iterator[Result]:
    """A launch on the last card while the first is current, as a careless program does, through the guard that is right."""
    import torch

    from .probes import add_kernel

    last = torch.cuda.device_count() - 1
    with torch.cuda.device(last):
        found = ragged_add(add_kernel, RAGGED, f"cuda:{last}")
        torch.cuda.synchronize()
    step = known("tensor-elsewhere").fix if found.status == FAIL else ""
    yield replace(found, check="last gpu", title=f"Launch on the last GPU ({last})", stage=STAGE, step=step)


def copies(context: Context) -> Iterator[Result]:
    """Every pair in both directions: whether the cards reach each other, the speed, and that bytes arrive as they left."""
    import torch

    count = torch.cuda.device_count()
    speeds, wrong, apart = [], [], []
    for source in range(count):
        for target in range(count):
            if source == target:
                speeds.append(0.0)
                continue
            if not torch.cuda.can_device_access_peer(target, source):
                apart.append((source, target))
            speed, same = one_copy(source, target)
            speeds.append(speed)
            if not same:
                wrong.append((source, target))
    yield judged(count, speeds, wrong, apart, nvlink_limit())


def one_copy(source: int, target: int) -> tuple[float, bool]:
    """Bytes a second from card to card, the best of a few tries, and whether the copy is equal."""
    import torch

    there = torch.randint(0, 256, (BYTES,), dtype=torch.uint8, device=f"cuda:{source}")
    here = torch.zeros(BYTES, dtype=torch.uint8, device=f"cuda:{target}")
    torch.cuda.synchronize(source)
    with torch.cuda.device(target):
        torch.cuda.synchronize()
        seconds = min(batch_seconds(lambda: here.copy_(there, non_blocking=True), COPIES) for _ in range(TRIES))
    same = int(there.sum(dtype=torch.int64)) == int(here.sum(dtype=torch.int64)) and torch.equal(
        there[:4096].cpu(), here[:4096].cpu()
    )
    return BYTES / seconds, same


def nvlink_limit() -> float | None:
    """GB/s that one card's NVLinks carry together in one direction, as NVML tells of the first card."""
    module, _ = nvml.opened()
    gpus = attached()
    card = nvml.card(module, gpus[0].uuid, gpus[0].index) if module and gpus else None
    rate = nvml.NVLINK.get(gpus[0].target.arch) if card else None
    return card.nvlinks() * rate or None if rate else None


def judged(
    count: int, speeds: list[float], wrong: list[tuple[int, int]], apart: list[tuple[int, int]], limit: float | None
) -> Result:
    """The slowest pair against the links, and against the fastest pair."""
    here = Result(
        "peers", "Peer copies", STAGE, PASS, unit="GB/s", source="NVLinks up, by NVML, x 20-50 GB/s each, data sheets"
    )
    matrix = {"count": (float(count),), "speeds": tuple(speed / 1e9 for speed in speeds)}
    pairs = {
        (place // count, place % count): speed / 1e9 for place, speed in enumerate(speeds) if place // count != place % count
    }
    slowest, best = min(pairs.values()), max(pairs.values())
    here = replace(here, series=matrix, step="See nvidia-smi topo -m and nvlink --status: a link may be down, or ACS be on.")
    if wrong:
        return replace(
            here, status=FAIL, said=f"bytes changed from GPU {wrong[0][0]} to GPU {wrong[0][1]}", step=known("ecc").fix
        )
    found = judge.against(here, slowest, limit, judge.NVLINK_SHARES, judge.MOST_LINK, "the NVLinks of a card")
    if apart:
        said = f"{slowest:,.4g} GB/s at least; {len(apart)} pairs go through the host's memory"
        found = replace(found, status=NOT_MEASURED, said=said, limit="", threshold=None)
    behind = 1 - slowest / best
    if behind > 0.10 and found.status in (PASS, NOT_MEASURED) and not apart:
        pair = min(pairs, key=pairs.__getitem__)
        said = f"{found.said}; GPU {pair[0]} to GPU {pair[1]} is {behind:.0%} behind the best pair"
        found = replace(found, status=worst((found.status, "WARN")), said=said, step=here.step)
    return found
