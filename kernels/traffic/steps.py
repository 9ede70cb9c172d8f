"""Values of a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..operator import Step


@dataclass(frozen=True)
class Counted:
    """The steps that one call of a PyTorch function launches: of the forward pass, and of autograd's backward pass."""

    forward: tuple[Step, ...]
    backward: tuple[Step, ...] = ()


def numbered(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The same steps, the second of a name called "mul #2", so that a sentence can name one of them."""
    seen: Counter[str] = Counter()
    named = []
    for step in steps:
        seen[step.name] += 1
        named.append(step if seen[step.name] == 1 else replace(step, name=f"{step.name} #{seen[step.name]}"))
    return tuple(named)
