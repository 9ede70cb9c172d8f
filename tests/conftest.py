"""The process of the tests interprets kernels, as the trace worker does; what compiles or launches runs in workers."""

import os

import pytest

from .lanes import is_fast

os.environ["TRITON_INTERPRET"] = "1"


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Marks the tests of the fast lane."""
    for item in items:
        if is_fast(item):
            item.add_marker("fast")
