"""How many bytes one thread moves with one instruction, from the machine's text: PTX or AMDGCN."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

PLACE = re.compile(r"^\s*\.loc\s+\d+ (\d+) \d+")
PTX = re.compile(r"\b(ld|st)\.(?:volatile\.)?global(?:\.\w+(?:::\w+)*)*?(?:\.v(\d))?\.[bfsu](\d+)\b")
COPY = re.compile(r"\bcp\.async\.c[ag]\.shared\.global.*?\], (0x[0-9a-f]+|\d+)")
AMDGCN = re.compile(r"\b(?:global|buffer|flat)_(load|store)_(lds_)?(\w+)")
WORDS = {"byte": 1, "ubyte": 1, "sbyte": 1, "short": 2, "ushort": 2, "sshort": 2, "dword": 4}
INLINE = "// begin inline asm"


def widths(text: str) -> Mapping[tuple[int, str], tuple[int, ...]]:
    """(line of the kernel's file, "load", "store" or "copy") to the widths of its instructions in bytes, commonest first."""
    found: dict[tuple[int, str], Counter[int]] = {}
    place, inside = 0, False
    for line in text.split("\n"):
        inside = INLINE in line or (inside and "// end inline asm" not in line)
        told = PLACE.match(line)
        if told and not inside:  # Triton 3.9 numbers the lines of the assembly itself within it
            place = int(told[1])
        kind, width = _access(line)
        if width:
            found.setdefault((place, kind), Counter())[width] += 1
    return {key: tuple(width for width, _ in counted.most_common()) for key, counted in found.items()}


def _access(line: str) -> tuple[str, int]:
    if copied := COPY.search(line):
        return "copy", int(copied[1], 0)
    if ptx := PTX.search(line):
        return {"ld": "load", "st": "store"}[ptx[1]], int(ptx[2] or 1) * int(ptx[3]) // 8
    if amd := AMDGCN.search(line):
        to_shared = amd[2] or line.rstrip().endswith(" lds")
        return "copy" if to_shared else amd[1], _words(amd[3])
    return "", 0


def _words(text: str) -> int:
    """`dwordx4` as 16, `b64` as 8, `short_d16` as 2; 0 for another text."""
    bits = re.match(r"[bu](\d+)", text)
    if bits:
        return int(bits[1]) // 8
    found = re.match(r"([a-z]+?)(?:x(\d))?(?:_|$)", text)
    return WORDS.get(found[1], 0) * int(found[2] or 1) if found else 0
