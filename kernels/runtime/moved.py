"""Bytes that a launch moves, from the accesses of all its programs: what DRAM sees where the cache is perfect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from ..launch import ITEMSIZE, Launch
from . import spans
from .affine import Box, Steps, Whole

Footprints = dict[tuple[str, str], list[np.ndarray]]


def moved(launch: Launch, boxes: tuple[Box, ...]) -> tuple[int, int] | None:
    """Bytes read and written, each distinct element of a storage once; None where that cannot be told exactly.

    An element is read from DRAM where a program loads it before it stores it itself; which of two programs comes first is open.
    """
    storages = {name: tensor.storage or name for name, tensor in launch.tensors.items()}
    sizes = {storages[name]: ITEMSIZE[tensor.dtype] for name, tensor in launch.tensors.items()}
    found: Footprints = defaultdict(list)
    try:
        for box in boxes:
            for key, elements in _footprints(box, storages).items():
                found[key] += elements
    except (spans.TooManySpansError, _UntoldError):
        return None
    total = {key: spans.size(spans.union(elements)) * sizes[key[1]] for key, elements in found.items()}
    return tuple(sum(size for (kind, _), size in total.items() if kind == asked) for asked in ("load", "store"))


def counted(launch: Launch, whole: Whole) -> tuple[int, int] | None:
    """The bytes of a launch that was looked at; None where not every program is accounted for."""
    return moved(launch, whole.boxes) if whole.exact else None


class _UntoldError(Exception):
    """A program may load what it stored, but not the same in every program."""


def _footprints(box: Box, storages: Mapping[str, str]) -> Footprints:
    """The elements that the programs of a box load before they store them, and those that they store, by storage."""
    apart: dict[tuple[str, str, Steps], list[np.ndarray]] = defaultdict(list)
    stored: dict[str, dict[Steps, np.ndarray]] = defaultdict(dict)
    for site, steps in zip(box.sites, box.steps, strict=True):
        storage, elements = storages[site.argument], spans.of(site.offsets)
        if not len(elements):
            continue
        if site.kind == "load":
            elements = _not_stored(elements, steps, stored[storage], box)
        else:
            before = stored[storage].get(steps)
            stored[storage][steps] = elements if before is None else spans.union((before, elements))
        apart[site.kind, storage, steps].append(elements)
    found: Footprints = defaultdict(list)
    for (kind, storage, steps), elements in apart.items():
        found[kind, storage].append(_of_all(spans.union(elements), steps, box))
    return found


def _not_stored(elements: np.ndarray, steps: Steps, stored: Mapping[Steps, np.ndarray], box: Box) -> np.ndarray:
    for other, own in stored.items():
        if other == steps:
            elements = spans.without(elements, own)
        elif spans.meet(_of_all(elements, steps, box), _of_all(own, other, box)):
            raise _UntoldError
    return elements


def _of_all(elements: np.ndarray, steps: Steps, box: Box) -> np.ndarray:
    """The elements of all programs of a box; the smallest step first, where copies join soonest."""
    for step, count in sorted(zip(steps, box.counts, strict=True), key=lambda pair: abs(pair[0])):
        elements = spans.repeated(elements, step, count)
    return elements
