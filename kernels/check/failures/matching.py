"""Which known failures a text shows, the first cause first."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .recipe import Failure, Recipe, Sign

AT_MOST = 3  # failures that are told of one text
LINE = 300  # characters of the line that are shown
# A match begins at most 1,000 characters before its word and ends at most 1,000 after it, so that windows that overlap by 2,000
# lose none.
BEFORE, AFTER, STEP = 1000, 3000, 2000


def explained(text: str, recipes: Iterable[Recipe]) -> tuple[Failure, ...]:
    """The failures in a text, at most three: causes in the order of the text, without their consequences; guesses last."""
    text = text.replace("İ", "I")  # the only letter whose lower case is longer: places in both texts must agree
    lowered = text.lower()
    found = {recipe.id: (recipe, match) for recipe in recipes if (match := _earliest(recipe, text, lowered))}
    causes = [one for one in found.values() if not found.keys() & set(one[0].follows)]
    causes.sort(key=lambda one: (not one[0].certain, one[1].start()))
    return tuple(_told(recipe, match) for recipe, match in causes[:AT_MOST])


def _earliest(recipe: Recipe, text: str, lowered: str) -> re.Match[str] | None:
    matches = [match for sign in recipe.signs if (match := _search(sign, text, lowered))]
    return min(matches, key=lambda match: match.start(), default=None)


def _search(sign: Sign, text: str, lowered: str) -> re.Match[str] | None:
    """The first match of a sign's pattern, looked for around its word only."""
    place = lowered.find(sign.word)
    while place >= 0:
        if match := sign.compiled.search(text, max(place - BEFORE, 0), place + AFTER):
            return match
        place = lowered.find(sign.word, place + STEP)
    return None


def _told(recipe: Recipe, match: re.Match[str]) -> Failure:
    text = match.string
    start = text.rfind("\n", 0, match.start()) + 1
    end = text.find("\n", match.end())
    line = text[max(start, match.start() - LINE // 2) : end if end >= 0 else len(text)][: 2 * LINE]
    line = "".join(letter if letter.isprintable() else " " for letter in line).strip()[:LINE]
    return recipe.told(match.groupdict(), line, text.count("\n", 0, match.start()) + 1)
