"""Lines of the kernel in Triton's and LLVM's intermediate representations."""

from __future__ import annotations

import re

Marked = list[tuple[str, int | None]]

_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_USE = re.compile(r"\s*loc\((#loc\d*|.*)\)$")
_ARGUMENT = re.compile(r' loc\((?:"[^"]*"\(|callsite\()?#loc\d*(?: at #loc\d*)?\)?\)')
_TOKEN = re.compile(r'callsite|(?P<alias>#loc\d*)|"(?P<name>[^"]*)"(?::(?P<line>\d+):\d+)?| at |[()]')


def mlir(text: str, within: range, file: str) -> Marked:
    """TTIR and TTGIR: every operation ends with its location, an alias of what stands before or after the code.

    A location is a place in a file, a name with a place, or a call: the callee's place, then the caller's. The outermost place
    in the kernel counts, so that a helper's lines belong to the line that calls it. What has a body in braces has its location
    behind the body; its first line gets it too.
    """
    raw = text.split("\n")
    aliases = {found.group(1): found.group(2) for found in map(_ALIAS.match, raw) if found}
    known: dict[str, tuple[int, ...]] = {}

    def places(location: str, depth: int = 0) -> tuple[int, ...]:
        """The kernel's lines in a location, innermost first."""
        found: list[int] = []
        for token in _TOKEN.finditer(location) if depth < 64 else ():
            if alias := token["alias"]:
                if alias not in known:
                    known[alias] = places(aliases.get(alias, ""), depth + 1)
                found += known[alias]
            elif token["line"] and token["name"].replace("\\", "/").rpartition("/")[2] == file:
                found += [int(token["line"])] if int(token["line"]) in within else []
        return tuple(found)

    shown: Marked = []
    opened: list[int] = []
    for line in raw:
        if _ALIAS.match(line) or (not line and not shown):
            continue
        use = _USE.search(line)
        found = places(use.group(1)) if use else ()
        place, text = found[-1] if found else None, line.strip()
        if text.startswith("}") and opened:
            first = opened.pop()
            shown[first] = (shown[first][0], shown[first][1] or place)
        place = None if text.startswith("} loc") else place
        shown.append((_ARGUMENT.sub("", line[: use.start()] if use else line), place))
        if text.endswith("{"):
            opened.append(len(shown) - 1)
    return _without_blank_end(shown)


_DEBUG = re.compile(r"^(!\d+) = (?:distinct )?!DILocation\(line: (\d+),.*?(?:inlinedAt: (!\d+))?\)")
_MARK = re.compile(r",? !dbg (!\d+)")


def llvm(text: str, within: range, file: str) -> Marked:
    """LLVM IR: an instruction names its location, and that the one it was inlined at; the outermost one is the kernel's."""
    raw = text.split("\n")
    locations = {found.group(1): found for found in map(_DEBUG.match, raw) if found}

    def place(name: str) -> int | None:
        found = locations.get(name)
        while found is not None and found.group(3):
            found = locations.get(found.group(3))
        line = int(found.group(2)) if found else None
        return line if line in within else None

    shown: Marked = []
    for line in raw:
        if line.startswith(("!", "; ModuleID", "source_filename")):
            continue
        mark = _MARK.search(line)
        is_code = mark is not None and not line.startswith("define")
        shown.append((_MARK.sub("", line), place(mark.group(1)) if is_code else None))
    return _without_blank_end(shown)


def _without_blank_end(shown: Marked) -> Marked:
    while shown and not shown[-1][0].strip():
        shown.pop()
    return shown
