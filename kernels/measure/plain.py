"""Frozen dataclasses as what JSON holds, and back; needs nothing but Python."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from math import isfinite
from typing import Any

WORDS = {float: "a number", int: "a whole number", str: "a text", bool: "true or false"}


def plain(value: Any) -> Any:
    """A value as what JSON holds; floats with nine digits."""
    if dataclasses.is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def built(kind: Any, value: Any, where: str = "run") -> Any:
    """The value of that type from what JSON held; unknown fields are left out, so that newer files can be read.

    Raises ValueError that names the place where something of another type was found, or is missing.
    """
    if dataclasses.is_dataclass(kind):
        return _built_dataclass(kind, value, where)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return None if value is None else built(next(one for one in inner if one is not type(None)), value, where)
    if origin is tuple:
        _expect(value, list, where, "a list")
        return tuple(built(inner[0], one, f"{where}[{number}]") for number, one in enumerate(value))
    if origin is not None:
        _expect(value, dict, where, "an object")
        return {key: built(inner[1], one, f"{where}.{key}") for key, one in value.items()}
    allowed = (int, float) if kind is float else kind
    _expect(value, allowed, where, WORDS.get(kind, kind.__name__))
    return kind(value)


def _built_dataclass(kind: Any, value: Any, where: str) -> Any:
    _expect(value, dict, where, "an object")
    types_of = typing.get_type_hints(kind)
    given = {}
    for one in dataclasses.fields(kind):
        if one.name in value:
            given[one.name] = built(types_of[one.name], value[one.name], f"{where}.{one.name}")
        elif one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING:
            raise ValueError(f"{where}.{one.name} is missing")
    return kind(**given)


def _expect(value: Any, kind: Any, where: str, words: str) -> None:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{where} is {str(value)[:40]!r} and not {words}")
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{where} is {value}, and no measurement is")
