"""The tasks of the workers that look inside a launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import in_sentences
from ..runtime.device import Target
from ..runtime.request import Request

if TYPE_CHECKING:
    from .fits import Fit
    from .stages import Stages
    from .variants import Variant


def stages_job(request: Request, target: Target, afresh: bool = False) -> Stages:
    """In the compile worker: see `compiled_stages`."""
    from .stages import compiled_stages

    with in_sentences():
        return compiled_stages(request, target, afresh=afresh)


def remarks_job(request: Request, target: Target) -> tuple[str, ...]:
    """In the compile worker: see `remarks`."""
    from .remarks import remarks
    from .stages import compiled_stages

    with in_sentences():
        return remarks(request, target, compiled_stages(request, target))


def report_job(request: Request, target: Target) -> tuple[Stages, dict[str, Any]]:
    """In the compile worker: see `compiled_stages` and `report`."""
    from .report import report
    from .stages import compiled_stages

    with in_sentences():
        stages = compiled_stages(request, target)
        return stages, report(request, target, stages)


def variants_job(request: Request, target: Target) -> tuple[Variant, ...]:
    """In the compile worker: see `variants`."""
    from .stages import compiled_stages
    from .variants import variants

    with in_sentences():
        return variants(request, target, compiled_stages(request, target))


def fits_job(request: Request, target: Target) -> tuple[Fit, ...]:
    """In the compile worker: see `fits`."""
    from .fits import fits

    with in_sentences():
        return fits(request, target)


def interpreted_job(request: Request) -> str | None:
    """In the trace worker: see `interpreted`."""
    from .interpreted import interpreted

    with in_sentences():
        return interpreted(request)
