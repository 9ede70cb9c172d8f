"""Holds the figures of the pages against their limits: `python -m tests.measure` (and `python -m tests.crowd`).

Server side: the time of one run of a page after a change, by Streamlit's own AppTest in this process, with warm workers. The
limits are those of a quiet machine with two cores; `--allowance 10` takes ten times as long for well. Exit code 1 where one is
missed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from streamlit.testing.v1 import AppTest

from .limits import PATIENCE

APP = Path(__file__).parents[1] / "app.py"
COMPILER = Path(__file__).parents[1] / "pages" / "compiler.py"
REPEATS = 15
SECONDS = 0.3  # the most that the median of a change may take; a person feels more as waiting

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


@dataclass(frozen=True)
class Figure:
    """What was measured, in seconds, and the most that its median may be; `payload`: bytes sent at most, where counted."""

    title: str
    seconds: Sequence[float]
    limit: float
    payload: int | None = None

    def misses(self, allowance: float) -> bool:
        return statistics.median(self.seconds) > allowance * self.limit

    def line(self, allowance: float) -> str:
        median, worst = (f"{1000 * value:6.0f} ms" for value in (statistics.median(self.seconds), max(self.seconds)))
        payload = "" if self.payload is None else f"{self.payload / 1000:.0f} kB"
        missed = "  MISSED" if self.misses(allowance) else ""
        return f"{self.title:62}{median}{worst}{1000 * allowance * self.limit:6.0f} ms{payload:>10}{missed}"


def launch_page(repeats: int) -> Iterator[Figure]:
    """Changes on the launch page, to finished figures."""
    for title, (texts, name, values) in CASES.items():
        found = list(changes(texts, name, values, repeats))
        yield Figure(title, [seconds for seconds, _ in found], SECONDS, max(size for _, size in found))


def changes(texts: dict[str, str], name: str, values: range, repeats: int) -> Iterator[tuple[float, int]]:
    """(seconds to finished figures, bytes sent) of a run of the page after each new value."""
    import pages._launch.tracing as tracing

    drawn: list[float] = []
    original = tracing.verdict
    tracing.verdict = lambda *arguments: (drawn.append(time.perf_counter()), original(*arguments))[1]
    tracing.finish, finish = (lambda settings: None), tracing.finish
    try:
        app = AppTest.from_file(str(APP), default_timeout=PATIENCE)
        for key, value in texts.items():
            app.query_params[key] = value
        app.run()
        for value in list(values)[:repeats]:
            drawn.clear()
            started = time.perf_counter()
            next(one for one in app.number_input if one.label == name).set_value(value).run()
            assert not app.exception, app.exception
            yield drawn[0] - started, sum(len(element.proto.SerializeToString()) for element in charts(app))
    finally:
        tracing.verdict, tracing.finish = original, finish


def charts(app: AppTest) -> list:
    return [*app.get("plotly_chart"), *app.get("html"), *app.get("bidi_component")]


def compiler_page(repeats: int) -> Iterator[Figure]:
    """Changes on the compiler page: to a kernel that was compiled before, and to one that was not."""
    app = AppTest.from_file(str(COMPILER), default_timeout=PATIENCE)
    app.session_state["entered"] = True
    app.query_params["n_elements"], app.query_params["BLOCK_SIZE"] = "98432", "512"
    app.run()
    run_with(app, "BLOCK_SIZE", 1024)
    cached = [run_with(app, "BLOCK_SIZE", (512, 1024)[number % 2]) for number in range(repeats)]
    yield Figure("compiler page, a kernel that is cached", cached, 0.3)
    new = [run_with(app, "num_warps", warps) for warps in (1, 2, 8)]
    yield Figure("compiler page, a new small kernel", new, 2.0)


def run_with(app: AppTest, name: str, value: int) -> float:
    """Seconds that a run of the page takes after that was typed."""
    started = time.perf_counter()
    next(one for one in app.number_input if one.label == name).set_value(value).run()
    assert not app.exception, app.exception
    return time.perf_counter() - started


def workers(repeats: int) -> Iterator[Figure]:
    """From giving a task up until the one who asked goes on, and until a worker that hangs was ended at its limit of 1 s."""
    from kernels.runtime.workers import WorkerError, Workers

    class GivenUpError(BaseException):
        """Raised by the one who asks."""

    def give_up() -> None:
        raise GivenUpError

    found = Workers()
    worker = found["trace"]
    worker.call(time.sleep, 0, seconds=PATIENCE)
    given_up = [took(lambda: worker.call(time.sleep, 0.1, seconds=9, checkpoint=give_up), GivenUpError) for _ in range(repeats)]
    yield Figure("a task given up", given_up, 0.3)
    hung = [took(lambda: worker.call(time.sleep, 60, seconds=1), WorkerError) for _ in range(2)]
    yield Figure("a worker that hangs, ended at its limit of 1 s", hung, 3.0)
    found.close()


def took(call: Callable[[], object], error: type[BaseException]) -> float:
    """Seconds until a call ends with that error."""
    started = time.perf_counter()
    try:
        call()
    except error:
        return time.perf_counter() - started
    raise AssertionError(f"no {error.__name__}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.measure", description=__doc__)
    parser.add_argument("--allowance", type=float, default=1.0, help="by how much limits are stretched on a busy machine")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="how many changes of each kind")
    given = parser.parse_args(arguments)
    print(f"{'case':62}{'median':>9}{'worst':>9}{'limit':>9}{'payload':>10}")
    missed = 0
    for part in (launch_page, compiler_page, workers):
        for figure in part(given.repeats):
            print(figure.line(given.allowance), flush=True)
            missed += figure.misses(given.allowance)
    print(f"{missed} limits missed." if missed else "All within their limits.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
