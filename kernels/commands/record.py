"""python -m kernels record: traces the examples and writes the pictures that ship with the explorer."""

from __future__ import annotations

from .. import operators
from ..language import MISSING
from ..runtime.recorded import FILE, key, write
from ..runtime.settings import corrected
from .options import Parser


def main(arguments: list[str]) -> int:
    """Writes one file with a picture of every example, at the program that is shown first."""
    Parser(prog="python -m kernels record", description=__doc__).parse_args(arguments)
    if MISSING:
        Parser(prog="python -m kernels record").error(MISSING)
    from ..runtime.draw import draw

    found = {}
    for operator in operators().values():
        for preset in operator.presets:
            texts = {name: str(value) for name, value in {**preset.sizes, **preset.blocks}.items()}
            settings, _ = corrected({"operator": operator.name, "dtype": preset.dtype, **texts})
            found[key(settings.request, settings.program)] = draw(settings.request, settings.program)
    write(found)
    print(f"{len(found)} pictures, {FILE.stat().st_size / 1000:.0f} kB, in {FILE.relative_to(FILE.parents[2])}")
    return 0
