"""Kernels that are wrong on purpose."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def unmasked_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    """Adds, and stores every lane."""
    offsets = tl.program_id(axis=0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    inside = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0)
    y = tl.load(y_ptr + offsets, mask=inside, other=0.0)
    tl.store(output_ptr + offsets, x + y)


@triton.jit
def far_kernel(x_ptr, offset):
    """Writes where no tensor is."""
    tl.store(x_ptr + offset, 1.0)
