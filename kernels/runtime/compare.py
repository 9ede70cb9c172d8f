"""Results compared with PyTorch and with float64, in slices of rows, so that the comparison fits where the result did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from .request import Request

if TYPE_CHECKING:
    import torch

CHUNK = 2**26


@dataclass(frozen=True)
class Difference:
    """How far one output is from PyTorch and from float64, in absolute terms, at most.

    `share` is the largest part of the tolerance that an element's difference from float64 takes, and `index` that element;
    `norm` is the length of the difference from float64, taken as a vector, against the length of float64's result.
    `nan_lost` counts elements that are NaN in float64 alone, `nan_made` those that are NaN here alone, and `infinite` those
    that are infinite here alone.
    """

    output: str
    from_pytorch: float
    from_float64: float
    share: float
    index: int
    norm: float = 0.0
    nan_lost: int = 0
    nan_made: int = 0
    infinite: int = 0

    @property
    def within(self) -> bool:
        return self.share <= 1

    @property
    def words(self) -> str:
        """What no number tells: NaN or infinity on one side alone; "" where there is none."""
        counts = (
            (self.nan_lost, "NaN in float64 and a number here"),
            (self.nan_made, "NaN here and a number in float64"),
            (self.infinite, "infinite here and a number in float64"),
        )
        return ", ".join(f"{count:,} element{' is' if count == 1 else 's are'} {what}" for count, what in counts if count)


def differences(
    request: Request, inputs: Mapping[str, torch.Tensor], outputs: Mapping[str, torch.Tensor]
) -> tuple[Difference, ...]:
    """Compares every output with PyTorch's on the same inputs, and with float64."""
    if not all(output.numel() for output in outputs.values()):
        return tuple(Difference(name, 0.0, 0.0, 0.0, 0) for name in outputs)
    summed, tolerance = request.description.summed, request.description.tolerance(request.problem)
    found: dict[str, list[Difference]] = {name: [] for name in outputs}
    sums: list[tuple[dict[str, torch.Tensor], ...]] = []
    for start, part_inputs, part_outputs in _slices(request, inputs, outputs):
        exact, theirs, limits = _references(request, part_inputs)
        for name in outputs:
            if name not in summed:
                found[name].append(_difference(name, part_outputs[name], theirs[name], exact[name], limits[name], start))
        sums.append(tuple({name: part[name].double() for name in summed} for part in (exact, theirs)))
    for name in summed:
        exact, theirs = (sum(pair[number][name] for pair in sums) for number in (0, 1))
        limit = tolerance.absolute + tolerance.relative * exact.abs()
        found[name].append(_difference(name, outputs[name], theirs, exact, limit, 0))
    return tuple(_worst(name, parts) for name, parts in found.items())


def _worst(name: str, parts: list[Difference]) -> Difference:
    worst = max(parts, key=lambda part: part.share)
    furthest = [max(getattr(part, field) for part in parts) for field in ("from_pytorch", "from_float64", "norm")]
    counts = [sum(getattr(part, field) for part in parts) for field in ("nan_lost", "nan_made", "infinite")]
    return Difference(name, *furthest[:2], worst.share, worst.index, furthest[2], *counts)


def _slices(
    request: Request, inputs: Mapping[str, torch.Tensor], outputs: Mapping[str, torch.Tensor]
) -> Iterator[tuple[int, dict[str, torch.Tensor], dict[str, torch.Tensor]]]:
    """(first element, inputs, outputs): rows of the first dimension, few enough to compare in float64 without filling memory.

    Only where a row of the output needs just that row of the inputs; else everything at once.
    """
    first = next(iter(inputs.values()))
    row = prod(first.shape[1:])
    if not request.description.rowwise:
        yield 0, dict(inputs), dict(outputs)
        return
    step = max(CHUNK // max(row, 1), 1)
    for start in range(0, first.shape[0], step):
        here = slice(start, start + step)
        yield start * row, _part(inputs, first.dim(), here), _part(outputs, first.dim(), here)


def _part(tensors: Mapping[str, torch.Tensor], dimensions: int, here: slice) -> dict[str, torch.Tensor]:
    """The rows of those tensors that have as many dimensions as the first input; the others, a weight, whole."""
    return {name: tensor[here] if tensor.dim() == dimensions else tensor for name, tensor in tensors.items()}


def _references(request: Request, inputs: Mapping[str, torch.Tensor]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The results in float64, PyTorch's in the inputs' dtype, and how far float64 may be away."""
    operator, parameters = request.description, request.description.values(request.problem)
    exact_inputs = {name: tensor.double() for name, tensor in inputs.items()}
    exact = _named(operator.outputs, operator.pytorch(**exact_inputs, **parameters))
    theirs = _named(operator.outputs, operator.pytorch(**inputs, **parameters))
    return exact, theirs, operator.limits(request.problem, exact_inputs, exact)


def _difference(
    name: str, output: torch.Tensor, theirs: torch.Tensor, exact: torch.Tensor, limit: torch.Tensor, start: int
) -> Difference:
    import torch

    from_exact = distance(output, exact)
    shares = torch.where(from_exact == 0, 0.0, from_exact / limit).nan_to_num(nan=float("inf")).flatten()
    worst = int(shares.argmax())
    length = float(exact.norm())
    norm = float(from_exact.norm()) / length if length else 0.0
    furthest = float(distance(output, theirs).max()), float(from_exact.max())
    counts = (exact.isnan() & ~output.isnan(), output.isnan() & ~exact.isnan(), output.isinf() & exact.isfinite())
    return Difference(name, *furthest, float(shares[worst]), start + worst, norm, *(int(one.sum()) for one in counts))


def _named(names: tuple[str, ...], result: Any) -> dict[str, torch.Tensor]:
    return dict(zip(names, result if isinstance(result, tuple) else (result,), strict=True))


def distance(ours: torch.Tensor, theirs: torch.Tensor) -> torch.Tensor:
    """|ours - theirs| in float64; 0 where both are NaN or the same infinity, infinite where only one is."""
    import torch

    ours, theirs = ours.double(), theirs.double()
    same = (ours == theirs) | (ours.isnan() & theirs.isnan())
    apart = (ours - theirs).abs()
    return torch.where(same, 0.0, torch.where(apart.isnan(), float("inf"), apart))
