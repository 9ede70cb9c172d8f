"""What the compile command tells of a launch: one JSON object's worth of figures and warnings."""

from __future__ import annotations

import re
from typing import Any

from ..runtime.device import Target
from ..runtime.request import Request
from .fits import fits
from .mix import mix
from .moved import loaded
from .remarks import remarks
from .stages import Stages

_LAYOUT = re.compile(r"^(#\w+) = (#tt\w*\.\w+<.*>)$", re.MULTILINE)


def report(request: Request, target: Target, stages: Stages) -> dict[str, Any]:
    """Figures by name, sizes in bytes, times in seconds; None for what is not known, as where Triton refuses to compile."""
    verdict, launch, resources = stages.verdict, request.launch(), stages.resources
    counted = mix(stages) if stages.texts else None
    spilled = resources.spill_bytes
    return {
        "operator": request.operator,
        "kernel": launch.kernel.__name__,
        "target": target.name,
        "launchable": verdict.launchable,
        "who": verdict.who,
        "reason": verdict.reason,
        "line": verdict.line,
        "grid": list(launch.grid),
        "threads": launch.num_warps * target.warp_size,
        "num_warps": launch.num_warps,
        "num_stages": launch.num_stages,
        "registers": resources.registers,
        "spills": None if spilled is None else spilled // 4,
        "spill_bytes": spilled,
        "shared_bytes": resources.shared_bytes,
        "layouts": layouts(stages),
        "instructions": dict(counted.kinds) if counted else None,
        "load_bytes": counted and {str(width): count for width, count in counted.loads.items()},
        "argument_load_bytes": loaded(stages, launch) if counted else None,
        "store_bytes": counted and {str(width): count for width, count in counted.stores.items()},
        "matrix_instructions": dict(counted.matrix) if counted else None,
        "warnings": list(remarks(request, target, stages)),
        "fits": [] if verdict.launchable else [one.change for one in fits(request, target)],
        "seconds": dict(stages.seconds),
        "from_cache": stages.cached,
        "hash": stages.metadata.get("hash"),
    }


def layouts(stages: Stages) -> dict[str, str]:
    """The layouts of the TTGIR by the names that it gives them, as it writes them."""
    return dict(_LAYOUT.findall(stages.texts.get("ttgir", "")))
