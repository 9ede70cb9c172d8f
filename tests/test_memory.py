"""What changes and sessions leave behind in the server; `python -m tests.memory` measures more of them."""

from __future__ import annotations

from .memory import run

CHANGE = 0.05  # megabytes that a change may leave behind; it was 0.15 while pictures and callbacks were kept
SESSION = 1.0  # megabytes for a session, some of which Streamlit still holds


def test_a_change_leaves_next_to_nothing_behind():
    found = run(changes=320, sessions=8, first=220)
    assert found.changed - found.first < 100 * CHANGE, found
    assert found.closed - found.changed < 8 * SESSION, found
