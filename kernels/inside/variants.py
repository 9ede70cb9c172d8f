"""What Triton compiles for: which values of an argument give another kernel, shown by compiling them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..launch import DTYPES
from ..operator import INT32_END, MAX_ELEMENTS, Numbers
from ..runtime.device import Target
from ..runtime.request import Request
from .mix import mix
from .moved import in_words, loaded
from .stages import Stages, compiled_stages


@dataclass(frozen=True)
class Argument:
    """A run-time argument: its value, what the kernel was told of it when it was compiled, and what that allows."""

    name: str
    value: str
    became: str
    because: str


@dataclass(frozen=True)
class Variant:
    """Another launch: what changes, whether it needs another kernel, and that kernel's figures; `loads` by argument."""

    change: str
    same: bool
    kernel: str
    registers: int | None
    widest_load: int
    instructions: int
    refused: str = ""
    loads: str = ""


def arguments(request: Request, target: Target) -> tuple[Argument, ...]:
    """Every argument of the kernel, as `JITFunction.run` specialises it for that target."""
    launch, found = request.launch(), []
    for name in launch.kernel.arg_names:
        if name in launch.constants:
            value = launch.constants[name]
            found.append(Argument(name, f"{value:,}" if isinstance(value, int) else value, "constant", CONSTANT))
        elif name in launch.tensors:
            near = target.backend == "hip" and launch.tensors[name].nbytes < INT32_END
            became, because = ("pointer, divisible by 16, within 2 GB", NEAR) if near else ("pointer, divisible by 16", ALIGNED)
            found.append(Argument(name, launch.tensors[name].dtype, became, because))
        else:
            found.append(_number(name, launch.arguments[name]))
    return tuple(found)


CONSTANT = "A tl.constexpr: another value is another kernel."
ALIGNED = "PyTorch's memory starts at a multiple of 16 bytes, so 16 bytes can be loaded at once."
NEAR = f"{ALIGNED} All of it lies within 2 GB, so AMD's buffer instructions reach it."
PLAIN = "Nothing is known of it: any other such number runs in this same kernel."
SIXTEEN = "Rows or ends lie at multiples of 16: loads stay 16 bytes wide, and masks are the same for several lanes."
ONE = "Compiled in like a constant: multiplications by it disappear. Any other value is another kernel."


def _number(name: str, value: object) -> Argument:
    if isinstance(value, float):
        return Argument(name, f"{value:g}", "float32", PLAIN)
    assert isinstance(value, int)
    if value == 1:
        return Argument(name, "1", "constant", ONE)
    width = "int32" if value < INT32_END else "int64"
    sixteen = value % 16 == 0
    return Argument(name, f"{value:,}", f"{width}, divisible by 16" if sixteen else f"{width}", SIXTEEN if sixteen else PLAIN)


def variants(request: Request, target: Target, own: Stages) -> tuple[Variant, ...]:
    """Compiles the launch with other sizes, blocks, warps, types and inputs, and says which of them need another kernel."""
    found = []
    for change, other in _others(request):
        stages = compiled_stages(other, target)
        if not stages.texts:
            found.append(Variant(change, False, "", None, 0, 0, stages.verdict.reason or ""))
            continue
        counted = mix(stages)
        found.append(
            Variant(
                change,
                stages.metadata["hash"] == own.metadata.get("hash"),
                stages.metadata["hash"][:8],
                stages.resources.registers,
                max(counted.loads, default=0),
                counted.instructions,
                loads=in_words(loaded(stages, other.launch())),
            )
        )
    return tuple(found)


def _others(request: Request) -> Iterator[tuple[str, Request]]:
    """The launch itself, then neighbours of the first size that reaches the kernel's offsets, then everything else."""
    problem, tiling = request.problem, request.tiling
    name = list(problem.sizes)[-1]
    now = problem[name]
    yield f"{name} = {now:,}, this launch", request
    multiple = max(now // 16, 1) * 16
    for value in dict.fromkeys((1, multiple, multiple + 16, multiple + 3, multiple + 5)):
        if value != now and value <= MAX_ELEMENTS:
            sizes = Numbers(problem.sizes, {name: value})
            yield f"{name} = {value:,}", replace(request, problem=replace(problem, sizes=sizes))
    for block, value in tiling.blocks.items():
        if block in request.description.extents and value > 1:
            yield f"{block} = {value // 2:,}", request.with_blocks(**{block: value // 2})
            break
    warps = 8 if tiling.num_warps == 4 else 4
    yield f"num_warps = {warps}", replace(request, tiling=replace(tiling, num_warps=warps))
    dtype = next(one for one in DTYPES if one != problem.dtype)
    yield f"dtype = {dtype}", replace(request, problem=replace(problem, dtype=dtype))
    yield f"seed = {request.seed + 1}: other inputs", replace(request, seed=request.seed + 1)
