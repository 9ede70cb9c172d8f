"""python -m kernels record-gpu: makes what ships from a real GPU and is not there yet: runs, schedules, a check."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from .. import Operator, operators
from ..measure import runs
from ..measure.sweep import ALL_SIZES
from ..measure.ways import directions_of
from . import bench
from .options import Parser

FOLDER = Path(__file__).parents[1] / "recorded"
DTYPES = ("float32", "bfloat16")


def main(arguments: list[str]) -> int:
    """Records on the first attached GPU; exit code 4, after one sentence, where there is none."""
    parser = Parser(prog="python -m kernels record-gpu", description=__doc__, epilog=main.__doc__)
    parser.add_argument("--folder", default=str(FOLDER), help="where; the folder that ships unless given")
    parser.add_argument("--again", action="store_true", help="also what is recorded already")
    parser.add_argument("--seconds", type=float, default=3600.0, help="start nothing new after so many")
    given = parser.parse_args(arguments)
    reason = bench.no_gpu()
    if reason:
        print(f"python -m kernels record-gpu: {reason}", file=sys.stderr)
        return bench.NO_GPU
    folder, ends = Path(given.folder).expanduser(), time.monotonic() + given.seconds
    steps = (_schedules, _check, _runs)  # what is short comes first
    return max(step(folder, ends, again=given.again) for step in steps)


@dataclass(frozen=True)
class Wanted:
    """One run that ships: a point, or a sweep along an axis."""

    operator: str
    dtype: str
    direction: str = "forward"
    axis: str | None = None

    @property
    def arguments(self) -> list[str]:
        """What `bench` is asked for; gradients go without counters, sweeps without what takes seconds to compile."""
        asked = [self.operator, "--dtype", self.dtype]
        if self.axis:
            return [*asked, "--sweep", self.axis, "--without", "compiled"]
        return [*asked, "--counters"] if self.direction == "forward" else [*asked, "--direction", self.direction]


def wanted() -> Iterator[Wanted]:
    """Every run that ships, what matters most first."""
    measured = [operator for operator in operators().values() if operator.measured]
    for dtype in DTYPES:
        for operator in measured:
            for direction in directions_of(operator):
                yield Wanted(operator.name, dtype, direction)
    for dtype in DTYPES:
        for place in range(max(len(swept(operator)) for operator in measured)):
            for operator in measured:
                for axis in swept(operator)[place : place + 1]:
                    yield Wanted(operator.name, dtype, axis=axis)


def swept(operator: Operator) -> tuple[str, ...]:
    """The axes that are recorded of an operator: all sizes of a product together, of a vector its length and block."""
    if operator.product:
        return (ALL_SIZES,)
    sizes = tuple(size.name for size in reversed(operator.sizes))
    return (*sizes, *operator.extents[:1], *(("num_warps",) if len(sizes) > 1 else ()))


def recorded(one: Wanted, folder: Path) -> bool:
    """Whether that run lies in the folder already."""
    there = {
        Wanted(point.operator, point.dtype, point.direction, run.axis)
        for _, run in runs.listed(folder)[0]
        for point in run.points[:1]
    }
    return one in there


def _runs(folder: Path, ends: float, *, again: bool) -> int:
    """Every run as `bench` makes it, without the card's name."""
    code = 0
    for one in wanted():
        if time.monotonic() > ends or (not again and recorded(one, folder / "runs")):
            continue
        with tempfile.TemporaryDirectory() as made:
            code = max(code, bench.main([*one.arguments, "--folder", made]))
            for _, run in runs.listed(Path(made))[0]:
                runs.save(replace(run, device=replace(run.device, uuid=None)), folder / "runs")
    return code


def _schedules(folder: Path, ends: float, *, again: bool) -> int:
    """Which multiprocessor ran which program: the hardware page's examples."""
    from ..inside import recordings

    place = folder / "schedules"
    if time.monotonic() < ends and (again or not list(place.glob("*.json.gz"))):
        place.mkdir(parents=True, exist_ok=True)
        recordings.main(str(place))
    return 0


def _check(folder: Path, ends: float, *, again: bool) -> int:
    """The whole check of every card, their UUIDs left out; what the check found is its own affair."""
    from .check import main as check

    if time.monotonic() > ends or (not again and list(folder.glob("check-*.json"))):
        return 0
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "check.json"
        code = check(["--json", str(path), "--no-save"])
        text = path.read_text()
    cards = json.loads(text)["cards"]
    for number, card in enumerate(cards):
        text = text.replace(card["key"], f"recorded-{number}")
    name = "-".join(cards[0]["name"].lower().split()) if cards else "none"
    (folder / f"check-{name}{f'-x{len(cards)}' if len(cards) > 1 else ''}.json").write_text(text)
    return code if code == bench.NO_GPU else 0
