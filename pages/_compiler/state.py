"""The settings of the compiler page: a launch, a target, the stage to show, a line, and a second state to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kernels.inside.stages import STAGES
from kernels.launch import DTYPES
from kernels.operator import Numbers, Operator, Preset, Problem, Size
from kernels.runtime.device import DEFAULT_TARGET, TARGETS, Target, attached
from kernels.runtime.request import Request
from kernels.runtime.settings import NUM_WARPS, RejectedError, Settings, block_size, corrected, digits, link, telling, whole
from kernels.runtime.source import source_of
from pages._state import State, request_shows

START_STAGE = "ptx"
OURS = ("target", "stage", "line", "differs", "by")


@dataclass(frozen=True)
class CompilerSettings:
    """What is compiled, for which target, and what of it is shown.

    `differs` names what the second state has otherwise (empty: there is none) and `by` is that value as a text; `line` is a
    line of the kernel's file.
    """

    request: Request
    target: str
    stage: str = START_STAGE
    line: int | None = None
    differs: str = ""
    by: str = ""

    def second(self) -> tuple[Request, Target] | None:
        """The second state; None where there is none."""
        if not self.differs:
            return None
        return changed(self.request, self.differs, self.by), find(self.by if self.differs == "target" else self.target)


def targets() -> dict[str, Target]:
    """Every target by name, those of the GPUs attached first and with what their driver tells."""
    here = {gpu.target.name: gpu.target for gpu in attached()}
    return here | {name: target for name, target in TARGETS.items() if name not in here}


def find(name: str) -> Target:
    """The target of that name."""
    return targets()[name]


def default_target() -> str:
    """That of the GPU attached, else sm_90."""
    return attached()[0].target.name if attached() else DEFAULT_TARGET


def changed(request: Request, name: str, text: str) -> Request:
    """The request with one legal value changed; of a target nothing changes."""
    problem, tiling = request.problem, request.tiling
    if name == "dtype":
        return replace(request, problem=replace(problem, dtype=text))
    if name == "num_warps":
        return replace(request, tiling=replace(tiling, num_warps=int(text)))
    if name in tiling.blocks:
        return request.with_blocks(**{name: int(text)})
    if name in problem.sizes:
        return replace(request, problem=replace(problem, sizes=Numbers(problem.sizes, {name: int(text)})))
    return request


def differences(request: Request) -> tuple[str, ...]:
    """What a second state may have otherwise."""
    return (*request.tiling.blocks, *request.problem.sizes, "dtype", "num_warps", "target")


def number_of(request: Request, name: str) -> Size | None:
    """The bounds of a number that a second state has otherwise; None for what is chosen from a list."""
    described = request.description
    sizes = {size.name: size for size in described.sizes}
    blocks = {block.name: block_size(block, request.tiling[block.name]) for block in described.blocks}
    return {**sizes, **blocks, "num_warps": NUM_WARPS}.get(name)


def choices_of(name: str) -> tuple[str, ...]:
    """The values of what is chosen from a list."""
    return DTYPES if name == "dtype" else tuple(targets())


def suggestion(request: Request, target: str, name: str) -> str:
    """A telling value for the second state: half the block, a size that is divisible by 16 or is not, another type."""
    if name in request.tiling.blocks:
        value = request.tiling[name]
        return str(value // 2 if value > 1 else 2)
    if name in request.problem.sizes:
        value = request.problem[name]
        return str(value + 3 if value % 16 == 0 else -(-value // 16) * 16)
    if name == "num_warps":
        return "8" if request.tiling.num_warps == 4 else "4"
    now = request.problem.dtype if name == "dtype" else target
    return next(one for one in choices_of(name) if one != now)


def read(raw: Mapping[str, str]) -> tuple[CompilerSettings, tuple[str, ...]]:
    """Legal settings from texts by name, and a sentence for every correction. Never raises."""
    settings, said = corrected(raw, _start, known=OURS)
    request, notices = settings.request.without_change(), list(said)
    target = _chosen(raw, "target", tuple(targets()), default_target(), notices)
    stage = _stage(raw, STAGES[find(target).backend], notices)
    differs = _chosen(raw, "differs", ("", *differences(request)), "", notices)
    by = _by(raw, request, target, differs, notices) if differs else ""
    line = raw.get("line", "")
    source, number = source_of(request.launch().kernel), digits(line)
    within = number is not None and 0 <= number - source.first < len(source.lines)
    if line and not within:
        last = source.first + len(source.lines) - 1
        notices.append(f"line: {line[:24]!r} is not a line of this kernel, {source.first} to {last}; none is chosen.")
    return CompilerSettings(request, target, stage, number if within else None, differs, by), tuple(notices)


def _start(operator: Operator) -> Preset:
    """The first example whose blocks are the launch rule's: one that compiles."""
    by_rule = (one for one in operator.presets if one.blocks == operator.tiling(Problem(one.sizes, one.dtype)).blocks)
    return next(by_rule, operator.start)


def _stage(raw: Mapping[str, str], stages: tuple[str, ...], notices: list[str]) -> str:
    """The stage asked for; AMD has AMDGCN where NVIDIA has PTX and SASS."""
    every = tuple(dict.fromkeys(stage for one in STAGES.values() for stage in one))
    asked = _chosen(raw, "stage", every, START_STAGE, notices)
    return asked if asked in stages else stages[-1]


def _chosen(raw: Mapping[str, str], name: str, allowed: tuple[str, ...], default: str, notices: list[str]) -> str:
    value = raw.get(name, default)
    if value in allowed:
        return value
    options = ", ".join(option for option in allowed if option)
    notices.append(f"{name}: {value[:24]!r} is not one of {options}; {default or 'none'} is used.")
    return default


def _by(raw: Mapping[str, str], request: Request, target: str, differs: str, notices: list[str]) -> str:
    suggested = suggestion(request, target, differs)
    text = raw.get("by", suggested)
    size = number_of(request, differs)
    if size is None:
        return _chosen({"by": text}, "by", choices_of(differs), suggested, notices)
    try:
        return str(whole(text, replace(size, default=int(suggested))))
    except RejectedError as error:
        notices.append(error.corrected)
        return str(error.nearest)


def write(settings: CompilerSettings) -> dict[str, str]:
    """The texts that `read` turns into these settings again; what is at its default is left out."""
    request = settings.request
    texts = link(Settings(request, telling(request, request.launch().programs)), _start)
    if settings.target != default_target():
        texts["target"] = settings.target
    if settings.stage != _stage({}, STAGES[find(settings.target).backend], []):
        texts["stage"] = settings.stage
    if settings.line is not None:
        texts["line"] = str(settings.line)
    if settings.differs:
        texts |= {"differs": settings.differs, "by": settings.by}
    return texts


def from_launch(settings: Settings) -> dict[str, str]:
    """The texts of this page for what the launch page shows."""
    return link(settings, _start)


def shows(settings: CompilerSettings) -> dict[str, Any]:
    """What the widgets show, by name."""
    return request_shows(settings) | {
        "target": settings.target,
        "stage": settings.stage,
        "differs": settings.differs or None,
        "by": settings.by if (number := digits(settings.by)) is None else number,
    }


def kept(settings: CompilerSettings) -> dict[str, str]:
    """What another operator or example leaves as it is."""
    return {name: text for name, text in write(settings).items() if name in ("target", "stage")}


state: State[CompilerSettings] = State("compiler", read, write, shows, shown=("line",))
