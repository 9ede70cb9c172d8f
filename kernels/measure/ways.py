"""The implementations that are compared, each made ready to be called: inputs on the GPU, forward, backward, or both."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import find
from ..operator import Operator, Step, Traffic
from ..runtime.launch import prepared
from ..runtime.request import Request
from ..traffic.known import KNOWN
from ..traffic.steps import numbered
from .module import module_call, projection
from .records import DIRECTIONS

if TYPE_CHECKING:
    import torch

COMPILED = "torch.compile"
WAYS = ("pytorch", "library", "compiled", "triton")


@dataclass(frozen=True)
class Ready:
    """One implementation: `call` launches it once; `outputs` are what it last returned, by name."""

    way: str
    title: str
    call: Callable[[], Mapping[str, torch.Tensor]]
    compile_seconds: float | None = None


def request_of(request: Request, direction: str) -> Request:
    """What holds the inputs and the traffic: for gradients, the operator that is the backward pass."""
    operator = request.description
    if direction == "forward":
        return request
    backward = find(operator.backward)
    rule = backward.tiling(request.problem)
    blocks = {name: request.tiling.blocks.get(name, value) for name, value in rule.blocks.items()}
    tiling = type(rule)(type(rule.blocks)(blocks), request.tiling.num_warps, request.tiling.num_stages)
    return Request(operator.backward, request.problem, tiling, request.seed)


def directions_of(operator: Operator) -> tuple[str, ...]:
    """What can be measured of an operator: gradients only where it has a backward pass."""
    return tuple(DIRECTIONS) if operator.backward else ("forward",)


def passes(request: Request, direction: str) -> tuple[Request, ...]:
    """The passes that a direction is made of, each with its own operator; a module's are those of its norm."""
    forward = (request,) if direction != "backward" else ()
    return (*forward, request_of(request, direction)) if direction != "forward" else forward


def traffic(request: Request, direction: str) -> Traffic | None:
    """The bytes of that direction; None where nothing is known of them, as of a module with a matmul in it.

    `unfused` is None where PyTorch's steps have not been counted, or cannot be.
    """
    if request.description.traffic is None or direction == "module":
        return None
    parts = passes(request, direction)
    ours = [part.description.traffic(part.problem, part.tiling) for part in parts]
    return Traffic(
        fused=tuple(step for one in ours for step in one.fused),
        operations=sum(one.operations for one in ours),
        unfused=_unfused(parts),
    )


def _unfused(parts: Sequence[Request]) -> tuple[Step, ...] | None:
    """PyTorch's steps; of an operator that is a backward pass those of its forward pass are not its own."""
    counts = [KNOWN.get(part) for part in parts]
    if None in counts:
        return None
    return numbered(step for count in counts for step in count.backward or count.forward)


def functions(request: Request) -> dict[str, tuple[str, Callable[..., Any]]]:
    """Title and function of every implementation that this operator has, as autograd sees them."""
    operator = request.description
    tiling, parameters = request.tiling, request.problem.parameters
    pytorch = with_parameters(operator.pytorch, parameters)
    found = {"pytorch": ("PyTorch, as written", pytorch)}
    if operator.library:
        found["library"] = (operator.library.name, with_parameters(operator.library.function, parameters))
    found["compiled"] = (COMPILED, pytorch)
    found["triton"] = ("Triton", lambda **inputs: operator.wrapper(**inputs, **parameters, tiling=tiling))
    return {way: one for way, one in found.items() if one[1] is not None}


def with_parameters(function: Callable[..., Any] | None, parameters: Mapping[str, float]) -> Callable[..., Any] | None:
    """The function with these real parameters; itself where all are as by default, so that it is what was recorded."""
    if function is None or not parameters:
        return function
    given = dict(parameters)
    return lambda **inputs: function(**inputs, **given)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function through torch.compile for these shapes alone: compiled once, forgotten before the next shape."""
    import torch

    torch._dynamo.reset()
    torch._inductor.config.compile_threads = 1  # a pool of processes takes longer to start than one kernel to compile
    return torch.compile(function, dynamic=False)


def ready(request: Request, direction: str, way: str, inputs: Mapping[str, torch.Tensor]) -> Ready:
    """One implementation, called once: what it compiles is compiled. Raises what PyTorch, Triton or the GPU raise."""
    import torch

    title, function = functions(request)[way]
    before = time.perf_counter()
    function = compiled(function) if way == "compiled" else function
    call = caller(request, direction, function, inputs)
    call()
    torch.cuda.synchronize()
    return Ready(way, title, call, time.perf_counter() - before if way in ("compiled", "triton") else None)


def inputs_of(request: Request, direction: str) -> dict[str, torch.Tensor]:
    """Seeded inputs on the GPU; for gradients also the gradient of the output, for the module its other parameter."""
    wanted = request_of(request, direction)
    inputs = prepared(wanted, wanted.launch(), "cuda")
    return inputs | ({"projection": projection(inputs["x"])} if direction == "module" else {})


def caller(
    request: Request, direction: str, function: Callable[..., Any], inputs: Mapping[str, torch.Tensor]
) -> Callable[[], dict[str, torch.Tensor]]:
    """A function without arguments that launches one call and returns its outputs by name."""
    if direction == "module":
        return module_call(function, inputs)
    if direction == "forward":
        return _forward(request.description.outputs, function, inputs)
    return _gradients(request, direction, function, inputs)


def _forward(
    names: tuple[str, ...], function: Callable[..., Any], inputs: Mapping[str, torch.Tensor]
) -> Callable[[], dict[str, torch.Tensor]]:
    import torch

    def call() -> dict[str, torch.Tensor]:
        with torch.no_grad():
            given = function(**inputs)
        return dict(zip(names, given if isinstance(given, tuple) else (given,), strict=True))

    return call


def _gradients(
    request: Request, direction: str, function: Callable[..., Any], inputs: Mapping[str, torch.Tensor]
) -> Callable[[], dict[str, torch.Tensor]]:
    """Gradients through autograd with the same gradient of the output for every implementation."""
    import torch

    given = dict(inputs)
    grad_output = given.pop("grad_output")
    leaves = {name: tensor.detach().requires_grad_() for name, tensor in given.items()}
    names = request_of(request, direction).description.outputs
    kept = None if direction == "both" else function(**leaves)

    def call() -> dict[str, torch.Tensor]:
        output = function(**leaves) if kept is None else kept
        gradients = torch.autograd.grad(output, tuple(leaves.values()), grad_output, retain_graph=kept is not None)
        named = dict(zip(names, gradients, strict=True))
        return named if kept is not None else {request.description.outputs[0]: output.detach(), **named}

    return call
