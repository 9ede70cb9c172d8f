"""Copies between the host's pinned memory and the GPU, against the PCIe link as it is meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ..measure.timing import batch_seconds
from . import judge, nvml
from .values import NOT_MEASURED, PASS, Result
from .worker import Context

if TYPE_CHECKING:
    import torch

STAGE = "speed"
BYTES = 2**28
TRIES, COPIES = 3, 5
STEP = (
    "See the link's generation and width, whether the card shares a switch, and on which processor this process runs (numactl)."
)


def measured(context: Context) -> Iterator[Result]:
    """Both directions; of a few tries the best, because a copy shares the host's memory with everybody."""
    import torch

    gpu = context.gpu
    module, _ = nvml.opened()
    card = nvml.card(module, gpu.uuid, gpu.index) if module and gpu.target.backend == "cuda" else None
    pattern = torch.randint(0, 256, (BYTES,), dtype=torch.uint8, device="cuda")
    host, device = torch.empty(BYTES, dtype=torch.uint8, pin_memory=True), torch.empty_like(pattern)
    host.copy_(pattern)
    to_gpu, links = _one_way(device, host, card)
    same = torch.equal(device, pattern)
    host.zero_()
    to_host, more = _one_way(host, device, card)
    same = same and torch.equal(host.to("cuda"), pattern)
    links, speeds = links + more, {"host to gpu": to_gpu, "gpu to host": to_host}
    link = max((one for one in links if one), default=None)
    yield from judged(speeds, link, card.best_link() if card else None, same=same)


def _one_way(target: torch.Tensor, source: torch.Tensor, card: nvml.Card | None) -> tuple[float, list[tuple[int, int] | None]]:
    """Bytes a second of the best try, and the link as it was during each."""
    import torch

    def copy() -> None:
        target.copy_(source, non_blocking=True)

    batch_seconds(copy, 2)
    best, links = 0.0, []
    for _ in range(TRIES):
        for _ in range(COPIES):
            copy()
        time.sleep(0.002)  # until the copies are under way
        links.append(card.link() if card else None)
        torch.cuda.synchronize()
        best = max(best, BYTES / batch_seconds(copy, COPIES))
    return best, links


def judged(
    speeds: dict[str, float], link: tuple[int, int] | None, best: tuple[int, int] | None, *, same: bool = True
) -> Iterator[Result]:
    """The link, and both directions against it; a copy that changes bytes is the worst there is."""
    yield judge.link(Result("pcie", "PCIe link", STAGE, PASS, source="NVML, read during copies", origin="read"), link, best)
    limit = judge.link_limit(link)
    for name, title in (("host to gpu", "Host to GPU"), ("gpu to host", "GPU to host")):
        here = Result(name, f"{title}, pinned", STAGE, PASS, source=judge.LINK_SOURCE, unit="GB/s", step=STEP)
        what = f"PCIe {link[0]} x{link[1]}" if link else "the link"
        found = judge.against(here, speeds[name] / 1e9, limit, judge.LINK_SHARES, judge.MOST_LINK, what)
        if limit and found.value > judge.MOST_LINK * limit:
            said = f"{found.value:,.4g} GB/s, more than PCIe {link[0]} x{link[1]} carries: another link joins host and GPU"
            found = replace(found, status=NOT_MEASURED, said=said, step="", threshold=None)
        yield (
            found
            if same
            else replace(
                found, status="FAIL", said="the copy is not equal to its source", step="Seat the card anew; have it replaced."
            )
        )
