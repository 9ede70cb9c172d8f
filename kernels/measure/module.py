"""A small module with a norm inside, as models have it: x + norm(x) @ projection^T, result and all gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

WIDTH = 1024


def projection(x: torch.Tensor) -> torch.Tensor:
    """The weight of the module's linear layer: at most 1024 outputs, seeded, of x's dtype."""
    import torch

    columns = x.shape[-1]
    generator = torch.Generator(device=x.device).manual_seed(0)
    values = torch.randn(min(WIDTH, columns), columns, device=x.device, generator=generator)
    return (values / max(columns, 1) ** 0.5).to(x.dtype)


def residual_block(norm: Callable[..., Any], weight: torch.Tensor, projection: torch.Tensor) -> torch.nn.Module:
    """The module: what the linear layer gives is repeated to the width of x."""
    import torch

    class ResidualBlock(torch.nn.Module):
        """x + repeat(norm(x, weight) @ projection^T)."""

        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(weight.detach().clone())
            self.projection = torch.nn.Parameter(projection.detach().clone())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            narrow = torch.nn.functional.linear(norm(x=x, weight=self.weight), self.projection)
            wide = narrow.repeat(1, -(-x.shape[-1] // narrow.shape[-1]))
            return x + wide[:, : x.shape[-1]]

    return ResidualBlock()


def module_call(norm: Callable[..., Any], inputs: Mapping[str, torch.Tensor]) -> Callable[[], dict[str, torch.Tensor]]:
    """One training step's work without the optimiser."""
    import torch

    module = residual_block(norm, inputs["weight"], inputs["projection"])
    leaf = inputs["x"].detach().requires_grad_()
    names, parameters = zip(*module.named_parameters(), strict=True)

    def call() -> dict[str, torch.Tensor]:
        output = module(leaf)
        gradients = torch.autograd.grad(output, (leaf, *parameters), inputs["grad_output"])
        named = dict(zip(("grad_x", *(f"grad_{name}" for name in names)), gradients, strict=True))
        return {"output": output.detach(), **named}

    return call
