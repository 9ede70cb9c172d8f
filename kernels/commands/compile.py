"""python -m kernels compile: what a launch builds for a target, what that takes, and whether it would be accepted."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from ..errors import TaskError, joined
from ..language import MISSING
from ..runtime.compile import NO_ANSWER, Verdict
from ..runtime.device import Target
from .options import Parser, add_target, parser_for, request_from

if TYPE_CHECKING:
    from ..inside.stages import Stages

EMITTED = ("ttir", "ttgir", "llir", "ptx", "sass", "amdgcn")
SECONDS = 300


def main(arguments: list[str]) -> int:
    """Prints figures and warnings, or one stage's text, for the GPU attached, else for the target named.

    Exit code 0 whether the launch is accepted or refused; 1 where the compiler crashed, hung, or gave no such stage.
    """
    parser, operator = parser_for("compile", arguments, __doc__ or "")
    add_target(parser)
    parser.add_argument("--emit", choices=EMITTED, help="print this stage as the compiler wrote it")
    given = parser.parse_args(arguments)
    request = request_from(parser, operator, given)
    target = target_from(parser, given.target)
    if MISSING:
        return _told({"target": target.name, "launchable": False, "who": NO_ANSWER, "reason": MISSING}, given.json)
    from ..inside.jobs import report_job
    from ..runtime.workers import Workers

    workers = Workers()
    try:
        stages, figures = workers["compile"].call(report_job, request, target, seconds=SECONDS, kill=True)
    except TaskError as error:
        print(f"python -m kernels compile: {joined(str(error))}", file=sys.stderr)
        return 1
    finally:
        workers.close()
    return _emitted(stages, given.emit) if given.emit else _told(figures, given.json)


def target_from(parser: Parser, name: str | None) -> Target:
    """The named target, else that of the GPU attached, else the default one."""
    from ..runtime.device import DEFAULT_TARGET, attached, find_target

    try:
        if name is None and attached():
            return attached()[0].target
        return find_target(name or DEFAULT_TARGET)
    except ValueError as error:
        parser.error(str(error))


def _emitted(stages: Stages, stage: str) -> int:
    if stage in stages.texts:
        print(stages.texts[stage])
        return 0
    has = f"It has {', '.join(stages.texts)}." if stages.texts else _words(stages.verdict)
    print(f"python -m kernels compile: there is no {stage} for {stages.target.name}. {has}", file=sys.stderr)
    return 1


def _told(figures: dict[str, Any], as_json: bool) -> int:
    if as_json:
        print(json.dumps(figures))
        return 0
    verdict = Verdict(figures["launchable"], figures["target"], figures["who"], figures["reason"])
    print(_words(verdict))
    if figures.get("registers") is not None:
        widths = ", ".join(f"{count} of {width} bytes" for width, count in figures["load_bytes"].items()) or "none"
        print(f"  registers     {figures['registers']} a thread, {figures['threads']:,} threads a program")
        print(f"  spilled       {figures['spill_bytes']:,} bytes a thread")
        print(f"  shared memory {figures['shared_bytes']:,} bytes a program")
        print(f"  loads         {widths}; {sum(figures['instructions'].values()):,} instructions in all")
        for name, layout in figures["layouts"].items():
            print(f"  layout        {name} = {layout}")
    for change in figures.get("fits", ()):
        print(f"  would fit     {change}")
    for warning in figures.get("warnings", ()):
        if warning != figures["reason"]:
            print(f"  warning       {warning}")
    return 0


def _words(verdict: Verdict) -> str:
    if verdict.launchable:
        return f"{verdict.target}: accepted."
    if not verdict.refused:
        return f"{verdict.target}: not known. {joined(verdict.reason or '')}"
    return f"{verdict.target}: refused. {verdict.who}: {verdict.reason}"
