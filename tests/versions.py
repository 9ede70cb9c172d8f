"""Runs the tests with the oldest packages that requirements.txt allows, and with the newest: `python -m tests.versions`.

Makes a fresh virtual environment for each set in a temporary folder, which takes 5 to 10 GB where torch comes with CUDA, and
removes it afterwards. Exit code 1 where an installation or a test fails.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETS = ("oldest", "newest")
TESTS = ("-n", "2")
SHOWN = ("torch", "triton", "streamlit", "plotly", "pandas", "numpy", "orjson", "loky")


def requirements(kind: str) -> list[str]:
    """The project's own requirements as that set has them, and what the tests need beside them."""
    own = _lines(ROOT / "requirements.txt")
    tests = [line for line in _lines(ROOT / "tests" / "requirements.txt") if not line.startswith("-r")]
    return [*(pinned(line) for line in (*own, *triton(tests)) if kind == "oldest"), *(own if kind == "newest" else ()), *tests]


def triton(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if re.match(r"triton\b", line)]


def pinned(line: str) -> str:
    """A lower bound as the only release allowed, with its newest correction: "torch>=2.11,<3" is "torch==2.11.*"."""
    return re.sub(r">=([\d.]+)[^;]*", r"==\1.*", line, count=1)


def _lines(path: Path) -> list[str]:
    lines = (line.split("#")[0].strip() for line in path.read_text().split("\n"))
    return [line for line in lines if line]


def installed(python: Path) -> str:
    """The versions that are there, in a line."""
    code = f"from importlib.metadata import version; print(*(f'{{name}} {{version(name)}}' for name in {SHOWN}), sep=', ')"
    return subprocess.run([python, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def tested(kind: str, folder: Path, tests: Sequence[str]) -> bool:
    """Whether a set installs and its tests pass; says so in two lines."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    (folder / "set.txt").write_text("\n".join(requirements(kind)))
    install = [python, "-m", "pip", "install", "--quiet", "--no-cache-dir", "-r", folder / "set.txt"]
    if subprocess.run(install, check=False).returncode:
        print(f"{kind}: cannot be installed", flush=True)
        return False
    print(f"{kind}: {installed(python)}", flush=True)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    right = subprocess.run(command, cwd=ROOT, check=False).returncode == 0
    print(f"{kind}: {'passed' if right else 'FAILED'}", flush=True)
    return right


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.versions", description=__doc__)
    parser.add_argument("--only", choices=SETS, help="one of the two sets")
    parser.add_argument("tests", nargs="*", default=TESTS, help="for pytest, after --; all tests unless given: -- -m fast")
    given = parser.parse_args(arguments)
    results = []
    for kind in (given.only,) if given.only else SETS:
        with tempfile.TemporaryDirectory(prefix=f"versions-{kind}-") as folder:
            results.append(tested(kind, Path(folder), given.tests or TESTS))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
