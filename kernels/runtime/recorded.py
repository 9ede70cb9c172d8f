"""Pictures of the examples, shipped as data for machines without Triton. Made by `python -m kernels record`."""

from __future__ import annotations

import functools
import gzip
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from ..storage import codec, files
from .picture import Picture
from .request import Request

FILE = Path(__file__).parents[1] / "recorded" / "pictures.json.gz"


def write(pictures: Mapping[str, Picture]) -> None:
    """Writes the file that ships: pictures by their keys."""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_bytes(gzip.compress(codec.compact(pictures), mtime=0))


@functools.cache
def _shipped() -> dict[str, msgspec.Raw]:
    """The pictures by their keys, each still as JSON; none where none ship."""
    if not FILE.exists():
        return {}
    return codec.decoded(dict[str, msgspec.Raw], gzip.decompress(files.content(FILE)), FILE.name)


def key(request: Request, chosen: int) -> str:
    """How a picture is found again."""
    sizes = {**request.problem.sizes, **request.tiling.blocks}
    return f"{request.operator} {request.problem.dtype} {sizes} seed {request.seed} program {chosen}"


def recorded_picture(request: Request, chosen: int) -> Picture | None:
    """The shipped picture of an example's program; None where there is none."""
    unchanged = not request.what_if and request.layout == "contiguous"
    found = _shipped().get(key(request, chosen)) if unchanged else None
    return replace(codec.decoded(Picture, found, FILE.name), origin="recorded") if found else None
