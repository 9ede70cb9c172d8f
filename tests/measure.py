"""Prints the figures that the launch page has to reach: `python -m tests.measure` (and `python -m tests.crowd`).

Server side: the time of one run of the page after a change, by Streamlit's own AppTest in this process, with warm workers.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from streamlit.testing.v1 import AppTest

APP = Path(__file__).parents[1] / "app.py"
REPEATS = 15

# What is typed, from a starting point to values that were not seen before.
CASES = {
    "vector add, n around 100, BLOCK_SIZE 16": ({"n_elements": "100", "BLOCK_SIZE": "16"}, "n_elements", range(101, 140)),
    "vector add, n around 98,432": ({"n_elements": "98432"}, "n_elements", range(98433, 98500)),
    "vector add, n around 2^40": ({"n_elements": str(2**40 - 100)}, "n_elements", range(2**40 - 99, 2**40)),
    "vector add, BLOCK_SIZE, three blocks of 4096 (36,864 lanes)": (
        {"n_elements": "1000000", "BLOCK_SIZE": "4096"},
        "n_elements",
        range(10**6, 10**6 + 50),
    ),
    "softmax, columns around 5000 (8192 lanes)": (
        {"operator": "softmax", "rows": "1000", "columns": "5000"},
        "columns",
        range(5001, 5050),
    ),
    "RMSNorm, 8 turns of 1024": (
        {"operator": "rms_norm", "rows": "1000", "columns": "8192", "BLOCK_SIZE": "1024"},
        "rows",
        range(1001, 1050),
    ),
    "RMSNorm backward, 16 rows a program": (
        {"operator": "rms_norm_backward", "rows": "4096", "columns": "256"},
        "rows",
        range(4000, 4050),
    ),
    "matmul, 16 turns of 32": (
        {"operator": "matmul_relu", "m": "512", "n": "512", "k": "512", "BLOCK_M": "32", "BLOCK_N": "32", "BLOCK_K": "32"},
        "m",
        range(513, 560),
    ),
    "matmul 4096^3, 64-tiles (above the limit)": (
        {"operator": "matmul_relu", "m": "4096", "n": "4096", "k": "4096"},
        "m",
        range(4000, 4050),
    ),
    "RMSNorm, 2^20 columns (above the limit)": (
        {"operator": "rms_norm", "rows": "8", "columns": "1048576"},
        "columns",
        range(1048000, 1048050),
    ),
    "matmul, K = 2^20 (above the limit)": (
        {"operator": "matmul_relu", "m": "64", "n": "64", "k": "1048576"},
        "k",
        range(1048500, 1048550),
    ),
}


def changes(texts: dict[str, str], name: str, values: range) -> Iterator[tuple[float, int]]:
    """(seconds to finished figures, bytes sent) of a run of the page after each new value."""
    import pages._launch.tracing as tracing

    drawn: list[float] = []
    original = tracing.verdict
    tracing.verdict = lambda *arguments: (drawn.append(time.perf_counter()), original(*arguments))[1]
    tracing.finish, finish = (lambda settings: None), tracing.finish
    try:
        app = AppTest.from_file(str(APP), default_timeout=60)
        for key, value in texts.items():
            app.query_params[key] = value
        app.run()
        for value in list(values)[:REPEATS]:
            drawn.clear()
            started = time.perf_counter()
            next(one for one in app.number_input if one.label == name).set_value(value).run()
            assert not app.exception, app.exception
            yield drawn[0] - started, sum(len(element.proto.SerializeToString()) for element in charts(app))
    finally:
        tracing.verdict, tracing.finish = original, finish


def charts(app: AppTest) -> list:
    return [*app.get("plotly_chart"), *app.get("html"), *app.get("bidi_component")]


def main() -> None:
    print(f"{'case':62}{'median':>9}{'worst':>9}{'payload':>10}")
    for title, (texts, name, values) in CASES.items():
        found = list(changes(texts, name, values))
        seconds, sizes = [one for one, _ in found], [size for _, size in found]
        print(
            f"{title:62}{statistics.median(seconds) * 1000:6.0f} ms{max(seconds) * 1000:6.0f} ms{max(sizes) / 1000:7.0f} kB",
            flush=True,
        )


if __name__ == "__main__":
    main()
