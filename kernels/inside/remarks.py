"""What is worth a warning in a compiled kernel, a sentence each; claims about other sizes are compiled before they are made."""

from __future__ import annotations

from dataclasses import replace

from ..operator import Numbers
from ..runtime.device import Target
from ..runtime.request import Request
from .checks import checks
from .mix import mix
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
    wider = narrow_loads(request, target, max(counted.loads, default=0))
    if wider:
        found.append(wider)
    if launch.constants.get("OFFSET_TYPE") == "int64":
        found.append("Offsets are 64 bits wide, since 32 would wrap: address arithmetic takes more instructions.")
    return tuple(found)


def narrow_loads(request: Request, target: Target, widest: int) -> str | None:
    """A sentence where the loads would be wider if every size were a multiple of 16; None where they would not."""
    sizes = request.problem.sizes
    padded = Numbers({name: -(-value // 16) * 16 for name, value in sizes.items()})
    if padded == sizes or not widest:
        return None
    other = compiled_stages(replace(request, problem=replace(request.problem, sizes=padded)), target)
    could = max(mix(other).loads, default=0) if other.texts else 0
    if could <= widest:
        return None
    odd = " and ".join(f"{name} = {value:,}" for name, value in sizes.items() if value % 16)
    verb = "are" if " and " in odd else "is"
    rounded = ", ".join(f"{name} = {padded[name]:,}" for name, value in sizes.items() if value % 16)
    return (
        f"A thread loads at most {widest} bytes at once because {odd} {verb} not divisible by 16; "
        f"with {rounded} it loads {could} at once."
    )
