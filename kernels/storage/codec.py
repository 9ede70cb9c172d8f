"""Values as JSON and back, by their types: frozen dataclasses, tuples, mappings and NumPy arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf, nan
from typing import Any, Literal, TypeVar

import msgspec

from .bounds import Whole

Value = TypeVar("Value")
MOST_SAID = 200  # of a value that is quoted: it may be a whole file
NAMES = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "nothing",
}


class UnreadableError(ValueError):
    """A file or a text that is not what it should be; its text is one line that says what is wrong with it."""


@dataclass(frozen=True)
class Header:
    """What every record starts with: which kind of record it is, and by which version of its fields it was written."""

    kind: Any = None
    schema: Any = None


@dataclass(frozen=True)
class Array:
    """An array as JSON: the name of its dtype, its shape, its items in row-major order, null for NaN, texts for infinities."""

    array: str
    shape: tuple[Whole, ...]
    items: list[bool | int | float | Literal["inf", "-inf"] | None]


def encoded(value: Any) -> bytes:
    """A value as JSON, an item a line; floats read back equal, and a one-dimensional array of int64 is a list."""
    return msgspec.json.format(compact(value), indent=1) + b"\n"


def compact(value: Any) -> bytes:
    """A value as JSON in one line."""
    return msgspec.json.encode(value, enc_hook=_as_json)


def decoded(kind: type[Value], content: bytes | str, name: str) -> Value:
    """The value of that type; fields that it has not are left out, so that newer files can be read.

    Raises UnreadableError with the file's name, the path of what is wrong ("$.points[0].timed") and what was expected.
    """
    try:
        return msgspec.json.decode(content, type=kind, dec_hook=_from_json)
    except msgspec.ValidationError as error:
        raise UnreadableError(f"{name}: damaged: {_in_words(str(error))}.") from None
    except (ValueError, RecursionError, msgspec.DecodeError):
        raise UnreadableError(f"{name}: not a JSON file, or cut short.") from None


def converted(kind: type[Value], value: Any, name: str) -> Value:
    """The value of that type from what JSON held; raises UnreadableError as `decoded` does."""
    try:
        return msgspec.convert(value, kind, dec_hook=_from_json)
    except msgspec.ValidationError as error:
        raise UnreadableError(f"{name}: damaged: {_in_words(str(error))}.") from None


def record(kind: type[Value], content: bytes | str, name: str, what: str) -> Value:
    """The record in a file's content, where it says to be of that kind and of a schema up to the one of its type.

    Raises UnreadableError for anything else; `what` is the kind of record in a word.
    """
    header = _header(content, name)
    if header.kind != _default(kind, "kind"):
        raise UnreadableError(f"{name}: JSON, but not a {what} of this program.")
    newest = _default(kind, "schema")
    if not isinstance(header.schema, int) or header.schema > newest:
        raise UnreadableError(f"{name}: of schema {str(header.schema)[:20]}, and this version reads up to {newest}.")
    return decoded(kind, content, name)


def _header(content: bytes | str, name: str) -> Header:
    try:
        return msgspec.json.decode(content, type=Header)
    except msgspec.ValidationError:
        return Header()
    except (ValueError, RecursionError, msgspec.DecodeError):
        raise UnreadableError(f"{name}: not a JSON file, or cut short.") from None


def _default(kind: type, name: str) -> Any:
    """What a field of a dataclass is unless given."""
    return next(field.default for field in fields(kind) if field.name == name)


def _in_words(message: str) -> str:
    """What msgspec says of a value that does not fit, its path first: "$.seed: expected a whole number, got a text"."""
    text, _, path = message.rpartition(" - at ") if " - at " in message else (message, "", "$")
    text = re.sub(r"`(\w+)`", lambda found: NAMES.get(found[1], found[1]), text).replace("`", "")
    return f"{path.strip('`')}: {text[:1].lower()}{text[1:MOST_SAID]}"


def _as_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    import numpy as np  # not above: the check starts without it, and writes no arrays there

    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray):
        raise TypeError(f"a {type(value).__name__} cannot be written")
    if value.ndim == 1 and value.dtype == np.int64:
        return value.tolist()
    items = value.astype(np.float64) if value.dtype.kind == "f" else value
    return Array(value.dtype.name, value.shape, [_item(item) for item in items.ravel().tolist()])


def _item(item: Any) -> Any:
    """An item as JSON has it, which knows neither NaN nor infinity."""
    if item != item:
        return None
    return str(item) if item in (inf, -inf) else item


def _from_json(kind: type, value: Any) -> Any:
    import numpy as np

    if kind is not np.ndarray:
        raise NotImplementedError
    given = Array("int64", (len(value),), value) if isinstance(value, list) else msgspec.convert(value, Array)
    try:
        dtype = np.dtype(given.array)
        if dtype.kind not in "biuf":
            raise TypeError(f"{given.array[:20]!r} is no type of numbers")
        items = [nan if item is None else float(item) if isinstance(item, str) else item for item in given.items]
        if dtype.kind in "iu" and not all(isinstance(item, int) and _fits(item, np.iinfo(dtype)) for item in items):
            raise ValueError(f"not every item is a whole number of {dtype.name}")  # NumPy 1.26 would wrap and cut them
        return np.array(items, dtype).reshape(given.shape)
    except OverflowError as error:
        raise ValueError(str(error)) from None


def _fits(item: int, limits: Any) -> bool:
    return limits.min <= item <= limits.max
