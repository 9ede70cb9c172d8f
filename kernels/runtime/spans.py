"""Sets of elements as spans, and the sums of elements that all programs of a launch touch.

A set is an int64 array of (start, end) rows: ascending, apart from each other, ends excluded.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

MOST = 2**21


class TooManySpansError(Exception):
    """A set lies in more than two million pieces."""


def of(elements: np.ndarray) -> np.ndarray:
    """The set of these elements, in any order and any number of times."""
    ordered = np.unique(elements)
    if not ordered.size:
        return np.empty((0, 2), np.int64)
    ends = np.flatnonzero(np.diff(ordered) != 1)
    starts = ordered[np.concatenate(([0], ends + 1))]
    return np.stack((starts, ordered[np.concatenate((ends, [ordered.size - 1]))] + 1), axis=1)


def union(sets: Iterable[np.ndarray]) -> np.ndarray:
    """What is in any of the sets."""
    spans = np.concatenate([np.empty((0, 2), np.int64), *sets])
    if not len(spans):
        return spans
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    reached = np.maximum.accumulate(spans[:, 1])
    new = np.concatenate(([True], spans[1:, 0] > reached[:-1]))
    ends = reached[np.concatenate((np.flatnonzero(new)[1:] - 1, [len(spans) - 1]))]
    return np.stack((spans[new, 0], ends), axis=1)


def repeated(spans: np.ndarray, step: int, count: int) -> np.ndarray:
    """The set and its copies, each a step further: `count` in all. Raises TooManySpansError.

    Doubles what it has, so that 2^30 copies which join take 30 unions.
    """
    done = 1
    while done < count and step:
        more = min(done, count - done)
        spans = union((spans, spans + step * more))
        done += more
        if len(spans) > MOST:
            raise TooManySpansError
    return spans


def without(spans: np.ndarray, others: np.ndarray) -> np.ndarray:
    """What is in the first set and not in the second."""
    if not len(spans) or not len(others):
        return spans
    edges = np.unique(np.concatenate((spans.reshape(-1), others.reshape(-1))))
    kept = _covers(spans, edges[:-1]) & ~_covers(others, edges[:-1])
    return union((np.stack((edges[:-1], edges[1:]), axis=1)[kept],))


def _covers(spans: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Whether each of the places lies in the set."""
    at = np.searchsorted(spans[:, 0], places, side="right") - 1
    return (at >= 0) & (places < spans[at, 1])


def meet(spans: np.ndarray, others: np.ndarray) -> bool:
    """Whether the sets have an element in common."""
    return len(without(spans, others)) != len(spans) or size(without(spans, others)) != size(spans)


def size(spans: np.ndarray) -> int:
    """How many elements are in the set."""
    return int((spans[:, 1] - spans[:, 0]).sum())
