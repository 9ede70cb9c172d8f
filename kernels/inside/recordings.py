"""Schedules of the examples, recorded on a real GPU and shipped as data: see `python -m kernels.inside.recordings`."""

from __future__ import annotations

import datetime
import functools
import gzip
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..operator import Numbers
from ..runtime.device import attached
from ..runtime.request import Request
from ..storage import codec, files
from .examples import EXAMPLES
from .schedule import Schedule, run_schedule

FOLDER = Path(__file__).parents[1] / "recorded" / "schedules"
ARRAYS = ("starts", "ends", "units")


@dataclass(frozen=True)
class Launched:
    """What of a request decides its schedule."""

    operator: str
    dtype: str
    sizes: Mapping[str, int]
    blocks: Mapping[str, int]
    num_warps: int
    num_stages: int


@dataclass(frozen=True)
class Recording:
    """A launch and its schedule; raises ValueError where the schedule's arrays are not as long as each other."""

    request: Launched
    schedule: Schedule

    def __post_init__(self) -> None:
        lengths = {name: getattr(self.schedule, name).size for name in ARRAYS}
        if len(set(lengths.values())) > 1 or not self.schedule.programs:
            raise ValueError(f"a schedule of {lengths}, not of one or more programs with all three")


def key(request: Request) -> Launched:
    """What of a request decides its schedule."""
    tiling, problem = request.tiling, request.problem
    sizes, blocks = dict(problem.sizes), dict(tiling.blocks)
    return Launched(request.operator, problem.dtype, sizes, blocks, tiling.num_warps, tiling.num_stages)


def written(request: Request, schedule: Schedule) -> bytes:
    """A schedule as it is shipped; times as differences from the program before, which compress well."""
    steps = {name: np.diff(getattr(schedule, name), prepend=0) for name in ARRAYS}
    return gzip.compress(codec.compact(Recording(key(request), replace(schedule, **steps))), mtime=0)


def read(content: bytes, name: str = "schedule") -> tuple[Launched, Schedule]:
    """The inverse of `written`: the key of the request, and the schedule. Raises UnreadableError."""
    found = codec.decoded(Recording, gzip.decompress(content), name)
    arrays = {name: np.cumsum(getattr(found.schedule, name)) for name in ARRAYS}
    return found.request, replace(found.schedule, **arrays)


@functools.cache
def shipped() -> tuple[tuple[Launched, Schedule], ...]:
    """Every recorded schedule; none where none is shipped."""
    return tuple(read(files.content(path), path.name) for path in sorted(FOLDER.glob("*.json.gz")))


def recorded(request: Request) -> Schedule | None:
    """The recorded schedule of exactly this launch; None where there is none."""
    wanted = key(request)
    return next((schedule for found, schedule in shipped() if found == wanted), None)


def nearest(request: Request) -> tuple[Launched, Schedule] | None:
    """The recorded launch of the same operator with the number of elements nearest to these; None where there is none."""
    own = [one for one in shipped() if one[0].operator == request.operator]
    size = _size(request.problem.sizes)
    return min(own, key=lambda one: abs(_size(Numbers(one[0].sizes)) - size), default=None)


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
            dated = replace(found, when=today)
            Path(folder, f"{operator}-{number}.json.gz").write_bytes(written(request, dated))
            cost = f"plain {found.cost.plain * 1e6:.2f} us, instrumented {found.cost.instrumented * 1e6:.2f} us"
            print(operator, example.title, found.programs, "programs,", found.span, "ns,", found.together(), "at once,", cost)


if __name__ == "__main__":
    main(sys.argv[1])
