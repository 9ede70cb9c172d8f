"""Every test can fail: it asserts, expects or waits for something, and not only under an `if`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FILES = sorted(TESTS.rglob("test_*.py"))
# Calls that raise where something is not so: pytest's, numpy's and torch's, Playwright's, and the waits of these tests.
CHECKS = {"raises", "fail", "expect", "until", "says", "at", "no_longer_at", "agrees", "wait_for", "wait_for_selector"}
CHECKS |= {"assert_close", "checked"}
CHECKING = ("np.testing.", "torch.testing.")

Functions = Mapping[str, ast.FunctionDef]


def functions(text: str) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}


def checks(node: ast.AST, known: Functions, inside: tuple[str, ...] = (), under_if: bool = False) -> Iterator[bool]:
    """For every check in a function, those of the functions it calls included, whether it stands under an `if`."""
    for child in ast.iter_child_nodes(node):
        conditional = under_if or (isinstance(node, ast.If) and child is not node.test)
        if isinstance(child, ast.Assert):
            yield conditional
        elif isinstance(child, ast.Call):
            name = ast.unparse(child.func)
            last = name.rpartition(".")[2]
            if last in CHECKS or name.startswith(CHECKING):
                yield conditional
            elif last in known and last not in inside:
                yield from (conditional or one for one in checks(known[last], known, (*inside, last)))
        yield from checks(child, known, inside, conditional)


def without_a_check(text: str) -> list[str]:
    """The names of the tests of a file that cannot fail by a check."""
    known = functions(text)
    return [name for name, node in known.items() if name.startswith("test_") and all(checks(node, known))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_every_test_of_a_file_checks_something(path):
    assert without_a_check(path.read_text()) == []


@pytest.mark.parametrize(
    ("body", "can_fail"),
    [
        ("assert value()", True),
        ("value()", False),
        ("if value():\n        assert 1", False),
        ("for one in value():\n        assert one", True),
        ("with pytest.raises(ValueError):\n        value()", True),
        ("helper()", True),
        ("if value():\n        helper()", False),
        ("np.testing.assert_allclose(1, 2)", True),
    ],
)
def test_tests_that_cannot_fail_are_found(body, can_fail):
    text = f"def helper():\n    assert value()\n\ndef test_it():\n    {body}\n"
    assert (without_a_check(text) == []) == can_fail
