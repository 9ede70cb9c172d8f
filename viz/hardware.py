"""Colours of the hardware's pictures: warps told apart, windows lit, and how bright a thread of a warp is."""

from __future__ import annotations

from .theme import LIGHT, PROGRAMS, Fill, Style

LIT = Fill("#F0E442", "#2B2900")  # Okabe and Ito's yellow, which has no other role: something runs here
WARPS = (PROGRAMS[0], PROGRAMS[1], PROGRAMS[2], Fill("#5B6472", "#FFFFFF"))


def warp_fill(warp: int) -> Fill:
    """The colour of a warp: neighbours differ."""
    return WARPS[warp % len(WARPS)]


def mixed(colour: str, other: str, share: float) -> str:
    """A colour with that share of another one in it; both as "#RRGGBB"."""
    first, second = (tuple(int(text[at : at + 2], 16) for at in (1, 3, 5)) for text in (colour, other))
    return "#" + "".join(f"{round(a + (b - a) * share):02X}" for a, b in zip(first, second, strict=True))


def dark_window(style: Style) -> str:
    """A window behind which nothing runs: night, in light and dark."""
    return "#2F3A4B" if style.text == LIGHT.text else "#1C2532"


def warp_scale(warps: int, shades: int, style: Style) -> list[list[float | str]]:
    """A colour scale for whole numbers warp * shades + shade, neighbours of one warp a shade apart."""
    count = max(warps * shades, 1)
    found: list[list[float | str]] = []
    for number in range(count):
        warp, shade = divmod(number, shades)
        colour = mixed(warp_fill(warp).colour, style.background, 0.45 * shade / max(shades - 1, 1))
        found += [[number / count, colour], [(number + 1) / count, colour]]
    return found


def ramp(colour: str, count: int, style: Style) -> list[list[float | str]]:
    """A colour scale from pale to strong in so many steps."""
    found: list[list[float | str]] = []
    for number in range(max(count, 1)):
        step = mixed(colour, style.background, 0.85 * (1 - number / max(count - 1, 1)))
        found += [[number / max(count, 1), step], [(number + 1) / max(count, 1), step]]
    return found
