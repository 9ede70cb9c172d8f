"""One measurement: every implementation checked against float64, then timed, then profiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..errors import joined, sentence
from ..runtime.compare import Difference, differences
from ..runtime.device import Gpu
from ..runtime.request import Request
from . import ways
from .memory import refusal
from .profiler import kernels_of
from .records import SHORT, Point, Spread, Timed
from .roofs import copy_call
from .timing import LONG_SETTLING_SECONDS, ROUNDS, SETTLING_SECONDS, Clearing, by_events, by_graph, by_host, peak_bytes
from .watch import disturbed, state

if TYPE_CHECKING:
    import torch

INTENSE = 20  # operations a byte: far above what any kernel does that only streams
# How far a result as a whole may be from float64, against its length: for PyTorch's own implementations, which round after
# every step (single elements of a sum over 16,384 rows in bfloat16 lie 36 of our tolerances away), and for modules.
NORM_LIMIT = {"float32": 2.0**-16, "float16": 2.0**-8, "bfloat16": 2.0**-5}


@dataclass(frozen=True)
class Task:
    """What to measure: a request, a direction, the implementations to compare; one of many in a sweep is measured briefly."""

    request: Request
    direction: str = "forward"
    ways: tuple[str, ...] = ways.WAYS
    brief: bool = False

    def point(self, **found: Any) -> Point:
        """The point that answers this task."""
        request = self.request
        return Point(
            operator=request.operator,
            sizes=dict(request.problem.sizes),
            blocks=dict(request.tiling.blocks),
            num_warps=request.tiling.num_warps,
            num_stages=request.tiling.num_stages,
            dtype=request.problem.dtype,
            direction=self.direction,
            seed=request.seed,
            parameters=dict(request.problem.parameters),
            **found,
        )


def measure(task: Task, gpu: Gpu, progress: Callable[[int, int], None] = lambda done, of: None) -> Point:
    """Measures on the current CUDA device. What fails leaves a sentence in place of its figures; nothing is raised."""
    import torch

    stream = torch.cuda.Stream()
    try:
        reason = refusal(task.request, task.direction, torch.cuda.mem_get_info()[0])
        if reason:
            return task.point(problem=reason)
        with torch.cuda.stream(stream):  # a graph cannot be captured on the default stream
            return _measured(task, gpu, progress)
    except Exception as error:
        return task.point(problem=joined(sentence(error).text))
    finally:
        torch.cuda.empty_cache()


def _measured(task: Task, gpu: Gpu, progress: Callable[[int, int], None]) -> Point:
    request, direction = task.request, task.direction
    inputs = ways.inputs_of(request, direction)
    wanted = [way for way in ways.functions(request) if way in task.ways]
    steps, done = 2 * len(wanted) + 1, 0
    first: dict[str, Timed] = {}
    able: dict[str, ways.Ready] = {}
    for way in wanted:
        first[way], ready = _checked(request, direction, way, inputs)
        if ready is not None:
            able[way] = ready
        progress(done := done + 1, steps)
    clear, before = Clearing(), state(gpu.uuid)
    copy, moved = _copy_beside(request, direction)
    calls = [one.call for one in able.values()]
    rounds = 1 if task.brief else ROUNDS
    spreads = by_events([*calls, *([copy] if copy else [])], clear, rounds, settling(task))
    after = state(gpu.uuid)
    progress(done := done + 1, steps)
    ours = dict(zip(able, spreads, strict=False)).get("triton", spreads[-1] if spreads else None)
    copied = _by_method_of(ours, copy, spreads[-1], clear) if copy else None
    for (way, ready), events in zip(able.items(), spreads, strict=False):
        first[way] = _detailed(first[way], ready, events, clear, profile=not task.brief)
        progress(done := done + 1, steps)
    timed = tuple(first.values())
    return task.point(
        timed=timed,
        copy=copied,
        copy_bytes=moved,
        before=before,
        after=after,
        notes=disturbed(before, after),
    )


def settling(task: Task) -> float:
    """Seconds until the card's power and clock are those of this work: longer where there is much arithmetic for every byte."""
    traffic = ways.traffic(task.request, task.direction)
    if traffic is None:  # a module, with a matmul in it
        return LONG_SETTLING_SECONDS
    moved = sum(step.moved for step in traffic.fused)
    return LONG_SETTLING_SECONDS if traffic.operations > INTENSE * moved else SETTLING_SECONDS


def _checked(request: Request, direction: str, way: str, inputs: Mapping[str, torch.Tensor]) -> tuple[Timed, ways.Ready | None]:
    """The implementation compared with float64; without it where it fails or is wrong."""
    title = ways.functions(request)[way][0]
    try:
        ready = ways.ready(request, direction, way, inputs)
        found = check(request, direction, inputs, ready.call())
    except Exception as error:  # the other implementations go on
        return Timed(way, title, problem=joined(sentence(error).text)), None
    timed = Timed(way, title, share=found.share, difference=found.from_float64, compile_seconds=ready.compile_seconds)
    limit = NORM_LIMIT[request.problem.dtype]
    if way == "triton" and direction != "module" and found.share > 1:
        why = found.words or f"{found.share:.1f} times the tolerance away from float64"
        return replace(timed, problem=f"Wrong: {why}."), None
    if not found.norm <= limit:
        return replace(timed, problem=f"Wrong: {found.norm:.1e} away from float64, and {limit:.1e} is rounding."), None
    return timed, ready


def check(
    request: Request, direction: str, inputs: Mapping[str, torch.Tensor], outputs: Mapping[str, torch.Tensor]
) -> Difference:
    """The worst of all outputs' differences from float64."""
    found: list[Difference] = []
    if direction == "module":
        found += _check_module(request, inputs, outputs)
    if direction in ("forward", "both"):
        names = request.description.outputs
        own = {name: tensor for name, tensor in inputs.items() if name != "grad_output"}
        found += differences(request, own, {name: outputs[name] for name in names})
    if direction in ("backward", "both"):
        other = ways.request_of(request, direction)
        found += differences(other, inputs, {name: outputs[name] for name in other.description.outputs})
    furthest = max(one.from_float64 for one in found), max(one.norm for one in found)
    worst = max(found, key=lambda one: one.share)
    return replace(worst, from_float64=furthest[0], norm=furthest[1])


def _check_module(
    request: Request, inputs: Mapping[str, torch.Tensor], outputs: Mapping[str, torch.Tensor]
) -> list[Difference]:
    """Gradients through a matmul have no tolerance by element: `share` is their part of the limit on the whole."""
    exact = ways.module_call(ways.functions(request)["pytorch"][1], {name: one.double() for name, one in inputs.items()})()
    limit, found = NORM_LIMIT[request.problem.dtype], []
    for name, output in outputs.items():
        apart = output.double() - exact[name]
        length = float(exact[name].norm())
        norm = float(apart.norm()) / length if length else float(apart.norm())
        furthest = float(apart.abs().max()) if apart.numel() else 0.0
        found.append(Difference(name, 0.0, furthest, norm / limit, 0, norm))
    return found


def _copy_beside(request: Request, direction: str) -> tuple[Any, int | None]:
    """A copy that moves as many bytes as the fused kernels."""
    traffic = ways.traffic(request, direction)
    moved = sum(step.moved for step in traffic.fused) if traffic else 0
    return copy_call(moved) if moved else (None, None)


def _by_method_of(ours: Spread, copy: Any, events: Spread, clear: Clearing) -> Spread:
    """The copy's time by the method of the fused kernel's, whose time between events is `ours`."""
    return (by_graph(copy, clear) if ours.median < SHORT else None) or events


def _detailed(timed: Timed, ready: ways.Ready, events: Spread, clear: Clearing, *, profile: bool) -> Timed:
    """The other figures of an implementation that is right."""
    return replace(
        timed,
        events=events,
        graph=by_graph(ready.call, clear) if events.median < SHORT else None,
        host=by_host(ready.call),
        peak_bytes=peak_bytes(ready.call),
        kernels=kernels_of(ready.call, clear) if profile else (),
    )
