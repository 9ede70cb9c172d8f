"""A kernel rewritten so that it reports every statement and every turn of its loops.

Triton's interpreter rewrites a kernel's syntax tree once before it runs it; this adds to that rewriting. Line numbers stay
those of the file. `sys.settrace` would see the same, at two to three times the cost and in the rewriter's own frames as well.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from triton.runtime import interpreter

STEP, TURNS, WHILES = "_trace_step", "_trace_turns", "_trace_whiles"
_REPORTED = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)
_rewritten: dict[Any, tuple[Callable[..., Any], dict[int, int]]] = {}


class _Probe(interpreter.ASTTransformer):
    """Adds `_trace_step(line, locals())` after every statement; what a `for` runs over and what a `while` asks is reported."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        node = super().generic_visit(node)
        for name in ("body", "orelse"):
            statements = getattr(node, name, None)
            if isinstance(statements, list) and not isinstance(node, ast.Module):
                setattr(node, name, [part for statement in statements for part in self._reported(statement)])
        if isinstance(node, ast.For):
            line = ast.Constant(node.lineno)
            node.iter = ast.Call(ast.Name(TURNS, ast.Load()), [line, node.iter], [])
            node.body.insert(0, self._report(node, node.lineno))
        elif isinstance(node, ast.While):
            node.test = ast.Call(ast.Name(WHILES, ast.Load()), [ast.Constant(node.lineno), node.test], [])
        return node

    def _reported(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        yield statement
        if isinstance(statement, _REPORTED):
            yield self._report(statement, statement.lineno)

    def _report(self, place: ast.stmt, line: int) -> ast.stmt:
        call = ast.parse(f"{STEP}({line}, locals())").body[0]
        for part in ast.walk(call):
            ast.copy_location(part, place)
        # Line numbers in the tree are made absolute after this transformation; the constant is not, so it counts from `def`.
        return call


def probed(kernel: interpreter.InterpretedFunction) -> tuple[Callable[..., Any], dict[int, int]]:
    """The rewritten function, and for every line of the file the first line of the statement it belongs to."""
    if kernel.fn not in _rewritten:
        before = interpreter.FunctionRewriter.ast_transformer
        interpreter.FunctionRewriter.ast_transformer = _Probe()
        try:
            function = kernel.rewriter.rewrite_ast()
        finally:
            interpreter.FunctionRewriter.ast_transformer = before
        _rewritten[kernel.fn] = function, statement_lines(kernel.fn)
    return _rewritten[kernel.fn]


def definition(function: Callable[..., Any]) -> tuple[ast.FunctionDef, int]:
    """The syntax tree of a kernel's definition, with the line of the file that its line 1 is."""
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree, first


def statement_lines(function: Callable[..., Any]) -> dict[int, int]:
    """Every line of the file that a simple statement spans, with the statement's first line."""
    tree, first = definition(function)
    spans = [node for node in ast.walk(tree) if isinstance(node, _REPORTED)]
    lines = [(node.lineno, line) for node in spans for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)]
    return {line + first - 1: start + first - 1 for start, line in lines}


@contextlib.contextmanager
def watched_by(
    kernel: interpreter.InterpretedFunction,
    step: Callable[[int, dict[str, Any]], None],
    turns: Callable[[int, Iterable[Any]], Iterator[Any]],
    whiles: Callable[[int, Any], Any],
) -> Iterator[None]:
    """Lets the probes of this kernel report to these functions, for one trace; lines count from `def`."""
    scope, reporters = kernel.fn.__globals__, {STEP: step, TURNS: turns, WHILES: whiles}
    scope.update(reporters)
    try:
        yield
    finally:
        for name in reporters:
            scope.pop(name, None)
