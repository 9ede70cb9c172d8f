"""How long tests wait, in one place: a wait ends with what it waits for, so its limit costs time only where a test fails.

No test of what is right asks how fast it came: that is `python -m tests.measure`, on a quiet machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

PATIENCE = float(os.environ.get("TESTS_PATIENCE", "300"))  # seconds; a busy machine has needed 60 for a page of 3


def until(condition: Callable[[], object], every: float = 0.02) -> None:
    """Waits until that is so. Raises AssertionError where it is not within `PATIENCE`."""
    ends = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < ends, f"not so within {PATIENCE:.0f} s"
        time.sleep(every)
