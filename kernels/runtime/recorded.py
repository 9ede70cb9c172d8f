"""Pictures of the examples, shipped as data for machines without Triton. Made by `python -m kernels record`."""

from __future__ import annotations

import dataclasses
import functools
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

from . import picture as types
from .picture import Picture
from .records import Turn
from .request import Request

FILE = Path(__file__).parents[1] / "recorded" / "pictures.json.gz"
_TYPES = {one.__name__: one for one in (types.Lanes, types.Sample, types.Place, types.Cells, types.Memory, types.Picture, Turn)}


def encoded(value: Any) -> Any:
    """A picture, or a part of one, as JSON can hold it."""
    if dataclasses.is_dataclass(value):
        fields = {field.name: encoded(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"type": type(value).__name__, **fields}
    if isinstance(value, np.ndarray):
        plain = value.astype(np.float64) if value.dtype.kind == "f" else value
        items = [None if item != item else item for item in plain.ravel().tolist()]
        return {"array": value.dtype.name, "shape": value.shape, "items": items}
    if isinstance(value, (tuple, list)):
        return [encoded(item) for item in value]
    if isinstance(value, dict):
        return {"pairs": [[encoded(key), encoded(item)] for key, item in value.items()]}
    return value


def decoded(value: Any) -> Any:
    """The inverse of `encoded`; lists become tuples."""
    if isinstance(value, list):
        return tuple(decoded(item) for item in value)
    if not isinstance(value, dict):
        return value
    if "array" in value:
        items = [float("nan") if item is None else item for item in value["items"]]
        return np.array(items, value["array"]).reshape(value["shape"])
    if "pairs" in value:
        return {decoded(key): decoded(item) for key, item in value["pairs"]}
    fields = {name: decoded(item) for name, item in value.items() if name != "type"}
    return _TYPES[value["type"]](**fields)


@functools.cache
def _shipped() -> dict[str, Any]:
    if not FILE.exists():
        return {}
    return json.loads(gzip.decompress(FILE.read_bytes()))


def key(request: Request, chosen: int) -> str:
    """How a picture is found again."""
    sizes = {**request.problem.sizes, **request.tiling.blocks}
    return f"{request.operator} {request.problem.dtype} {sizes} seed {request.seed} program {chosen}"


def recorded_picture(request: Request, chosen: int) -> Picture | None:
    """The shipped picture of an example's program; None where there is none."""
    plain = not request.what_if and request.layout == "contiguous"
    found = _shipped().get(key(request, chosen)) if plain else None
    return dataclasses.replace(decoded(found), origin="recorded") if found else None
