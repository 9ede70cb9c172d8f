"""What Triton's interpreter does otherwise than a GPU, said with every result of it; of bfloat16 the result's notes tell."""

from __future__ import annotations

LIMITS = (
    "The interpreter runs one program after another, so there are no races; it multiplies in full precision where a GPU may "
    "take TF32, and ignores num_warps."
)
