"""The tab that shows which tiles of a matmul run together, and what strips of a and b they need."""

from __future__ import annotations

import streamlit as st

from kernels.inside.analysis import Analysis
from kernels.inside.facts import Chip
from kernels.inside.footprint import Footprint, footprint, order_name, why_not, with_group
from kernels.inside.recordings import recorded
from kernels.runtime.request import Request
from pages._kept import kept
from pages._parts import chart, fact, facts, say, title
from viz import hardware_footprint
from viz.theme import Style
from viz.words import bytes_text, seconds_text

from .headline import fits, waves
from .state import Shown

GROUP = 8
MOST_TILES = 2**16


def draw(shown: Shown, chip: Chip, analysis: Analysis, style: Style) -> None:
    """The waves of this order, and the bytes that every wave needs, against the other order."""
    request = shown.request.without_change()
    made = waves(shown, chip, fits(chip, analysis))
    programs = request.launch().programs
    if made is None or not made.at_once or not programs or programs > MOST_TILES:
        most = f"; at most {MOST_TILES:,} tiles are drawn" if programs > MOST_TILES else ""
        say(f"Not shown: how many programs run at once must be known, and there must be tiles{most}.")
        return
    own = request.tiling["GROUP_M"]
    groups = sorted({own, 1, own if own > 1 else GROUP})
    orders = {group: _footprint(f"{request!r} {group} {made.at_once}", request, group, made.at_once) for group in groups}
    one = orders[own]
    left, right = st.columns([1.1, 1], gap="medium")
    with left:
        title("Tiles that run at one time", f"{order_name(own)}; yellow: running; blue: the strips they need")
        chart(hardware_footprint.footprint_figure(one, 0, style), "footprint", "Tiles and strips, wave by wave")
    with right:
        title("Bytes that each wave needs", "each strip once; formula")
        chart(hardware_footprint.bytes_figure(list(orders.values()), one.order, chip.l2_bytes, style), "bytes", "Bytes by wave")
        parts = [
            fact(f"all waves, {found.order}", bytes_text(found.bytes), _strips(found), "formula") for found in orders.values()
        ]
        st.html(facts(parts))
        say(why_not(orders, chip.l2_bytes, request) or _helps(orders))
        _recorded(request, groups)


def _recorded(request: Request, groups: list[int]) -> None:
    """What the orders took on a real GPU, where both were recorded."""
    found = {group: recorded(with_group(request, group)) for group in groups}
    if all(found.values()):
        times = ", ".join(f"{order_name(group)} **{seconds_text(one.cost.plain)}**" for group, one in found.items() if one)
        device, when = next((one.device, one.when) for one in found.values() if one)
        say(f"Recorded on {device}, {when}: {times}, as launched, without instruments.")


@kept
def _footprint(key: str, _request: Request, _group: int, _at_once: int) -> Footprint:
    return footprint(with_group(_request, _group), _at_once)


def _strips(found: Footprint) -> str:
    first = found.waves[0]
    return f"first wave: {first.strips_a:,} + {first.strips_b:,} strips"


def _helps(orders: dict[int, Footprint]) -> str:
    rows, grouped = orders[1], next(found for group, found in orders.items() if group > 1)
    less = 1 - grouped.bytes / rows.bytes
    return (
        f"Tiles near each other share strips: {grouped.order}, a wave needs **{less:.0%}** less than row by row, were nothing "
        "kept from wave to wave. The waves are drawn as if all programs took equally long."
    )
