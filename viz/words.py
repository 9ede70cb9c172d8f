"""Numbers and values as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf, isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernels.runtime.picture import Sample

UNDEFINED = "?"


def count(number: int) -> str:
    """A whole number with thousands separated."""
    return f"{number:,}"


def large(number: float) -> str:
    """A large count in words: "3.2 billion"."""
    for size, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if number >= size:
            return f"{number / size:.3g} {word}"
    return f"{number:,.0f}"


def bytes_text(number: float) -> str:
    """Bytes in the decimal unit that leaves one to three digits before the point."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(number) < 999.5 or unit == "TB":
            return f"{number:.0f} B" if unit == "B" else f"{number:.3g} {unit}"
        number /= 1000
    raise AssertionError


def seconds_text(seconds: float) -> str:
    """A duration in the unit that suits it."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.3g} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def seconds_texts(*seconds: float) -> list[str]:
    """Durations to be compared, all in the unit of the shortest where the longest has at most four digits in it."""
    shortest, longest = min(seconds), max(seconds)
    for unit, scale in (("µs", 1e6), ("ms", 1e3), ("s", 1.0)):
        if shortest * scale >= 0.1 and longest * scale < 10_000:
            return [f"{_digits(one * scale)} {unit}" for one in seconds]
    return [seconds_text(one) for one in seconds]


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def value_text(value: float, defined: bool = True, digits: int = 3) -> str:
    """A value with a few significant digits; `?` where nobody defined it."""
    if not defined:
        return UNDEFINED
    if isnan(value):
        return "NaN"
    if isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.{digits}g}".replace("-", "−").replace("e+0", "e").replace("e−0", "e−")


def cell_text(value: float, defined: bool) -> str:
    """A value short enough for a cell: one decimal, or two digits where it is large."""
    if not defined or isnan(value) or isinf(value):
        return value_text(value, defined)
    return f"{value:.1f}".replace("-0.0", "0.0").replace("-", "−") if abs(value) < 99.95 else value_text(value, True, 2)


def sample_text(sample: Sample, most: int = 8) -> str:
    """A variable as a person would write it: `6`, `[6 7 8]`, `[0 1 2 3 … 1022 1023]`; a pointer as `x + [6 7 8]`."""
    pairs = zip(sample.values.tolist(), sample.defined.tolist(), strict=True)
    texts = [_lane_text(sample, value, known) for value, known in pairs]
    text = f"[{_shortened(texts, sample.shape, most)}]" if sample.shape else texts[0].replace("-", "−")
    return f"{sample.name} + {text}" if sample.argument else text


def _lane_text(sample: Sample, value: float, known: bool) -> str:
    if sample.dtype == "int1":
        return "1" if value else "0"
    if sample.dtype[0] not in "fb" or sample.dtype == "bool":
        return str(int(value))
    return cell_text(value, known) if sample.shape else value_text(value, known, 4)


def _shortened(texts: Sequence[str], shape: tuple[int, ...], most: int) -> str:
    lanes = 1
    for length in shape:
        lanes *= length
    if lanes <= most and lanes == len(texts):
        return " ".join(texts)
    wide = max(map(len, texts)) > 7
    head, tail = texts[: 2 if wide else most // 2], texts[-1 if wide else -2 :]
    return " ".join((*head, "…", *tail))


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as "3 × 4"."""
    return " × ".join(f"{length:,}" for length in shape)


def grid_text(grid: tuple[int, ...]) -> str:
    """A grid as it is written in Python: "(3,)" or "(4, 5)"; trailing ones left out."""
    used = max((axis for axis, count in enumerate(grid) if count != 1), default=0) + 1
    return f"({', '.join(f'{count:,}' for count in grid[:used])}{',' if used == 1 else ''})"
