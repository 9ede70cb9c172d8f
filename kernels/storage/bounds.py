"""What a file may hold, as types: bounds within which everything that reads a record stays right and quick."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

INT64 = 2**63 - 1
# Beyond the fields of any record written so far (the longest text has 648 characters), and short enough to draw.
MOST_NAME, MOST_TEXT = 500, 20_000
# Far from the end of a float, so that sums, products and units of it stay finite.
MOST_NUMBER = 1e30

Whole = Annotated[int, Meta(ge=0, le=INT64)]
Integer = Annotated[int, Meta(ge=-INT64 - 1, le=INT64)]
Number = Annotated[float, Meta(ge=-MOST_NUMBER, le=MOST_NUMBER)]
Amount = Annotated[float, Meta(ge=0, le=MOST_NUMBER)]
Name = Annotated[str, Meta(max_length=MOST_NAME)]
Text = Annotated[str, Meta(max_length=MOST_TEXT)]


def most(count: int) -> Meta:
    """A list or a mapping of at most so many."""
    return Meta(max_length=count)
