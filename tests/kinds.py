"""Which sizes a test gives an operator: by what it computes on, vectors, the rows of a matrix, or tiles of a product."""

from __future__ import annotations

from kernels.operator import Operator
from kernels.runtime.request import is_of_vectors


def kind_of(operator: Operator) -> str:
    """ "flat", "rows" or "tiles"."""
    if operator.product:
        return "tiles"
    return "flat" if is_of_vectors(operator) else "rows"
