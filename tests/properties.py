"""How many examples a property is tried with: all that it asks for, and few in the fast lane."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

FEW = 3

# A busy machine is only slow: no example has a deadline, and none is too slow to be drawn.
settings.register_profile("whole", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=150)
settings.register_profile("fast", settings.get_profile("whole"), max_examples=FEW)


def examples(count: int) -> settings:
    """So many examples, or as many as the profile allows."""
    return settings(max_examples=min(count, settings.default.max_examples))
