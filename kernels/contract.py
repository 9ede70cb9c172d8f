"""What an operator promises, part by part, held against its kernel in Triton's interpreter."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import sentence
from .launch import Launch, unwrapped
from .operator import Numbers, Operator, Problem

if TYPE_CHECKING:
    from .runtime.records import Access

RIGHT, WRONG, MISSING = "right", "wrong", "missing"
MOST_PROGRAMS = 64


@dataclass(frozen=True)
class Finding:
    """What is to be said of one part of an operator: whether it is right, and why not or what adding it gives."""

    part: str
    status: str
    words: str


def findings(operator: Operator) -> Iterator[Finding]:
    """One finding for every part of an operator, the launch first. Raises nothing: what fails is a finding."""
    for part, check, gives in PARTS:
        if part != "launch" and not all(getattr(operator, name) for name in part.split(" and ")):
            yield Finding(part, MISSING, gives)
            continue
        try:
            problems = list(check(operator))
        except Exception as error:
            problems = [sentence(error).text]
        yield Finding(part, WRONG if problems else RIGHT, "; ".join(problems[:3]))


def small(operator: Operator) -> Problem:
    """A problem of few programs: the first example, or the sizes' defaults where that has too many."""
    start = operator.start
    problem = Problem(start.sizes, start.dtype)
    if operator.plan(problem, operator.tiling(problem)).programs <= MOST_PROGRAMS:
        return problem
    return Problem(Numbers({size.name: size.default for size in operator.sizes}), start.dtype)


def _launch(operator: Operator) -> Launch:
    problem = small(operator)
    return operator.plan(problem, operator.tiling(problem))


def _accesses(launch: Launch) -> tuple[Access, ...]:
    """What the first programs of a launch load and store, all of them where there are few."""
    from .runtime.records import unravel
    from .runtime.trace import trace

    programs = [unravel(number, launch.grid) for number in range(min(launch.programs, MOST_PROGRAMS))]
    return trace(launch, programs).accesses


def _of_launch(operator: Operator) -> Iterator[str]:
    """The arguments are those of the kernel, all programs run, and none reaches outside of its tensors."""
    launch, _ = unwrapped(_launch(operator))
    names, given = set(inspect.signature(launch.kernel.fn).parameters), {*launch.arguments, *launch.constants}
    if names != given:
        yield from (f"the kernel has {name}, and the launch gives none" for name in sorted(names - given))
        yield from (f"the launch gives {name}, and the kernel has none" for name in sorted(given - names))
        return
    accesses = _accesses(launch)
    for access in accesses:
        if access.out_of_bounds.any():
            verb = "stores" if access.kind == "store" else "loads"
            where = int(access.offsets[access.out_of_bounds].flat[0])
            place = f"element {where:,} of {access.argument}, outside of it, at line {access.line}"
            yield f"program {access.program} {verb} {place}"
    for name, tensor in launch.tensors.items():
        written = [access for access in accesses if access.kind == "store" and access.argument == name]
        if tensor.is_output and not written and tensor.numel and launch.programs:
            yield f"no program writes {name}, which has neither a filling nor data"


def _of_axes(operator: Operator) -> Iterator[str]:
    """As many programs as the grid, or as many of each axis as its dimensions."""
    problem = small(operator)
    tiling = operator.tiling(problem)
    programs = operator.plan(problem, tiling).programs
    axes = operator.axes(problem, tiling)
    count = int(np.prod([axis.programs for axis in axes]))
    if count != programs:
        yield f"the axes have {count:,} programs, and the grid {programs:,}"


def _of_owner(operator: Operator) -> Iterator[str]:
    """The program that writes an element is the one that the closed form names."""
    from .runtime.records import linear

    problem = small(operator)
    tiling, launch = operator.tiling(problem), _launch(operator)
    for access in _accesses(launch):
        elements = access.offsets[access.live & ~access.out_of_bounds]
        if access.kind != "store" or not elements.size:
            continue
        named = np.broadcast_to(operator.owner(problem, tiling, access.argument, elements), elements.shape)
        number = linear(access.program, launch.grid)
        if (named != number).any():
            at = int(elements[named != number][0])
            yield f"element {at:,} of {access.argument} is written by program {number:,}, and owner says otherwise"
            return


def _of_reference(operator: Operator) -> Iterator[str]:
    """The wrapper's results lie within the tolerance of PyTorch's in float64."""
    from .runtime.launch import launch_once
    from .runtime.request import Request

    problem = small(operator)
    result = launch_once(Request(operator.name, problem, operator.tiling(problem)), "cpu")
    for difference in result.differences:
        if not difference.within:
            yield f"{difference.output} is {difference.from_float64:.3g} from float64 at element {difference.index:,}"


def _of_traffic(operator: Operator) -> Iterator[str]:
    """The formula of the bytes moved is what a trace of all programs counts."""
    from .runtime.draw import draw
    from .runtime.request import Request

    problem = small(operator)
    tiling = operator.tiling(problem)
    counted = draw(Request(operator.name, problem, tiling), 0).counted
    formula = operator.traffic(problem, tiling).fused[0].moved  # of the kernel that the launch is of; others may follow
    if counted is not None and sum(counted) != formula:
        yield f"the formula has {formula:,} bytes, and the kernel's accesses are {sum(counted):,}"


def _nothing(operator: Operator) -> Iterator[str]:
    yield from ()


PARTS: tuple[tuple[str, Callable[[Operator], Iterator[str]], str], ...] = (
    ("launch", _of_launch, ""),
    ("axes", _of_axes, "axes=(problem, tiling, divide) shows how many lanes are masked, and what other blocks would waste."),
    ("owner", _of_owner, "owner=(problem, tiling, argument, elements) colours elements by the program that owns them."),
    ("feeds", _nothing, "feeds=(problem, tiling, output, element) shows which inputs a clicked element depends on."),
    ("traffic", _of_traffic, "traffic=(problem, tiling) gives the bytes of sizes that are too large to trace."),
    (
        "wrapper and pytorch and tolerance",
        _of_reference,
        "wrapper, pytorch and tolerance check every launch against float64, and open the page of fused against unfused.",
    ),
    ("measured", _nothing, "measured=Numbers(...) gives the sizes at which fusion shows."),
    ("story", _nothing, "story=(problem, tiling) is the sentence over the picture, numbers between **."),
    ("idea", _nothing, "idea and formula say in a sentence what it computes."),
)


def summary(found: list[Finding]) -> dict[str, Any]:
    """How many parts are right, wrong and missing."""
    return {status: sum(finding.status == status for finding in found) for status in (RIGHT, WRONG, MISSING)}
