"""The source of kernels and wrappers, with the line numbers of their files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    """Lines of a function, decorators left out, the first of them number `first` of its file."""

    first: int
    lines: tuple[str, ...]


def source_of(function: Callable[..., Any]) -> Source:
    """The source from `def` on; of a kernel, that of the Python function in it."""
    lines, first = inspect.getsourcelines(getattr(function, "fn", function))
    skipped = next(number for number, line in enumerate(lines) if line.lstrip().startswith("def "))
    return Source(first + skipped, tuple(line.rstrip("\n").removesuffix("  # fmt: skip") for line in lines[skipped:]))
