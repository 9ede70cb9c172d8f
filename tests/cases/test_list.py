"""Every case of the list has a test, named after it, and every test here is of a case."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

from . import CASES

HERE = Path(__file__).parent
NAME = re.compile(r"test_([a-z]\d\d)_\w+")


def names_of_tests() -> list[str]:
    """The names of the tests of all files but this one."""
    files = [path for path in sorted(HERE.glob("test_*.py")) if path != Path(__file__)]
    nodes = (node for path in files for node in ast.walk(ast.parse(path.read_text())))
    return [node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


def test_every_case_has_a_test_and_every_test_a_case():
    assert len(CASES) == 42
    named = {name: NAME.fullmatch(name) for name in names_of_tests()}
    assert [name for name, found in named.items() if not found] == []
    assert {found[1].upper() for found in named.values()} == set(CASES)


def test_no_two_tests_have_one_name():
    assert [name for name, count in Counter(names_of_tests()).items() if count > 1] == []
