"""Which tests are `fast`: those that stay in their own process and are not marked `slow`. Nobody has to mark a new one.

A test leaves its process where it, a fixture of it, or a function of the tests that one of them uses, names something of
`OUTSIDE`: another process, a worker, a page of Streamlit's, a browser.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType

import pytest

OUTSIDE = (
    "subprocess",
    "streamlit.testing",
    "playwright",
    "kernels.runtime.workers",
    "kernels.runtime.background",
    "kernels.check.child",
    "kernels.check.session",
    "pages._check.running",
)


def is_fast(item: pytest.Function) -> bool:
    """Whether a test belongs to the fast lane."""
    if item.get_closest_marker("gpu") or item.get_closest_marker("slow"):
        return False
    fixtures = (definition.func for found in item._fixtureinfo.name2fixturedefs.values() for definition in found)
    return not any(leaves_its_process(function) for function in (item.function, *fixtures))


@functools.cache
def leaves_its_process(function: FunctionType) -> bool:
    """Whether a function names something of `OUTSIDE`, or uses a function or class of the tests that does."""
    waiting, seen = [inspect.unwrap(function)], set()
    while waiting:
        seen.add(one := waiting.pop())
        for thing in named(one):
            if _is_outside(thing):
                return True
            waiting += [part for part in _of_the_tests(thing) if part not in seen]
    return False


def named(function: FunctionType) -> Iterator[object]:
    """What a function names: values of its module, and the names of modules that it imports itself."""
    hypothesis = getattr(function, "hypothesis", None)
    function = hypothesis.inner_test if hypothesis else function
    for name in _names(function.__code__):
        yield function.__globals__.get(name, name)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_outside(thing: object) -> bool:
    where = thing if isinstance(thing, str) else thing.__name__ if isinstance(thing, ModuleType) else _module(thing)
    return any(where == name or where.startswith(f"{name}.") for name in OUTSIDE)


def _module(thing: object) -> str:
    where = getattr(thing, "__module__", None)
    return where if isinstance(where, str) else ""


def _of_the_tests(thing: object) -> Iterator[FunctionType]:
    """The function, or the methods of the class, where it is one of the tests'."""
    if not _module(thing).startswith("tests."):
        return
    thing = inspect.unwrap(thing) if callable(thing) else thing
    if isinstance(thing, FunctionType):
        yield thing
    elif isinstance(thing, type):
        yield from (part for part in vars(thing).values() if isinstance(part, FunctionType))
