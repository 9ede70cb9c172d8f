"""The figures of a report: of one card its fit and its load, of several the map and the copies between them."""

from __future__ import annotations

import streamlit as st

from kernels.check.values import NOT_MEASURED, Card, Report, worst
from pages._parts import chart, title
from viz import check as viz
from viz.theme import Style

MOST_ROWS = 24


def draw(report: Report, style: Style) -> None:
    """What there is to draw."""
    if len(report.cards) > 1:
        _cards(report, style)
    card = _chosen(report)
    if card is None:
        return
    name = f" of GPU {card.index}" if len(report.cards) > 1 else ""
    if (one := report.find("sustained rate", card.key)) and len(one.series.get("rate", ())) > 1:
        title(
            f"Fifteen seconds of matmul{name}",
            "pale: held by its power limit; dark: by heat",
        )
        chart(viz.load_figure(one.series, style), "load", "Speed, clock, power and temperature over time")
    if (one := report.find("sweep", card.key)) and "fit" in one.series:
        a, b = one.series["fit"]
        title(f"What a copy costs{name}: T = a + V / b", "a: any kernel; b: the memory's speed")
        figure = viz.fit_figure(one.series["bytes"], one.series["seconds"], a, b, one.series["empty"][0], style)
        chart(figure, "fit", "Time of a copy over its bytes")


def _chosen(report: Report) -> Card | None:
    if len(report.cards) < 2:
        return report.cards[0] if report.cards else None
    names = {card.key: f"GPU {card.index}" for card in report.cards}
    key = st.segmented_control(
        "figures of", list(names), default=report.cards[0].key, format_func=names.get, key="check.card", required=True
    )
    return next((card for card in report.cards if card.key == key), report.cards[0])


def _cards(report: Report, style: Style) -> None:
    """The map of cards and checks, those that differ or are wrong first; and the copies from card to card."""
    checks = list(dict.fromkeys(one.check for one in report.results if one.gpu))
    titles = {one.check: one.title for one in report.results}
    rows = {check: [_status(report, check, card) for card in report.cards] for check in checks}
    order = sorted(checks, key=lambda check: (viz_order(rows[check]), checks.index(check)))[:MOST_ROWS]
    title("Cards and checks", "what is wrong first")
    names = [f"GPU {card.index}" for card in report.cards]
    figure = viz.heat_figure(names, [titles[check] for check in order], [rows[check] for check in order], style)
    chart(figure, "heat", "Status of every check on every card")
    one = report.find("peers")
    if one and one.series.get("speeds"):
        title("Copies from card to card, GB/s", one.said)
        chart(
            viz.peer_figure(int(one.series["count"][0]), one.series["speeds"], style), "peers", "Speed of copies between cards"
        )


def viz_order(statuses: list[str]) -> int:
    """What is wrong comes first."""
    return {"FAIL": 0, "WARN": 1, "NOT MEASURED": 2, "PASS": 3}[worst(statuses)]


def _status(report: Report, check: str, card: Card) -> str:
    found = [one.status for one in report.of(card.key) if one.check == check]
    return worst(found) if found else NOT_MEASURED
