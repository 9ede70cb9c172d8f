"""What a dtype and real parameters do to the numbers of a launch: what a person entered in sight, the rest one click down."""

from __future__ import annotations

from kernels.runtime.request import Request
from pages._html import Markup, joined, show
from pages._parts import say


def numerics(request: Request) -> None:
    """The operator's remarks on its numbers; nothing where it has none."""
    operator, problem = request.description, request.problem
    found = operator.remarks(problem) if operator.remarks else ()
    for remark in found:
        if remark.entered:
            say(remark.text)
    general = [Markup("<p>{}</p>").format(remark.text) for remark in found if not remark.entered]
    if general:
        layout = '<details class="say numerics"><summary>What {} does to these numbers</summary>{}</details>'
        show(Markup(layout).format(problem.dtype, joined(general)))
