"""Every stage of the compiler for one launch and one target, with no GPU: TTIR, TTGIR, LLVM IR, PTX and SASS, or AMDGCN."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from subprocess import SubprocessError
from typing import Any

from ..runtime.compile import Verdict, judged
from ..runtime.device import Target
from ..runtime.request import Request
from .resources import NO_RESOURCES, Resources

STAGES = {
    "cuda": ("ttir", "ttgir", "llir", "ptx", "sass"),
    "hip": ("ttir", "ttgir", "llir", "amdgcn"),
}


@dataclass(frozen=True)
class Stages:
    """What a launch builds for a target.

    texts     -- by stage, in the order of the compiler; empty where Triton refuses to compile, without SASS where the
                 installation has no disassembler
    metadata  -- Triton's own: num_warps, num_stages, shared (bytes), hash, name, ...; empty where it refuses
    binary    -- the cubin or the hsaco
    resources -- registers, spills and shared memory, read from the binary
    ptx_lines -- of every line of the SASS the line of the PTX that it was made from, counted from 1; None where none is known
    seconds   -- Triton's own times in seconds by stage, from "source" to "store"; "cache" alone where its cache had the kernel
    cached    -- whether Triton took it from its cache
    """

    target: Target
    verdict: Verdict
    texts: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    binary: bytes = b""
    resources: Resources = NO_RESOURCES
    ptx_lines: tuple[int | None, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    cached: bool = False

    @property
    def kernel(self) -> str:
        return self.metadata.get("name", "")

    @property
    def last(self) -> str:
        """The stage that the machine runs, as text: SASS or AMDGCN."""
        return STAGES[self.target.backend][-1]


def compiled_stages(request: Request, target: Target, *, afresh: bool = False) -> Stages:
    """Compiles (or takes from Triton's cache) what a launch of the request would build; in the compile worker.

    A refusal by Triton or by the hardware's limits is in `verdict`, in words; where the hardware alone refuses, the texts are
    there all the same. With `afresh` the cache is not asked.
    """
    from triton.runtime.cache import triton_key

    from .resources import of_amdgcn, of_cubin
    from .sass import sass

    triton_key()  # reads Triton's own files once a process, 0.3 s: no part of what a kernel takes
    launch = request.launch()
    with _times(afresh) as times:
        verdict, compiled = judged(launch, target)
    if compiled is None:
        return Stages(target, verdict)
    metadata = {name: _plain(value) for name, value in compiled.metadata._asdict().items()}
    texts = {name: str(compiled.asm[name]) for name in STAGES[target.backend] if name in compiled.asm}
    if target.backend == "hip":
        found = of_amdgcn(texts["amdgcn"], metadata["shared"])
        return Stages(target, verdict, texts, metadata, compiled.asm["hsaco"], found, (), *times)
    binary = compiled.asm["cubin"]
    lines: tuple[int | None, ...] = ()
    with contextlib.suppress(OSError, RuntimeError, SubprocessError):  # some wheels bring no disassembler
        texts["sass"], lines = sass(binary, metadata["hash"], metadata["name"])
    found = of_cubin(binary, metadata["name"], metadata["shared"])
    return Stages(target, verdict, texts, metadata, binary, found, lines, *times)


@contextlib.contextmanager
def _times(afresh: bool) -> Iterator[list[Any]]:
    """Collects Triton's own times in seconds by stage, and whether its cache had the kernel."""
    from triton import knobs

    found: list[Any] = []

    def heard(times: Any, cache_hit: bool, **_: Any) -> None:
        lowered = {name: micro / 1e6 for name, micro in times.lowering_stages}
        whole = {"source": times.ir_initialization / 1e6, **lowered, "store": times.store_results / 1e6}
        found[:] = [{"cache": times.total / 1e6} if cache_hit else whole, cache_hit]

    before = knobs.compilation.listener
    knobs.compilation.listener = heard
    try:
        with knobs.compilation.scope(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if afresh:
                knobs.compilation.always_compile = True
            yield found
    finally:
        knobs.compilation.listener = before


def _plain(value: Any) -> Any:
    """A value that needs no Triton to be unpickled."""
    if isinstance(value, (str, int, float, bool, bytes, type(None))):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return str(value)
