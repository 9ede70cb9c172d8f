"""Counts that are known without counting: those that ship, and those that a worker has given this process."""

from __future__ import annotations

import functools
import gzip
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from ..runtime.request import Request
from ..storage import codec, files
from .steps import Counted

FILE = Path(__file__).parents[1] / "recorded" / "traffic.json.gz"
MOST = 2048  # counts that are kept, of about 1 kB each


def key(request: Request) -> str:
    """What a count depends on: neither the blocks nor the seed."""
    problem = request.problem
    sizes = ", ".join(f"{name} {value}" for name, value in problem.sizes.items())
    given = "".join(f", {name} {value!r}" for name, value in request.description.values(problem).items())
    return f"{request.operator} {problem.dtype} {request.layout}: {sizes}{given}"


class Known:
    """Counts by their requests; those not asked for the longest are dropped."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.count: Callable[[Request], Counted] | None = None
        self._counts: OrderedDict[str, Counted] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, request: Request) -> Counted | None:
        """The count, worked out here where this process does that; None where it is not known and may yet come."""
        name = key(request)
        with self._lock:
            if name in self._counts:
                self._counts.move_to_end(name)
                return self._counts[name]
        if name in shipped():
            return codec.decoded(Counted, shipped()[name], FILE.name)
        return self._counted_here(request)

    def keep(self, request: Request, count: Counted) -> None:
        """Keeps what a worker counted."""
        with self._lock:
            self._counts[key(request)] = count
            while len(self._counts) > self.most:
                self._counts.popitem(last=False)

    def clear(self) -> None:
        """Forgets what does not ship."""
        with self._lock:
            self._counts.clear()

    def _counted_here(self, request: Request) -> Counted | None:
        if self.count is None:
            return None
        try:
            found = self.count(request)
        except Exception:  # PyTorch refuses such sizes, as those whose bytes no 64 bits hold: nothing is launched
            return None
        self.keep(request, found)
        return found


KNOWN = Known()


def count_here() -> None:
    """From now on this process, which has torch, counts what it does not know."""
    from .count import counted

    KNOWN.count = counted


@functools.cache
def shipped() -> Mapping[str, msgspec.Raw]:
    """The counts of the examples and of the recorded runs, each still as JSON; none where none ship."""
    if not FILE.exists():
        return {}
    return codec.decoded(dict[str, msgspec.Raw], gzip.decompress(files.content(FILE)), FILE.name)


def write(counts: Mapping[str, Counted]) -> None:
    """Writes the file that ships."""
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_bytes(gzip.compress(codec.compact(dict(sorted(counts.items()))), mtime=0))
