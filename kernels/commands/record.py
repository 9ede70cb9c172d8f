"""python -m kernels record: traces and counts the examples, and writes what ships with the explorer of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .. import DTYPES, operators
from ..language import MISSING
from ..measure import runs, ways
from ..operator import Operator, Preset
from ..runtime import recorded
from ..runtime.request import Request
from ..runtime.settings import Settings, corrected
from ..traffic import known
from .options import Parser


def main(arguments: list[str]) -> int:
    """Writes a picture of every example, at the program that is shown first, and the counts of PyTorch's steps."""
    Parser(prog="python -m kernels record", description=__doc__).parse_args(arguments)
    if MISSING:
        Parser(prog="python -m kernels record").error(MISSING)
    from ..runtime.draw import draw
    from ..traffic.count import counted

    examples = [example(operator, preset) for operator in operators().values() for preset in operator.presets]
    pictures = {recorded.key(one.request, one.program): draw(one.request, one.program) for one in examples}
    recorded.write(pictures)
    _said(len(pictures), "pictures", recorded.FILE)
    counts = {known.key(request): counted(request) for request in countable()}
    known.write(counts)
    _said(len(counts), "counts", known.FILE)
    return 0


def example(operator: Operator, preset: Preset) -> Settings:
    """The settings of an example as a page has them."""
    texts = {name: str(value) for name, value in {**preset.sizes, **preset.blocks}.items()}
    return corrected({"operator": operator.name, "dtype": preset.dtype, **texts})[0]


def countable() -> Iterator[Request]:
    """Every request whose count ships: the examples, the sizes at which fusion shows in every dtype, and recorded runs'."""
    for operator in operators().values():
        if operator.pytorch is not None:
            yield from (example(operator, preset).request for preset in operator.presets)
        for dtype in DTYPES if operator.pytorch is not None and operator.measured else ():
            start = example(operator, replace(operator.measured_start, dtype=dtype)).request
            yield from (ways.request_of(start, direction) for direction in ways.directions_of(operator))
    for run in runs.recorded():
        for point in run.points:
            yield from (point.request, ways.request_of(point.request, point.direction))


def _said(count: int, what: str, file: Path) -> None:
    print(f"{count} {what}, {file.stat().st_size / 1000:.0f} kB, in {file.relative_to(file.parents[2])}")
