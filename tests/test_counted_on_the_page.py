"""PyTorch's bytes on the fusion page: at once where they ship, from the worker elsewhere, and a sentence without torch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import streamlit

from kernels.traffic.known import KNOWN

from .limits import PATIENCE
from .test_fusion_page import fusion
from .test_pages import ROOT, chart, words


def bytes_of(app) -> list[int]:
    """The bytes of each row of the picture, from top to bottom."""
    bars = [trace for trace in chart(app, "bytes")["data"] if trace["type"] == "bar"]
    return [sum(sum(trace["x"]) for trace in bars[at : at + 2]) for at in range(0, len(bars), 2)]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # Seven matrices of 1001 x 77 and six columns, a row; two matrices and a row.
        ({"operator": "rms_norm", "rows": "1001", "columns": "77"}, [7 * 308_308 + 6 * 4004 + 308, 2 * 308_308 + 308]),
        ({"operator": "softmax", "rows": "1001", "columns": "77"}, [8 * 308_308 + 4 * 4004 + 8008, 2 * 308_308]),
    ],
    ids=str,
)
def test_a_size_that_does_not_ship_is_counted_by_the_worker(texts, expected):
    KNOWN.clear()
    app = fusion(**texts)
    assert bytes_of(app) == expected
    assert "are being counted" not in words(app)


def test_without_torch_the_shipped_counts_are_shown_and_a_sentence_elsewhere(tmp_path):
    for package in Path(streamlit.__file__).parents[1].iterdir():
        if package.name.split("-")[0] != "torch":
            (tmp_path / package.name).symlink_to(package)
    code = (
        "from tests.test_fusion_page import fusion\n"
        "from tests.test_pages import words\n"
        "print(words(fusion()).count('1.07 GB instead of 3.76 GB'), words(fusion(rows='1001', columns='77')))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 ")
    assert "PyTorch is not installed here, and its steps are counted with it" in done.stdout
