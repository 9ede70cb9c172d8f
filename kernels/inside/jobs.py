"""The tasks of the compile worker that look inside a launch."""

from __future__ import annotations

from ..runtime.device import Target
from ..runtime.jobs import in_words
from ..runtime.request import Request
from .stages import Stages


def stages_job(request: Request, target: Target) -> Stages:
    """In the compile worker: see `compiled_stages`."""
    from .stages import compiled_stages

    with in_words():
        return compiled_stages(request, target)
