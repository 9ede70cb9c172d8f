"""The process of the tests interprets kernels, as the trace worker does; what compiles or launches runs in workers."""

import os

import pytest
from hypothesis import settings

from . import properties  # noqa: F401  (registers the profiles)
from .lanes import is_fast

os.environ["TRITON_INTERPRET"] = "1"


def pytest_configure(config: pytest.Config) -> None:
    """Few examples of each property in the fast lane."""
    settings.load_profile("fast" if config.option.markexpr == "fast" else "whole")


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Marks the tests of the fast lane."""
    for item in items:
        if is_fast(item):
            item.add_marker("fast")


@pytest.fixture
def counting(monkeypatch):
    """Lets this process count PyTorch's steps itself, as a device's worker does."""
    from kernels.traffic.count import counted
    from kernels.traffic.known import KNOWN

    monkeypatch.setattr(KNOWN, "count", counted)
