"""Runs the tests that are new since a revision against the product of that revision: `python -m tests.on_parent REV`.

Prints those that pass there, which hold what was right already, and those that cannot be collected there. Tests count as new
by their names: one that was changed and kept its name is not run. Exit code 2 where REV is not a revision.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
REPORT = "on_parent.xml"


@dataclass(frozen=True)
class Outcome:
    """Names of new tests by what became of them at the revision; `uncollected` are those that its product cannot import."""

    passed: tuple[str, ...]
    failed: tuple[str, ...]
    skipped: tuple[str, ...]
    uncollected: tuple[str, ...]


@contextmanager
def checkout(revision: str) -> Iterator[Path]:
    """A worktree of that revision in a temporary folder, removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="on-parent-") as folder:
        place = Path(folder) / "product"
        subprocess.run(["git", "worktree", "add", "--detach", "--quiet", str(place), revision], cwd=ROOT, check=True)
        try:
            yield place
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(place)], cwd=ROOT, check=True)


def _pytest(place: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(place), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=place, env=environment, stdout=subprocess.PIPE, text=True, check=False).stdout


def collected(place: Path) -> tuple[str, ...]:
    """The names of all tests there, in order; files that cannot be imported have none."""
    lines = _pytest(place, "--collect-only", "--continue-on-collection-errors").split("\n")
    return tuple(line for line in lines if re.match(r"tests/\S+\.py::", line))


def replace_tests(place: Path) -> None:
    """Puts the tests as they are now, and how pytest is set up, over those of the revision."""
    shutil.rmtree(place / "tests")
    shutil.copytree(ROOT / "tests", place / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", place / "pyproject.toml")


def run(place: Path, names: Sequence[str], options: Sequence[str]) -> Outcome:
    """Runs those tests there; a test in a file that cannot be imported is `uncollected`."""
    there = set(collected(place))
    known = [name for name in names if name in there]
    uncollected = tuple(name for name in names if name not in there)
    if not known:
        return Outcome((), (), (), uncollected)
    (place / "names.txt").write_text("\n".join(known))
    _pytest(place, f"--junitxml={REPORT}", *options, "@names.txt")
    states = dict(outcomes(place / REPORT))
    by_state = {state: tuple(name for name in known if states.get(key(name)) == state) for state in ("passed", "skipped")}
    failed = tuple(name for name in known if states.get(key(name)) not in ("passed", "skipped"))
    return Outcome(by_state["passed"], failed, by_state["skipped"], uncollected)


def key(name: str) -> tuple[str, str]:
    """A test's name as JUnit's report splits it: module with classes, and function."""
    path, *classes, function = re.split(r"::", name, maxsplit=name.partition("[")[0].count("::"))
    return ".".join([path.removesuffix(".py").replace("/", "."), *classes]), function


def outcomes(report: Path) -> Iterator[tuple[tuple[str, str], str]]:
    """(key, "passed", "failed" or "skipped") of each test of a report."""
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        state = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        yield (case.get("classname", ""), case.get("name", "")), state


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.on_parent", description=__doc__)
    parser.add_argument("revision", help="a commit, a branch or a tag")
    parser.add_argument("options", nargs="*", help="more for pytest, after --: for example -- -n 2")
    given = parser.parse_args(arguments)
    known = ["git", "rev-parse", "--verify", "--quiet", f"{given.revision}^{{commit}}"]
    if subprocess.run(known, cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode:
        parser.error(f"{given.revision!r} is not a revision; one is for example HEAD~1.")
    with checkout(given.revision) as place:
        before = set(collected(place))
        new = [name for name in collected(ROOT) if name not in before]
        replace_tests(place)
        outcome = run(place, new, given.options)
    for title, names in (("pass there", outcome.passed), ("cannot be collected there", outcome.uncollected)):
        print(f"{len(names)} of {len(new)} new tests {title}" + (":" if names else "."), *names, sep="\n  ")
    print(f"{len(outcome.failed)} fail there, {len(outcome.skipped)} are skipped.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
