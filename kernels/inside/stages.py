"""Every stage of the compiler for one launch and one target, with no GPU: TTIR, TTGIR, LLVM IR, PTX and SASS, or AMDGCN."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..runtime.compile import Verdict, build, in_words
from ..runtime.device import Target
from ..runtime.limits import refusal, shared_refusal
from ..runtime.request import Request

STAGES = {
    "cuda": ("ttir", "ttgir", "llir", "ptx", "sass"),
    "hip": ("ttir", "ttgir", "llir", "amdgcn"),
}


@dataclass(frozen=True)
class Stages:
    """What a launch builds for a target.

    texts    -- by stage, in the order of the compiler; empty where Triton refuses to compile
    metadata -- Triton's own: num_warps, num_stages, shared (bytes), hash, name, ...; empty where it refuses
    binary   -- the cubin or the hsaco
    seconds  -- Triton's own times in seconds by stage, "store" included; of a cached kernel what the look-up took, as "cache"
    cached   -- whether Triton took it from its cache
    """

    target: Target
    verdict: Verdict
    texts: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    binary: bytes = b""
    seconds: Mapping[str, float] = field(default_factory=dict)
    cached: bool = False

    @property
    def kernel(self) -> str:
        return self.metadata.get("name", "")

    @property
    def last(self) -> str:
        """The stage that the machine runs, as text: SASS or AMDGCN."""
        return STAGES[self.target.backend][-1]


def compiled_stages(request: Request, target: Target) -> Stages:
    """Compiles (or takes from Triton's cache) what a launch of the request would build; in the compile worker.

    A refusal by Triton or by the hardware's limits is in `verdict`, in words; where the hardware alone refuses, the texts
    are there all the same.
    """
    launch = request.launch()
    try:
        with _times() as times:
            compiled = build(launch, target)
    except Exception as error:
        reason, line = in_words(error, launch)
        refused = refusal(launch, target)
        who = Verdict(False, target.name, *(("hardware", refused) if refused else ("Triton", reason, line)))
        return Stages(target, who)
    reason = refusal(launch, target) or shared_refusal(compiled.metadata.shared, target)
    verdict = Verdict(False, target.name, "hardware", reason) if reason else Verdict(True, target.name)
    metadata = {name: _plain(value) for name, value in compiled.metadata._asdict().items()}
    binary = compiled.asm["cubin" if target.backend == "cuda" else "hsaco"]
    texts = {name: str(compiled.asm[name]) for name in STAGES[target.backend] if name in compiled.asm}
    if target.backend == "cuda":
        texts["sass"] = _sass(binary)
    return Stages(target, verdict, texts, metadata, binary, *times)


@contextlib.contextmanager
def _times() -> Iterator[list[Any]]:
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
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


def _sass(cubin: bytes) -> str:
    """The disassembly by the tool that Triton's wheel brings; raises FileNotFoundError where it brings none."""
    import subprocess
    import tempfile
    from pathlib import Path

    from triton import knobs

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        command = [knobs.nvidia.nvdisasm.path, "-g", "-c", str(path)]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
