"""What is known of a failure: the words it shows itself by, why it happens, what to do, and where that is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Sign:
    """Words that a failure writes. `word`, in lower case, stands in every text that `pattern` matches.

    The word is looked for first, and the pattern is tried around it only: a search costs a few microseconds per word, a pattern
    over the whole text milliseconds. Every gap in a pattern is bounded, so that a search is linear in the text.
    """

    word: str
    pattern: str

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, ready to search."""
        return re.compile(self.pattern, re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class Failure:
    """A recipe filled with the names that a message gives; `line` is the line it was recognised by, 1 the first of a text."""

    id: str
    title: str
    cause: str
    fix: str
    sources: tuple[str, ...]
    certain: bool
    line: str = ""
    line_number: int = 0


@dataclass(frozen=True)
class Recipe:
    """A known failure. Title, cause and fix may hold {names} of the patterns' groups; `unnamed` stands in where one is missing.

    `certain` is False where the words allow more than one cause: then the texts say "may". `follows` are failures that this one
    is a consequence of: it is left out where one of them is in the same text.
    """

    id: str
    title: str
    cause: str
    fix: str
    sources: tuple[str, ...]
    signs: tuple[Sign, ...]
    certain: bool = True
    follows: tuple[str, ...] = ()
    unnamed: Mapping[str, str] = field(default_factory=dict)

    def told(self, named: Mapping[str, str | None] | None = None, line: str = "", line_number: int = 0) -> Failure:
        """The failure in words, with the names that were found."""
        given = {name: value for name, value in (named or {}).items() if value}
        names = {**self.unnamed, **given}
        title, cause, fix = (text.format_map(names) for text in (self.title, self.cause, self.fix))
        return Failure(self.id, title, cause, fix, self.sources, self.certain, line, line_number)


def issues(*places: str) -> tuple[str, ...]:
    """The addresses of GitHub issues, given as owner/name#number."""
    return tuple(f"https://github.com/{place.replace('#', '/issues/')}" for place in places)
