"""Vector add: output = x + y, one block of elements a program.

One addition for three elements moved: the time is the memory's. It is the smallest kernel that does what every other one
does: a program finds its block from its id, makes offsets, masks those past the end, loads, computes, stores.
"""

from typing import TYPE_CHECKING

from . import flat
from .arguments import alike, dtype_name, run, same_shape
from .gradients import differentiable, through
from .language import tl, triton
from .operator import Numbers, Operator, Preset, Problem, Step, Tiling, Traffic
from .tilings import chosen

if TYPE_CHECKING:
    import torch

INPUTS = ("x_ptr", "y_ptr")


def pytorch(x: "torch.Tensor", y: "torch.Tensor") -> "torch.Tensor":
    """One kernel already: there is nothing to fuse."""
    return x + y


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr, OFFSET_TYPE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid.to(OFFSET_TYPE) * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    output = x + y
    tl.store(output_ptr + offsets, output, mask=mask)


plan = flat.plan_with(add_kernel, INPUTS)


@differentiable(through(pytorch))
def add(x: "torch.Tensor", y: "torch.Tensor", tiling: Tiling | None = None) -> "torch.Tensor":
    """x + y of one shape, on the device they are on. Differentiable: the backward pass is PyTorch's.

    Raises ValueError for different shapes or devices, for dtypes that are not computed here, and for an illegal tiling.
    """
    import torch

    x, y = alike(x=x, y=y)
    same_shape(x=x, y=y)
    output = torch.empty_like(x)
    problem = Problem(Numbers(n_elements=x.numel()), dtype_name(x))
    launch = plan(problem, chosen(tiling, flat.tiling(problem), flat.BLOCKS))
    run(launch, x_ptr=x, y_ptr=y, output_ptr=output)
    return output


def traffic(problem: Problem, tiling: Tiling) -> Traffic:
    """Two vectors read, one written, however it is computed."""
    vector = flat.vector_bytes(problem)
    return Traffic(fused=(Step("add_kernel", 2 * vector, vector),), operations=problem["n_elements"])


OPERATOR = Operator(
    name="vector_add",
    title="Vector add",
    lesson=1,
    idea="Every program adds one block of two vectors.",
    formula="output[i] = x[i] + y[i]",
    sizes=flat.SIZES,
    blocks=flat.BLOCKS,
    plan=plan,
    tiling=flat.tiling,
    story=flat.story,
    axes=flat.axes,
    rowwise=True,
    owner=flat.owner,
    accesses=flat.accesses_of(INPUTS),
    feeds=flat.feeds_from(INPUTS),
    grid=flat.grid,
    wrapper=add,
    pytorch=pytorch,
    expression="x + y",
    traffic=traffic,
    tolerance=flat.tolerance,
    measured=Numbers(n_elements=2**26),
    presets=(
        Preset("Tutorial, 7 by 3", "The tutorial's picture: three programs, the last with one element.", *flat.preset(7, 3)),
        Preset(
            "Tutorial's check",
            "Two vectors of 2048 in blocks of 1024: the difference from PyTorch is 0.0.",
            *flat.preset(2048, 1024),
        ),
        Preset(
            "Ragged tail",
            "98,432 is not a multiple of 1024: the last program is mostly masked.",
            *flat.preset(98432, 1024),
        ),
        Preset("Exact fit", "Every lane of every program has an element.", *flat.preset(4096, 1024)),
        Preset(
            "One element",
            "One program, one live lane; Triton compiles n_elements = 1 in as a constant.",
            *flat.preset(1, 1024),
        ),
        Preset("A million", "977 programs; nothing about the picture costs more.", *flat.preset(1_000_000, 1024)),
        Preset(
            "Past int32",
            "Offsets past 2^31 - 1 wrap in int32: the kernel is given int64.",
            *flat.preset(3 * 2**30, 1024),
            "float16",
        ),
    ),
)
