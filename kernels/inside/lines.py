"""Which line of the kernel every line of a stage was made from, out of the debug information in the stage's own text.

What is shown of a stage leaves out the debug information itself; the text as the compiler wrote it stays in `Stages.texts`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..runtime.source import Source
from . import assembly, representation
from .stages import Stages

Marked = list[tuple[str, int | None]]


@dataclass(frozen=True)
class Listing:
    """The lines of a stage as they are shown, and for each the line of the kernel's file; None for what no line asked for."""

    lines: tuple[str, ...]
    places: tuple[int | None, ...]

    def made_from(self, place: int) -> tuple[int, ...]:
        """The numbers of the lines, from 0, that were made from a line of the kernel."""
        return tuple(number for number, one in enumerate(self.places) if one == place)


_READERS: dict[str, Callable[[str, range, str], Marked]] = {
    "ttir": representation.mlir,
    "ttgir": representation.mlir,
    "llir": representation.llvm,
    "ptx": assembly.ptx,
    "amdgcn": assembly.amdgcn,
}


def listing(stages: Stages, stage: str, source: Source, file: str) -> Listing:
    """A stage as it is shown; `source` and `file` are the kernel's, whose lines are looked for.

    Only names of files are compared: Triton's cache keeps kernels of equal text that lay in another folder.
    """
    within = range(source.first, source.first + len(source.lines))
    name = file.replace("\\", "/").rpartition("/")[2]
    if stage == "sass":
        places = assembly.ptx_places(stages.texts["ptx"], within, name)
        marked = assembly.sass(stages.texts["sass"], stages.ptx_lines, places)
    else:
        marked = _READERS[stage](stages.texts[stage], within, name)
    return Listing(tuple(text for text, _ in marked), tuple(place for _, place in marked))
