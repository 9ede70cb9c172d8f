"""What Triton's interpreter does otherwise than a GPU, said where a result of it is shown."""

from __future__ import annotations

LIMITS = (
    "The interpreter runs one program after another, so there are no races; it multiplies in full precision where a GPU may "
    "take TF32, computes bfloat16 in float32, and ignores num_warps."
)
