"""Whether the installed Triton is understood: a small kernel traced and compared with arithmetic. Runs in the trace worker."""

from __future__ import annotations

import numpy as np

from ..language import tl, triton
from ..launch import Filling, Launch, Tensor
from ..values import numpy_values

N, BLOCK = 7, 3


@triton.jit
def sum_kernel(x_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    total = 0.0
    for start in range(0, n_elements, BLOCK_SIZE):
        offsets = start + tl.arange(0, BLOCK_SIZE)
        x = tl.load(x_ptr + offsets, mask=offsets < n_elements, other=0.0)
        total += tl.sum(x, axis=0)
    tl.store(output_ptr + tl.program_id(axis=0), total)


def selftest() -> str | None:
    """None where values, source lines, a loop, a reduction and a block of 3 come out right; else a sentence.

    The relaxation that a block of 3 needs must be undone afterwards.
    """
    from .interpreter import core
    from .records import EVERYTHING
    from .source import source_of
    from .trace import trace

    validate = core.validate_block_shape
    launch = Launch(
        sum_kernel,
        (2, 1, 1),
        {"x_ptr": Tensor((N,), "float32", Filling(0)), "output_ptr": Tensor((2,), "float32"), "n_elements": N},
        {"BLOCK_SIZE": BLOCK},
    )
    try:
        found = trace(launch, [(1, 0, 0)], watched=(1, 0, 0), limits=EVERYTHING)
    except Exception as error:
        return f"tracing a small kernel failed: {type(error).__name__}: {str(error)[:200]}"
    first = source_of(sum_kernel).first
    exact = float(numpy_values(Filling(0), "float32", np.arange(N), 0).sum(dtype=np.float64))
    *loads, store = found.accesses
    expected = {
        "offsets": [load.offsets.tolist() for load in loads] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]],
        "masks": [load.mask.tolist() for load in loads][-1] == [True, False, False],
        "source lines": [access.line - first for access in found.accesses] == [4, 4, 4, 6],
        "turns of a loop": [load.turns[0].index for load in loads] == [0, 1, 2],
        "program ids": store.offsets.tolist() in (1, [1]),
        "values": abs(float(store.values.flat[0]) - exact) < 1e-5,
        "variables": [step.line - first for step in found.steps if "total" in step.changes] == [1, 5, 5, 5],
        "the check of block sizes": core.validate_block_shape is validate,
    }
    wrong = [name for name, right in expected.items() if not right]
    return f"a traced kernel shows wrong {', '.join(wrong)}" if wrong else None
