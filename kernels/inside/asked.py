"""Sectors that a whole launch asks for: the accesses of all its programs, by a trace, in the layouts of the compiled kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from ..launch import ITEMSIZE, Launch
from ..runtime.affine import Box, whole
from ..runtime.request import Request
from ..runtime.sites import Site
from .held import Held
from .layouts import understood
from .sectors import LINE, Touched, standing_for, touched

SECONDS = 20.0
NOT_UNDERSTOOD = "a tensor lies in a layout that is not understood here"


@dataclass(frozen=True)
class Asked:
    """What all loads and all stores of a launch ask for; None with the reason in `why_not`.

    `addresses` are left out; `needed` and `lines` are sums over accesses, since one program does not know what another fetched.
    """

    load: Touched | None = None
    store: Touched | None = None
    why_not: str = ""


def asked(request: Request, tensors: Sequence[tuple[Held, int]], seconds: float = SECONDS) -> Asked:
    """The sums over all programs; tensors come with the width of their instructions. In the worker of whole traces."""
    if not all(understood(one.layout) for one, _ in tensors):
        return Asked(why_not=NOT_UNDERSTOOD)
    launch = request.launch()
    found = whole(launch, seed=request.seed, seconds=seconds)
    if not found.exact:
        return Asked(why_not=found.words)
    total = {kind: np.zeros(5, np.int64) for kind in ("load", "store")}
    known: dict[tuple[bytes, int], tuple[int, ...]] = {}
    for box in found.boxes:
        for site, steps in zip(box.sites, box.steps, strict=True):
            total[site.kind] += _of_site(launch, site, steps, box, tensors, known)
    return Asked(**{kind: _sum(amounts) for kind, amounts in total.items()})


def _sum(amounts: np.ndarray) -> Touched:
    return Touched(0, np.empty((0, 0, 0), np.int64), *(int(amount) for amount in amounts))


def _of_site(
    launch: Launch,
    site: Site,
    steps: tuple[int, ...],
    box: Box,
    tensors: Sequence[tuple[Held, int]],
    known: dict[tuple[bytes, int], tuple[int, ...]],
) -> np.ndarray:
    """What one access asks for in all programs of a box: sectors depend only on where in a line it starts."""
    held = standing_for(site.kind, site.argument, site.line, site.lanes.shape, [one for one, _ in tensors])
    total = np.zeros(5, np.int64)
    if held is None:
        return total
    tensor, width = launch.tensors[site.argument], next(width for one, width in tensors if one is held)
    starts = residues(site.first, steps, box.counts, LINE // ITEMSIZE[tensor.dtype])
    for start in np.flatnonzero(starts).tolist():
        if (site.form, start) not in known:
            one = touched(site.lanes + start, site.lanes >= 0, tensor, held, width)
            known[site.form, start] = (one.asked, one.needed, one.requests, one.lines, one.useful)
        total += starts[start] * np.array(known[site.form, start], np.int64)
    return total


def residues(first: int, steps: Sequence[int], counts: Sequence[int], modulus: int) -> np.ndarray:
    """How many of the numbers `first + i * step + j * step + ...`, each i below its count, leave each rest."""
    found = np.zeros(modulus, np.int64)
    found[first % modulus] = 1
    for step, count in zip(steps, counts, strict=True):
        turns = modulus // gcd(step, modulus)
        often, more = divmod(count, turns)
        found = sum((often + (turn < more)) * np.roll(found, turn * step) for turn in range(min(turns, count)))
    return found
