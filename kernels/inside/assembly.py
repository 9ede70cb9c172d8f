"""Lines of the kernel in PTX, SASS and AMDGCN."""

from __future__ import annotations

import re
from collections.abc import Iterator

Marked = list[tuple[str, int | None]]
Spot = tuple[str, str, str]  # file, line, column

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"')
_PTX_LOC = re.compile(r"^\s*\.loc\s+(\d+) (\d+) (\d+)(?:.*inlined_at (\d+) (\d+) (\d+))?")
_AMD_LOC = re.compile(r"^\s*\.loc\s+(\d+) (\d+)")
_CALLED_AT = re.compile(r"([\w.]+):(\d+):\d+(?=[\s\]]*$)")
_NOISE = re.compile(
    r"^\s*(\.loc\s|\.cfi_|\.file\s|\$L__|\.Ltmp|\.Lfunc|// (begin|end) inline asm|//\s+(-- |\.globl|@)|;#ASM|//$)|^\s*$"
)
_ADDRESS = re.compile(r"^(/\*[0-9a-f]+\*/)\s+")
_INSTRUCTION = re.compile(r"^\t(@!?%p\d+ )?[a-z]")


def ptx(text: str, within: range, file: str) -> Marked:
    """PTX without its debug tables and marks."""
    places = ptx_places(text, within, file)
    shown: Marked = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith((".section", ".file")) and "debug" in line:
            break
        if not _NOISE.match(line):
            shown.append((line, places.get(number)))
    return shown


def ptx_places(text: str, within: range, file: str) -> dict[int, int]:
    """The kernel's line of every instruction of the PTX, by the number of its line, from 1."""
    return {number: line for number, (name, line) in _ptx_spots(text) if line in within and name == file}


def _ptx_spots(text: str) -> Iterator[tuple[int, tuple[str, int]]]:
    """(number of the line, (name of the file, line)) for every instruction: where it was inlined, the outermost call.

    Marks between the two comments around inline assembly are passed over: the assembler counts the lines of the inline text
    on from the line of the source (Triton 3.9), so they name lines that have nothing to do with it.
    """
    files = _files(text)
    callers: dict[Spot, Spot] = {}
    now: tuple[str, int] | None = None
    inline = False
    for number, line in enumerate(text.split("\n"), 1):
        inline = (inline or "// begin inline asm" in line) and "// end inline asm" not in line
        found = _PTX_LOC.match(line)
        if found and not inline:
            spot = found.group(1, 2, 3)
            callers.pop(spot, None)
            if found.group(4):
                callers[spot] = found.group(4, 5, 6)
            outer = _outermost(spot, callers)
            now = _called_at(line) or (files.get(outer[0], ""), int(outer[1]))
        elif now and _INSTRUCTION.match(line):
            yield number, now


def _outermost(spot: Spot, callers: dict[Spot, Spot]) -> Spot:
    for _ in range(len(callers)):
        spot = callers.get(spot, spot)
    return spot


def _files(text: str) -> dict[str, str]:
    """The names of the files, without their folders, by the numbers that marks call them."""
    found = filter(None, map(_FILE.match, text.split("\n")))
    return {one.group(1): one.group(2).replace("\\", "/").rpartition("/")[2] for one in found}


def _called_at(line: str) -> tuple[str, int] | None:
    """The outermost call in the comment behind a mark; LLVM writes it there, of PTX in Triton 3.6 nowhere else."""
    found = _CALLED_AT.search(line) if "@[" in line else None
    return (found.group(1), int(found.group(2))) if found else None


def sass(text: str, ptx_lines: tuple[int | None, ...], places: dict[int, int]) -> Marked:
    """SASS with less space, up to the padding that follows the last instruction; `places` are those of the PTX."""
    pairs = zip(text.split("\n"), ptx_lines, strict=True)
    shown = [(_ADDRESS.sub(r"\1  ", line.strip()), places.get(number or 0)) for line, number in pairs]
    while shown and (shown[-1][0].endswith("NOP;") or shown[-1][0].endswith(":")):
        shown.pop()
    return shown


def amdgcn(text: str, within: range, file: str) -> Marked:
    """AMDGCN up to the end of the code, without its debug tables and marks."""
    files = _files(text)
    shown: Marked = []
    now: int | None = None
    for line in text.split("\n"):
        if line.lstrip().startswith((".section", ".amdgpu_metadata")):
            break
        if found := _AMD_LOC.match(line):
            name, number = _called_at(line) or (files.get(found.group(1), ""), int(found.group(2)))
            now = number if name == file and number in within else None
        elif not _NOISE.match(line):
            shown.append((line, now if line.startswith("\t") and line[1:2].isalpha() else None))
    return shown
