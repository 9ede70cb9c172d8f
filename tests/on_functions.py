"""The operators' functions tried on a device, what is wrong as sentences: in the interpreter, or in the worker with a GPU."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator

import numpy as np
import torch

from kernels import Numbers, Problem, Tiling, find
from kernels.operator import Operator

from .kinds import kind_of

SIZES = {"flat": (13,), "rows": (3, 5), "tiles": (5, 7, 3)}
ULP = {"float32": 2.0**-20, "float16": 2.0**-10, "bfloat16": 2.0**-7}
H = 1e-5


class Mine(torch.Tensor):
    """A subclass that adds nothing."""


def example(operator: Operator, device: str, dtype: str = "float32") -> dict[str, torch.Tensor]:
    """Ragged inputs by name, seeded, around 0."""
    sizes = Numbers(dict(zip([size.name for size in operator.sizes], SIZES[kind_of(operator)], strict=True)))
    problem = Problem(sizes)
    tensors = operator.plan(problem, operator.tiling(problem)).tensors
    generator = torch.Generator().manual_seed(7)
    return {
        name.removesuffix("_ptr"): torch.randn(tensor.shape, generator=generator).to(device, getattr(torch, dtype))
        for name, tensor in tensors.items()
        if tensor.filling
    }


def results(given) -> tuple[torch.Tensor, ...]:
    return given if isinstance(given, tuple) else (given,)


def weights(outputs, seed: int = 1) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(output.shape, generator=generator, dtype=torch.float64) for output in outputs]


def loss(function: Callable, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    """A weighted sum of everything that comes out, in float64."""
    outputs = results(function(**inputs))
    pairs = zip(outputs, weights(outputs), strict=True)
    return sum((output.double() * weight.to(output.device)).sum() for output, weight in pairs)


def slopes(function: Callable, inputs: dict[str, torch.Tensor], step: float = H) -> dict[str, torch.Tensor]:
    """The gradient of `loss` by differences in float64, element by element: no autograd has a part in it."""
    found = {}
    for name, tensor in inputs.items():
        slope = torch.empty(tensor.numel(), dtype=torch.float64)
        for at in range(tensor.numel()):
            ends = []
            for sign in (1, -1):
                moved = tensor.clone()
                moved.view(-1)[at] += sign * step
                ends.append(float(loss(function, {**inputs, name: moved})))
            slope[at] = (ends[0] - ends[1]) / (2 * step)
        found[name] = slope.view(tensor.shape)
    return found


def exact(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().cpu().double().contiguous() for name, tensor in inputs.items()}


def leaves(inputs: dict[str, torch.Tensor], required: set[str] | None = None) -> dict[str, torch.Tensor]:
    return {
        name: tensor.detach().clone().requires_grad_(required is None or name in required) for name, tensor in inputs.items()
    }


def apart(what: str, ours: torch.Tensor | None, theirs: torch.Tensor, limit: float) -> Iterator[str]:
    """A sentence where ours is no gradient, or further from theirs than the limit, against the longer of 1 and theirs."""
    if ours is None:
        if float(theirs.abs().max()) > limit:
            yield f"{what}: no gradient"
        return
    distance = float((ours.detach().cpu().double() - theirs).norm()) / max(float(theirs.norm()), 1.0)
    if not distance <= limit:
        yield f"{what}: {distance:.2g} apart"


def gradients(name: str, dtype: str, device: str) -> list[str]:
    """First order, of all inputs and of each alone, against differences in float64."""
    operator = find(name)
    inputs = example(operator, device, dtype)
    theirs = slopes(operator.pytorch, exact(inputs))
    wrong = []
    for required in (set(inputs), *({one} for one in inputs)):
        given = leaves(inputs, required)
        loss(operator.wrapper, given).backward()
        for one, tensor in given.items():
            if (tensor.grad is None) != (one not in required):
                wrong.append(f"{one} of {required}: {tensor.grad}")
            elif tensor.grad is not None:
                if tensor.grad.dtype != tensor.dtype:
                    wrong.append(f"{one}: {tensor.grad.dtype}")
                wrong += apart(f"{one} of {required}", tensor.grad, theirs[one], 4 * ULP[dtype])
    return wrong


def second_order(name: str, device: str) -> list[str]:
    """The gradient of a penalty on the gradient, against differences of differences in float64."""
    operator = find(name)
    inputs = example(operator, device)
    given = leaves(inputs)
    first = torch.autograd.grad(loss(operator.wrapper, given), list(given.values()), create_graph=True)
    ways = dict(zip(inputs, weights(inputs.values(), seed=2), strict=True))
    penalty = sum((grad.double() * ways[one].to(device)).sum() for one, grad in zip(given, first, strict=True))
    if not penalty.requires_grad:
        ours = [None] * len(given)
    else:
        ours = torch.autograd.grad(penalty, list(given.values()), allow_unused=True)
    here = exact(inputs)
    ends = [
        slopes(operator.pytorch, {one: tensor + sign * H * ways[one] for one, tensor in here.items()}, 1e-6) for sign in (1, -1)
    ]
    wrong = []
    for one, found in zip(inputs, ours, strict=True):
        wrong += apart(one, found, (ends[0][one] - ends[1][one]) / (2 * H), 1e-3)
    return wrong


def laid_out(name: str, device: str) -> list[str]:
    """Inputs of several dtypes and layouts: every gradient has its input's dtype and shape, and the right values."""
    operator = find(name)
    inputs = example(operator, device)
    for number, (one, tensor) in enumerate(inputs.items()):
        if number % 2 == 0:
            longer = torch.zeros((*tensor.shape[:-1], 2 * tensor.shape[-1]), device=device, dtype=torch.float16)
            longer[..., ::2] = tensor
            inputs[one] = longer[..., ::2]
    theirs = slopes(operator.pytorch, exact(inputs))
    given = {one: tensor.detach().requires_grad_() for one, tensor in inputs.items()}
    loss(operator.wrapper, given).backward()
    wrong = []
    for one, tensor in given.items():
        if (tensor.grad.dtype, tensor.grad.shape) != (tensor.dtype, tensor.shape):
            wrong.append(f"{one}: {tensor.grad.dtype} of {tuple(tensor.grad.shape)}")
        wrong += apart(one, tensor.grad, theirs[one], 4 * ULP["float16"])
    return wrong


def shared(name: str, device: str) -> list[str]:
    """All inputs made of one number, and the function called twice: the number's gradient has every path once."""
    operator = find(name)
    inputs = example(operator, device)
    number = torch.tensor(1.5, device=device, requires_grad=True)
    made = {one: tensor * number for one, tensor in inputs.items()}
    if (first := next(iter(made.values()))).dim():  # and one input made of another, as far as their shapes agree
        made = {one: first * 0.5 + tensor if tensor.shape == first.shape else tensor for one, tensor in made.items()}
    total = loss(operator.wrapper, made) + loss(operator.wrapper, made)
    total.backward(retain_graph=True)
    once = number.grad.clone()
    total.backward()

    def along(value: float) -> float:
        scaled = {one: tensor * value for one, tensor in exact(inputs).items()}
        first = next(iter(scaled.values()))
        scaled = {one: first * 0.5 + tensor if tensor.shape == first.shape else tensor for one, tensor in scaled.items()}
        return 2 * float(loss(operator.pytorch, scaled))

    theirs = torch.tensor((along(1.5 + H) - along(1.5 - H)) / (2 * H), dtype=torch.float64)
    return [*apart("once", once, theirs, 1e-4), *apart("twice", number.grad, 2 * theirs, 1e-4)]


def strangers(device: str) -> dict[str, object]:
    """What is no tensor that a kernel computes with, by a name."""
    ones = torch.ones(2, 3, device=device)
    return {
        "None": None,
        "a list": [[1.0, 2.0]],
        "an array": np.ones((2, 3), np.float32),
        "a number": 2.0,
        "text": "x",
        "sparse": ones.to_sparse(),
        "compressed": ones.to_sparse_csr(),
        "meta": torch.ones(2, 3, device="meta"),
        "float64": ones.double(),
        "complex": ones.to(torch.complex64),
        "fp8": ones.to(torch.float8_e4m3fn),
        "quantized": torch.quantize_per_tensor(torch.ones(2, 3), 1.0, 0, torch.quint8),
        "nested": torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], device=device),
        "jagged": torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged, device=device),
    }


def refused(name: str, device: str) -> list[str]:
    """Every input in turn as what it must not be, with and without gradients: a sentence that names it, nothing else."""
    operator = find(name)
    inputs = example(operator, device)
    wrong = []
    for one in inputs:
        for kind, stranger in strangers(device).items():
            for given in (inputs, leaves(inputs)):
                try:
                    operator.wrapper(**{**given, one: stranger})
                    wrong.append(f"{one} {kind}: taken")
                except (TypeError, ValueError) as error:
                    if one not in str(error) or not str(error).endswith(".") or "\n" in str(error):
                        wrong.append(f"{one} {kind}: {error}")
                except Exception as error:
                    wrong.append(f"{one} {kind}: {type(error).__name__} {error}")
    return wrong


def integers(name: str, device: str) -> list[str]:
    """All inputs whole numbers: refused; one of several: promoted as PyTorch promotes."""
    operator = find(name)
    wrong = []
    for dtype in (torch.bool, torch.uint8, torch.uint16, torch.int32, torch.int64):
        inputs = {one: tensor.to(dtype) for one, tensor in example(operator, device).items()}
        try:
            operator.wrapper(**inputs)
            wrong.append(f"{dtype}: taken")
        except ValueError as error:
            wrong += [] if f"{dtype} is not computed here" in str(error) else [str(error)]
        if len(inputs) > 1 and dtype not in (torch.bool, torch.uint16):
            last = list(inputs)[-1]
            mixed = {one: tensor if one == last else tensor.float() for one, tensor in inputs.items()}
            ours, theirs = (results(operator.wrapper(**given)) for given in (mixed, {k: v.float() for k, v in mixed.items()}))
            wrong += [f"{dtype}: differs" for a, b in zip(ours, theirs, strict=True) if not torch.equal(a, b)]
    return wrong


def plain(name: str, device: str) -> list[str]:
    """Parameters, subclasses, views that repeat, overlap or negate: the results are those of plain tensors."""
    operator = find(name)
    inputs = example(operator, device)
    wrong = []
    kinds = {
        "parameter": torch.nn.Parameter,
        "subclass": lambda tensor: tensor.as_subclass(Mine),
        "repeated": lambda tensor: tensor.flatten()[:1].expand(tensor.shape),
        "negated": lambda tensor: torch.complex(tensor, -tensor).conj().imag,
        "negated in place": lambda tensor: torch._neg_view(-tensor),
        "turned": lambda tensor: tensor.transpose(0, -1).contiguous().transpose(0, -1),
    }
    for kind, changed in ((kind, changed) for kind in kinds for changed in inputs):
        views = {**inputs, changed: kinds[kind](inputs[changed])}
        copies = {one: torch.tensor(tensor.detach().tolist(), device=device) for one, tensor in views.items()}
        with torch.no_grad():
            ours, theirs = results(operator.wrapper(**views)), results(operator.wrapper(**copies))
        wrong += [
            f"{changed} {kind}" for a, b in zip(ours, theirs, strict=True) if not torch.equal(a.as_subclass(torch.Tensor), b)
        ]
    return wrong


def tilings(name: str, device: str) -> list[str]:
    """Every block, the warps and the stages in turn at what is illegal: a ValueError, whose nearest value launches."""
    operator = find(name)
    inputs = example(operator, device)
    rule = small(operator)
    cases = [(block.name, value) for block in operator.blocks for value in illegal(block.name)]
    cases += [("num_warps", value) for value in (0, -1, 3, 64, 2**40)] + [("num_stages", value) for value in (0, -1, 17, 300)]
    wrong = []
    for field, value in cases:
        try:
            operator.wrapper(**inputs, tiling=with_value(rule, field, value))
            wrong.append(f"{field}={value}: taken")
        except ValueError as error:
            if not str(error).startswith(f"{field}: ") or "nearest" not in str(error):
                wrong.append(f"{field}={value}: {error}")
                continue
            nearest = int(str(error).rstrip(".").replace(",", "").split()[-1])
            if nearest <= 2**16:
                operator.wrapper(**inputs, tiling=with_value(rule, field, max(nearest, 16 if device == "cuda" else 1)))
        except Exception as error:
            wrong.append(f"{field}={value}: {type(error).__name__} {error}")
    return wrong


def small(operator: Operator) -> Tiling:
    """Short blocks that every kernel takes, so that the interpreter is quick."""
    blocks = {block.name: 16 if block.name.startswith("BLOCK") else max(block.minimum, 2) for block in operator.blocks}
    return Tiling(Numbers(blocks))


def illegal(block: str) -> tuple[int, ...]:
    if block.startswith("BLOCK"):
        return (0, -1, -16, 3, 24, 2**21, 2**63, 10**30)
    return (-1, -(2**63), 2**50)


def with_value(tiling: Tiling, field: str, value: object) -> Tiling:
    if field in ("num_warps", "num_stages"):
        return Tiling(tiling.blocks, **{"num_warps": tiling.num_warps, "num_stages": tiling.num_stages, field: value})
    return Tiling(Numbers({**tiling.blocks, field: value}), tiling.num_warps, tiling.num_stages)


def options(operator: Operator) -> list[str]:
    """The names of the wrapper's options, `tiling` apart."""
    parameters = inspect.signature(operator.wrapper).parameters
    return [name for name, one in parameters.items() if one.default is not one.empty and name != "tiling"]


def short_blocks(device: str) -> str:
    """What is said of a BLOCK_K that `tl.dot` does not take."""
    from kernels.matmul_relu import matmul_relu

    a = torch.ones(16, 16, device=device, dtype=torch.float16)
    try:
        matmul_relu(a, a, Tiling(Numbers(BLOCK_M=16, BLOCK_N=16, BLOCK_K=4, GROUP_M=0)))
    except ValueError as error:
        return str(error)
    return "taken"
