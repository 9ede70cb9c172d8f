"""Problems to test every operator with, drawn from what the operator says of its sizes."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies

from kernels import DTYPES, Numbers, Operator, Problem, Tiling
from kernels.launch import Launch
from kernels.values import numpy_values

from .kinds import kind_of

LARGEST = {"flat": 70, "rows": 20, "tiles": 20}
# Blocks along one axis. Products of 400 tiles and 20 steps along k took 56 s to try, rows of 20 steps 12 s, and have no other
# kinds of blocks: first, middle, last, ragged, more than one group of tiles.
MOST_BLOCKS = {"flat": 70, "rows": 6, "tiles": 5}


@strategies.composite
def problems(draw: strategies.DrawFn, operator: Operator, dtypes: tuple[str, ...] = ("float32",)) -> tuple[Problem, Tiling]:
    """Small problems of every shape: empty, one element, exact fits and ragged ones, with any power of two as a block."""
    most = LARGEST[kind_of(operator)]
    blocks = {}
    for block in operator.blocks:
        if block.name.startswith("BLOCK"):
            blocks[block.name] = 2 ** draw(strategies.integers(0, 4 if kind_of(operator) == "tiles" else 5))
        else:
            blocks[block.name] = draw(strategies.integers(block.minimum, 5))
    sizes = {}
    for size in operator.sizes:
        block = _block_along(operator, size.name, blocks)
        largest = min(most, MOST_BLOCKS[kind_of(operator)] * block) if block else most
        sizes[size.name] = draw(strategies.integers(size.minimum, largest))
    return Problem(Numbers(sizes), draw(strategies.sampled_from(dtypes))), Tiling(Numbers(blocks))


def _block_along(operator: Operator, size: str, blocks: dict[str, int]) -> int | None:
    """The block that a size is cut into: each axis of a tile has its own, else the last size has the only one."""
    return blocks.get(f"BLOCK_{size.upper()}", blocks.get("BLOCK_SIZE") if size == operator.sizes[-1].name else None)


def inputs(launch: Launch, seed: int = 0) -> dict[str, np.ndarray]:
    """The whole inputs of a launch as NumPy arrays, named like the wrapper's parameters."""
    found = {}
    for name, tensor in launch.tensors.items():
        if tensor.filling is not None:
            values = numpy_values(tensor.filling, tensor.dtype, np.arange(tensor.numel), seed)
            found[name.removesuffix("_ptr")] = values.reshape(tensor.shape)
    return found


def reference(operator: Operator, problem: Problem, launch: Launch, seed: int = 0) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """PyTorch's version in float64 on the very values of the inputs, and how far a result may be from it, by output."""
    import torch

    exact = {name: torch.from_numpy(array.astype(np.float64)) for name, array in inputs(launch, seed).items()}
    result = operator.pytorch(**exact)
    results = result if isinstance(result, tuple) else (result,)
    found = dict(zip(operator.outputs, results, strict=True))
    limits = operator.limits(problem, exact, found)
    return {name: (tensor.numpy(), limits[name].numpy()) for name, tensor in found.items()}


ALL_DTYPES = DTYPES
