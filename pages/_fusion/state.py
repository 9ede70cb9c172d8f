"""The settings of the fusion page: a request at sizes where fusion shows, and what of it is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kernels import find, operators
from kernels.measure.ways import directions_of
from kernels.operator import Operator, Preset
from kernels.runtime import settings as texts
from kernels.runtime.request import Request
from pages._state import State, request_shows

DEFAULT = "rms_norm"
SHOWN = ("program", "step", "lane", "element", "what_if", "other", "layout")


@dataclass(frozen=True)
class Comparison:
    """What is compared: a request and a direction, forward, backward, both or in a module."""

    request: Request
    direction: str = "forward"


def comparable() -> dict[str, Operator]:
    """The operators that can be measured, by name."""
    return {name: operator for name, operator in operators().items() if operator.measured and operator.pytorch}


def read(raw: Mapping[str, str]) -> tuple[Comparison, tuple[str, ...]]:
    """A comparison from texts by name; what a link of the launch page shows of a launch means nothing here."""
    given = {"operator": DEFAULT, **{name: text for name, text in raw.items() if name not in SHOWN}}
    said: tuple[str, ...] = ()
    if given["operator"] in operators() and given["operator"] not in comparable():
        said = (f"{find(given['operator']).title} is measured with the operator it belongs to; {DEFAULT} is shown.",)
        given["operator"] = DEFAULT
    if given["operator"] not in operators():
        said = (f"operator: {given['operator'][:24]!r} is not one of {', '.join(comparable())}; {DEFAULT} is used.",)
        given["operator"] = DEFAULT
    found, more = texts.corrected(given, _start, known=("direction",))
    direction, wrong = _direction(found.request.description, given.get("direction", "forward"))
    return Comparison(found.request, direction), (*said, *more, *wrong)


def _start(operator: Operator) -> Preset:
    return operator.measured_start


def _direction(operator: Operator, name: str) -> tuple[str, tuple[str, ...]]:
    allowed = directions_of(operator)
    if name in allowed:
        return name, ()
    return "forward", (f"direction: {name[:24]!r} is not one of {', '.join(allowed)}; forward is used.",)


def write(comparison: Comparison) -> dict[str, str]:
    """The texts that `read` turns into this comparison again."""
    found = texts.link(texts.Settings(comparison.request), _start)
    kept = {name: text for name, text in found.items() if name not in SHOWN}
    return kept | ({"direction": comparison.direction} if comparison.direction != "forward" else {})


def _shows(comparison: Comparison) -> dict[str, Any]:
    return request_shows(comparison) | {"direction": comparison.direction}


state = State("fusion", read, write, _shows)


def with_sizes(comparison: Comparison, request: Request) -> dict[str, str]:
    """The texts of the same comparison of another request."""
    return write(replace(comparison, request=request))
