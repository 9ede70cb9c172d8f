"""Which samples a result may hold in a file: columns that are written together, of lengths that belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

MOST_CARDS = 64

Columns = Mapping[str, Sequence[float]]
# Columns that go together, as `physics.swept`, `sustained.series` and `peers.judged` write them; of a load, NVML may lack any.
SWEEP = ("bytes", "seconds", "fit", "empty")
LOAD = ("time",)
TOLD = ("sm_clock", "power", "temperature", "held", "power held")
RATE = ("rate time", "rate")
PEERS = ("count", "speeds")


def problem(columns: Columns) -> str | None:
    """What does not fit together, in a few words; None where all does, as where there are no samples."""
    for names in (SWEEP, LOAD, RATE, PEERS):
        there = [name for name in (*names, *(TOLD if names is LOAD else ())) if name in columns]
        lacking = [name for name in names if name not in columns]
        if there and lacking:
            return f"{there[0]} is there, and {lacking[0]} is not"
    return _sweep(columns) or _over_time(columns, (*LOAD, *TOLD)) or _over_time(columns, RATE) or _peers(columns)


def _sweep(columns: Columns) -> str | None:
    """Times of copies over their bytes, two at least, all of them positive; a and b of the line, and an empty launch."""
    if "fit" not in columns:
        return None
    lengths = {name: len(columns[name]) for name in SWEEP}
    if lengths["bytes"] != lengths["seconds"] or lengths["bytes"] < 2:
        return f"bytes has {lengths['bytes']} numbers and seconds {lengths['seconds']}, not two or more of each"
    if (lengths["fit"], lengths["empty"]) != (2, 1):
        return f"fit has {lengths['fit']} numbers and empty {lengths['empty']}, not two and one"
    small = next((name for name in ("bytes", "seconds") if min(columns[name]) <= 0), None)
    if small or not columns["fit"][1]:
        return f"{small or 'the slope of fit'} is {min(columns[small]) if small else 0:g}, and no copy has that"
    return None


def _over_time(columns: Columns, names: Sequence[str]) -> str | None:
    """Samples at the moments in the first column, which go on from the start."""
    times = names[0]
    if times not in columns:
        return None
    moments = columns[times]
    uneven = next((name for name in names if len(columns.get(name, moments)) != len(moments)), None)
    if uneven:
        return f"{uneven} has {len(columns[uneven])} numbers, and {times} {len(moments)}"
    if any(later < earlier for earlier, later in pairwise(moments)) or (moments and moments[0] < 0):
        return f"{times} does not go on"
    return None


def _peers(columns: Columns) -> str | None:
    """A speed from every card to every card."""
    if "count" not in columns:
        return None
    counts, speeds = columns["count"], columns["speeds"]
    if len(counts) != 1 or counts[0] not in range(1, MOST_CARDS + 1):
        return f"count is {list(counts)[:3]}, not one whole number from 1 to {MOST_CARDS}"
    if len(speeds) != counts[0] ** 2 or min(speeds) < 0:
        return f"speeds has {len(speeds)} numbers, not one from 0 on for each of {counts[0]:.0f} × {counts[0]:.0f} pairs"
    return None
