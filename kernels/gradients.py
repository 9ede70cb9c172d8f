"""Gradients of the wrappers: forward a Triton kernel, backward PyTorch's autograd or another kernel."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .arguments import alike

if TYPE_CHECKING:
    import torch

Gradients = Callable[..., "tuple[torch.Tensor | None, ...]"]


def differentiable(gradients: Gradients) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Gives a wrapper gradients; where none of its inputs requires one, it is called as it is.

    The wrapper's parameters without a default are its tensors, the others its options. `gradients(grad_outputs, tensors,
    wanted, **options)` returns one for every tensor, None where it is not wanted; written in operations that have gradients,
    it gives second order as well. The tensors are saved, not the results between: a tensor that is written to between forward
    and backward is refused by autograd.
    """

    def decorate(wrapper: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(wrapper)
        names = [name for name, parameter in signature.parameters.items() if parameter.default is parameter.empty]

        @functools.wraps(wrapper)
        def call(*args: Any, **options: Any) -> Any:
            if not _recorded(*args, *options.values()):
                return wrapper(*args, **options)
            bound = signature.bind(*args, **options)
            bound.apply_defaults()
            tensors = alike(**{name: bound.arguments.pop(name) for name in names})
            return _function().apply(wrapper, gradients, bound.arguments, *tensors)

        return call

    return decorate


def through(formula: Callable[..., Any]) -> Gradients:
    """The gradients of a formula in PyTorch that takes the wrapper's tensors and options, `tiling` apart.

    The formula is computed again, so that the backward pass reads the inputs alone.
    """

    def gradients(
        grad_outputs: tuple[torch.Tensor, ...], tensors: tuple[torch.Tensor, ...], wanted: tuple[bool, ...], **options: Any
    ) -> tuple[torch.Tensor | None, ...]:
        import torch

        options.pop("tiling")
        again = torch.is_grad_enabled()
        with torch.enable_grad():
            # Of views, since one input may have been computed from another: its gradient is autograd's to pass on, not ours.
            views = [tensor.view_as(tensor) for tensor in tensors]
            results = formula(*views, **options)
            pairs = zip(results if isinstance(results, tuple) else (results,), grad_outputs, strict=True)
            outputs, grads = zip(*((result, grad) for result, grad in pairs if result.requires_grad), strict=True)
            asked = [view for view, needed in zip(views, wanted, strict=True) if needed]
            found = iter(torch.autograd.grad(outputs, asked, grads, create_graph=again, allow_unused=True))
        return tuple(next(found) if needed else None for needed in wanted)

    return gradients


def _recorded(*values: Any) -> bool:
    """Whether autograd would record a call with these arguments."""
    import torch

    return torch.is_grad_enabled() and True in [getattr(value, "requires_grad", False) for value in values]


@functools.cache
def _function() -> Any:
    """The autograd function; made when first needed, since its base class is torch's."""
    import torch

    class Wrapped(torch.autograd.Function):
        """A wrapper with its gradients."""

        @staticmethod
        def forward(
            context: Any,
            wrapper: Callable[..., Any],
            gradients: Gradients,
            options: Mapping[str, Any],
            *tensors: torch.Tensor,
        ) -> Any:
            context.gradients, context.options = gradients, options
            context.save_for_backward(*tensors)
            return wrapper(*tensors, **options)

        @staticmethod
        def backward(context: Any, *grad_outputs: torch.Tensor) -> tuple[Any, ...]:
            wanted = context.needs_input_grad[3:]
            found = context.gradients(grad_outputs, context.saved_tensors, wanted, **context.options)
            return None, None, None, *found

    return Wrapped
