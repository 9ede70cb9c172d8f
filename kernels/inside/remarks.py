"""What is worth a warning in a compiled kernel, a sentence each; claims about other sizes are compiled before they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..operator import Numbers
from ..runtime.device import Target
from ..runtime.request import Request
from .checks import checks
from .mix import mix
from .moved import loaded
from .stages import Stages, compiled_stages

SUPPORTED_FROM = 80  # Triton's README, "Compatibility"


def remarks(request: Request, target: Target, stages: Stages) -> tuple[str, ...]:
    """The warnings of a launch, those that stop it first; in the compile worker."""
    verdict, launch = stages.verdict, request.launch()
    found = [verdict.reason] if verdict.reason else []
    if not stages.texts:
        return tuple(found)
    counted = mix(stages)
    found += [one.words for one in checks(stages, launch, counted) if one.fits is None or (verdict.launchable and not one.fits)]
    if target.backend == "cuda" and int(target.arch) < SUPPORTED_FROM:
        found.append(f"Triton supports compute capability 8.0 and newer: what it builds for {target.name} may not run.")
    found += narrow_loads(request, target, loaded(stages, launch))
    if launch.constants.get("OFFSET_TYPE") == "int64":
        found.append("Offsets are 64 bits wide, since 32 would wrap: address arithmetic takes more instructions.")
    return tuple(found)


def narrow_loads(request: Request, target: Target, by_argument: Mapping[str, int]) -> list[str]:
    """A sentence for every argument that would be loaded wider if sizes were multiples of 16, arguments alike in one.

    `by_argument` are the bytes of one load now. Where several sizes are odd, those are named that make the difference alone.
    """
    odd = [name for name, value in request.problem.sizes.items() if value % 16]
    if not odd or not by_argument:
        return []
    alone = {(name,): _padded(request, target, (name,)) for name in odd}
    every = alone[odd[0],] if len(odd) == 1 else _padded(request, target, tuple(odd))
    groups: dict[tuple[int, int, tuple[str, ...]], list[str]] = {}
    for argument, now in by_argument.items():
        could = every.get(argument, 0)
        if could > now:
            cause = next((names for names, widths in alone.items() if widths.get(argument) == could), tuple(odd))
            groups.setdefault((now, could, cause), []).append(argument)
    return [_narrow(request, *key, names if len(names) < len(by_argument) else []) for key, names in groups.items()]


def _padded(request: Request, target: Target, names: tuple[str, ...]) -> dict[str, int]:
    """What the launch would load with these sizes rounded up to multiples of 16."""
    sizes = request.problem.sizes
    padded = Numbers(sizes, {name: -(-sizes[name] // 16) * 16 for name in names})
    other = replace(request, problem=replace(request.problem, sizes=padded))
    return loaded(compiled_stages(other, target), other.launch())


def _narrow(request: Request, now: int, could: int, sizes: tuple[str, ...], arguments: list[str]) -> str:
    odd = " and ".join(f"{name} = {request.problem[name]:,}" for name in sizes)
    rounded = ", ".join(f"{name} = {-(-request.problem[name] // 16) * 16:,}" for name in sizes)
    which = f"{' and '.join(arguments)} " if arguments else ""
    return (
        f"A thread loads {which}at most {now} bytes at once because {odd} {'are' if len(sizes) > 1 else 'is'} not divisible by "
        f"16; with {rounded} it loads {could} at once."
    )
