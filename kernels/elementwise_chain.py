"""Elementwise chain: output = relu((x + y) * z), three PyTorch kernels or one of ours.

Each PyTorch kernel reads its operands from DRAM and writes its result back, only for the next one to read it again. In one
kernel the two intermediates stay in registers: 4 passes over the vectors instead of 8.
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

INPUTS = ("x_ptr", "y_ptr", "z_ptr")


def pytorch(x: "torch.Tensor", y: "torch.Tensor", z: "torch.Tensor") -> "torch.Tensor":
    """Three kernels, two intermediate vectors."""
    import torch

    total = x + y
    scaled = total * z
    return torch.relu(scaled)


@triton.jit
def chain_kernel(x_ptr, y_ptr, z_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr, OFFSET_TYPE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid.to(OFFSET_TYPE) * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    z = tl.load(z_ptr + offsets, mask=mask)
    total = x + y
    scaled = total * z
    output = tl.where(scaled < 0, 0.0, scaled)  # NaN < 0 is false: a NaN stays, as torch.relu has it
    tl.store(output_ptr + offsets, output, mask=mask)


plan = flat.plan_with(chain_kernel, INPUTS)


@differentiable(through(pytorch))
def chain(x: "torch.Tensor", y: "torch.Tensor", z: "torch.Tensor", tiling: Tiling | None = None) -> "torch.Tensor":
    """relu((x + y) * z) of one shape. Differentiable: the backward pass is PyTorch's, through its three kernels.

    Raises ValueError for different shapes or devices, for dtypes that are not computed here, and for an illegal tiling.
    """
    import torch

    x, y, z = alike(x=x, y=y, z=z)
    same_shape(x=x, y=y, z=z)
    output = torch.empty_like(x)
    problem = Problem(Numbers(n_elements=x.numel()), dtype_name(x))
    launch = plan(problem, chosen(tiling, flat.tiling(problem), flat.BLOCKS))
    run(launch, x_ptr=x, y_ptr=y, z_ptr=z, output_ptr=output)
    return output


def traffic(problem: Problem, tiling: Tiling) -> Traffic:
    """Three vectors read, one written: no intermediate moves."""
    vector = flat.vector_bytes(problem)
    return Traffic(
        fused=(Step("chain_kernel", 3 * vector, vector),),
        operations=3 * problem["n_elements"],
    )


OPERATOR = Operator(
    name="elementwise_chain",
    title="Elementwise chain",
    lesson=2,
    idea="Add, multiply, ReLU: three kernels in PyTorch, one here.",
    formula="output[i] = relu((x[i] + y[i]) * z[i])",
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
    wrapper=chain,
    pytorch=pytorch,
    expression="torch.relu((x + y) * z)",
    traffic=traffic,
    tolerance=flat.tolerance,
    measured=Numbers(n_elements=2**26),
    presets=(
        Preset("Ten by four", "The last program has two of its four lanes.", *flat.preset(10, 4)),
        Preset("Ragged tail", "98,432 is not a multiple of 1024.", *flat.preset(98432, 1024)),
        Preset(
            "A million",
            "977 programs; two intermediates of 4 MB that never leave the chip.",
            *flat.preset(1_000_000, 1024),
        ),
    ),
)
