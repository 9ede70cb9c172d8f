"""The worker that compiles, one for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernels.runtime.workers import Worker, Workers


@pytest.fixture(scope="module")
def compiler() -> Iterator[Worker]:
    workers = Workers()
    yield workers["compile"]
    workers.close()
