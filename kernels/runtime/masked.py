"""Which reductions of a kernel take in lanes that a mask excludes, and which `other` leaves their results as they are.

Read from the kernel's source: a reduction over what was loaded with a mask, or over a product of such; of anything else nothing
is said.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .source import source_of


@dataclass(frozen=True)
class Neutral:
    """The value that changes nothing in a reduction: in words, as a kernel writes it, and itself."""

    words: str
    code: str
    value: float


NEUTRAL = {
    "tl.max": Neutral("minus infinity", "-float('inf')", float("-inf")),
    "tl.min": Neutral("infinity", "float('inf')", float("inf")),
    "tl.sum": Neutral("0", "0.0", 0.0),
    "tl.dot": Neutral("0", "0.0", 0.0),
}
WRITTEN = {"0": 0.0, "0.0": 0.0, "-float('inf')": float("-inf"), "float('-inf')": float("-inf"), "float('inf')": float("inf")}


@dataclass(frozen=True)
class Taken:
    """A reduction that takes in the masked lanes of a loaded variable, and the load's `other` as written; None without one."""

    reduction: str
    variable: str
    other: str | None


@functools.cache
def taken_in(kernel: Any) -> tuple[Taken, ...]:
    """Every (reduction, loaded variable) of the kernel, in the order of its source."""
    tree = ast.parse("\n".join(source_of(kernel).lines))
    assigned: dict[str, list[ast.Assign]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned.setdefault(node.targets[0].id, []).append(node)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in NEUTRAL]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    return tuple(dict.fromkeys(taken for call in calls for taken in _of_call(call, assigned)))


def unfilled(kernel: Any) -> tuple[str, ...]:
    """A sentence for every variable whose masked lanes a reduction takes in while they are undefined, or hold a wrong value."""
    said = []
    for taken in taken_in(kernel):
        neutral = NEUTRAL[taken.reduction]
        if taken.other is None:
            what = "which are undefined"
        elif taken.other in WRITTEN and WRITTEN[taken.other] != neutral.value:
            what = f"which hold {taken.other}"
        else:
            continue
        words = f"{taken.reduction} takes in the masked lanes of {taken.variable}, {what}"
        said.append(f"{words}: load {taken.variable} with other={neutral.code}.")
    return tuple(said)


def replaced(kernel: Any, other: float) -> tuple[str, ...]:
    """A sentence for every reduction that another value of masked lanes may change."""
    names: dict[str, list[str]] = {}
    for taken in taken_in(kernel):
        if NEUTRAL[taken.reduction].value != other:
            names.setdefault(taken.reduction, []).append(taken.variable)
    return tuple(
        f"{reduction} takes in the masked lanes of {' and '.join(dict.fromkeys(variables))}: "
        f"{NEUTRAL[reduction].words} changes nothing there, and {other:g} may."
        for reduction, variables in names.items()
    )


def _of_call(call: ast.Call, assigned: dict[str, list[ast.Assign]]) -> Iterator[Taken]:
    """What one reduction takes in; of a maximum the loaded lanes themselves, since a product has another neutral value."""
    reduction = ast.unparse(call.func)
    for operand in call.args[: 2 if reduction == "tl.dot" else 1]:
        product = reduction in ("tl.sum", "tl.dot")
        for variable, load in _loads(operand, "", assigned, call.lineno, product):
            given = {one.arg: one.value for one in load.keywords}
            if "mask" in given:
                yield Taken(reduction, variable, ast.unparse(given["other"]) if "other" in given else None)


def _loads(
    node: ast.expr, name: str, assigned: dict[str, list[ast.Assign]], line: int, product: bool
) -> Iterator[tuple[str, ast.Call]]:
    """The loads that an expression is made of, each with the variable that holds it; with `product` also those of factors."""
    if isinstance(node, ast.Name):
        before = [one for one in assigned.get(node.id, ()) if one.lineno < line]
        if before:
            latest = max(before, key=lambda one: one.lineno)
            yield from _loads(latest.value, node.id, assigned, latest.lineno, product)
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "tl.load":
        yield name or ast.unparse(node.args[0]), node
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to":
        yield from _loads(node.func.value, name, assigned, line, product)
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "tl.cast":
        yield from _loads(node.args[0], name, assigned, line, product)
    elif product and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from _loads(node.left, "", assigned, line, product)
        yield from _loads(node.right, "", assigned, line, product)
