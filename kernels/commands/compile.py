"""python -m kernels compile: whether Triton's compiler and the hardware's limits accept a launch."""

from __future__ import annotations

import dataclasses
import json
import warnings

from ..language import MISSING
from .options import Parser, parser_for, request_from


def main(arguments: list[str]) -> int:
    """Prints the verdict for the GPU attached, else for the target named; exit code 0 either way."""
    parser, operator = parser_for("compile", arguments, __doc__ or "")
    given = parser.parse_args(arguments)
    request = request_from(parser, operator, given)
    target = target_from(parser, given.target)
    from ..runtime.compile import Verdict, verdict

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Verdict(False, target.name, "Triton", MISSING) if MISSING else verdict(request.launch(), target)
    if given.json:
        print(json.dumps(dataclasses.asdict(found)))
    else:
        print(f"{found.target}: accepted." if found.launchable else f"{found.target}: refused. {found.who}: {found.reason}")
    return 0


def target_from(parser: Parser, name: str | None) -> object:
    """The named target, else that of the GPU attached, else the default one."""
    from ..runtime.device import DEFAULT_TARGET, attached, find_target

    try:
        if name is None and attached():
            return attached()[0].target
        return find_target(name or DEFAULT_TARGET)
    except ValueError as error:
        parser.error(str(error))
