"""The kernels of the check: as plain as possible, so that any Triton runs them and a wrong result is the machine's."""

from __future__ import annotations

from ..language import tl, triton
from ..launch import Filling, Launch, Tensor


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    offsets = tl.program_id(axis=0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


def add_launch(n_elements: int, block: int) -> Launch:
    """The launch of the add over float32 vectors, as the compiler is given it."""
    vectors = {name: Tensor((n_elements,), "float32", Filling(place)) for place, name in enumerate(("x_ptr", "y_ptr"))}
    arguments = {**vectors, "output_ptr": Tensor((n_elements,), "float32"), "n_elements": n_elements}
    return Launch(add_kernel, (-(-n_elements // block), 1, 1), arguments, {"BLOCK_SIZE": block})
