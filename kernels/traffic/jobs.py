"""What the interpret worker does for counts: it has torch."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import sentence
from ..runtime.request import Request
from .steps import Counted


def count_job(requests: Sequence[Request]) -> list[Counted | str]:
    """Of every request the count, or why there is none, as a sentence."""
    from .known import KNOWN

    return [KNOWN.get(request) or _count(request) for request in requests]


def _count(request: Request) -> Counted | str:
    from .known import KNOWN

    try:
        from .count import counted

        count = counted(request)
    except Exception as error:
        return sentence(error).text
    KNOWN.keep(request, count)
    return count
