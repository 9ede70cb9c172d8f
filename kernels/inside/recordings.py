"""Schedules of the examples, recorded on a real GPU and shipped as data: see `python -m kernels.inside.recordings`."""

from __future__ import annotations

import datetime
import functools
import gzip
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..operator import Numbers
from ..runtime.device import attached
from ..runtime.request import Request
from .examples import EXAMPLES
from .schedule import Cost, Schedule, run_schedule

FOLDER = Path(__file__).parents[1] / "recorded" / "schedules"
ARRAYS = ("starts", "ends", "units")


def key(request: Request) -> dict[str, Any]:
    """What of a request decides its schedule, as JSON holds it."""
    tiling = request.tiling
    sizes, blocks = dict(request.problem.sizes), dict(tiling.blocks)
    warps = {"num_warps": tiling.num_warps, "num_stages": tiling.num_stages}
    return {"operator": request.operator, "dtype": request.problem.dtype, "sizes": sizes, "blocks": blocks, **warps}


def written(request: Request, schedule: Schedule) -> bytes:
    """A schedule as it is shipped; times as differences from the program before, which compress well."""
    plain = asdict(schedule) | {name: np.diff(getattr(schedule, name), prepend=0).tolist() for name in ARRAYS}
    return gzip.compress(json.dumps({"request": key(request), "schedule": plain}).encode(), mtime=0)


def read(content: bytes) -> tuple[dict[str, Any], Schedule]:
    """The inverse of `written`: the key of the request, and the schedule."""
    found = json.loads(gzip.decompress(content))
    fields = dict(found["schedule"])
    arrays = {name: np.cumsum(np.array(fields.pop(name), np.int64)) for name in ARRAYS}
    return found["request"], Schedule(**fields | {"cost": Cost(**fields["cost"])}, **arrays)


@functools.cache
def shipped() -> tuple[tuple[dict[str, Any], Schedule], ...]:
    """Every recorded schedule; none where none is shipped."""
    return tuple(read(path.read_bytes()) for path in sorted(FOLDER.glob("*.json.gz")))


def recorded(request: Request) -> Schedule | None:
    """The recorded schedule of exactly this launch; None where there is none."""
    wanted = key(request)
    return next((schedule for found, schedule in shipped() if found == wanted), None)


def nearest(request: Request) -> tuple[dict[str, Any], Schedule] | None:
    """The recorded launch of the same operator with the number of elements nearest to these; None where there is none."""
    own = [one for one in shipped() if one[0]["operator"] == request.operator]
    size = _size(request.problem.sizes)
    return min(own, key=lambda one: abs(_size(Numbers(one[0]["sizes"])) - size), default=None)


def _size(sizes: Numbers) -> float:
    return float(np.sum(np.log([max(size, 1) for size in sizes.values()])))


def main(folder: str) -> None:
    """Records every example on the first attached GPU and writes the files into a folder."""
    target = attached()[0].target
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    for operator, examples in EXAMPLES.items():
        for number, example in enumerate(examples):
            request = example.request(operator)
            found = run_schedule(request, target)
            dated = Schedule(**{**vars(found), "when": today})
            Path(folder, f"{operator}-{number}.json.gz").write_bytes(written(request, dated))
            cost = f"plain {found.cost.plain * 1e6:.2f} us, instrumented {found.cost.instrumented * 1e6:.2f} us"
            print(operator, example.title, found.programs, "programs,", found.span, "ns,", found.together(), "at once,", cost)


if __name__ == "__main__":
    main(sys.argv[1])
