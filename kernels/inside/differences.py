"""What differs between two listings of a stage, names of registers and values apart."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from .lines import Listing

# Names that the compiler numbers as it goes: one value more renames all that follow.
_NAMES = {
    "ttir": r"%[\w-]+",
    "ttgir": r"%[\w-]+",
    "llir": r"%[\w.]+|#\d+",
    "ptx": r"%(?:r|rd|p|rs|f|fd|b)\d+|\$L\w+|_param_\d+",
    "sass": r"/\*[0-9a-f]+\*/|\b(?:U?R|U?P|B|SB)\d+\b(?:\.reuse)?|\.L_x_\d+|\.reuse",
    "amdgcn": r"\b[vsa](?:\d+\b|\[[0-9:]+\])|\.LBB\d+_\d+|%bb\.\d+",
}
MOST_LINES = 3000


def differing(stage: str, one: Listing, other: Listing) -> tuple[frozenset[int], frozenset[int]]:
    """The numbers of lines, from 0, that only the first and only the second listing has; of very long ones the beginning."""
    names = re.compile(_NAMES[stage])
    texts = [[" ".join(names.sub("%", line).split()) for line in listing.lines[:MOST_LINES]] for listing in (one, other)]
    found: tuple[set[int], set[int]] = (set(), set())
    for kind, first, after_first, second, after_second in SequenceMatcher(None, *texts).get_opcodes():
        if kind != "equal":
            found[0].update(range(first, after_first))
            found[1].update(range(second, after_second))
    return frozenset(found[0]), frozenset(found[1])
