"""What the hardware's side of a launch needs of its compiled kernel, without the texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..runtime.compile import Verdict, judged
from ..runtime.device import Target
from ..runtime.request import Request
from .held import Held, held
from .resources import NO_RESOURCES, Resources, of_amdgcn, of_cubin
from .widths import widths


@dataclass(frozen=True)
class Analysis:
    """A launch compiled for a target; nothing but the verdict where Triton refuses.

    `widths` maps (line, kind) to the bytes that one instruction of one thread moves, the commonest width first.
    """

    target: Target
    verdict: Verdict
    warps: int = 0
    tensors: tuple[Held, ...] = ()
    widths: Mapping[tuple[int, str], tuple[int, ...]] = field(default_factory=dict)
    resources: Resources = NO_RESOURCES

    @property
    def accesses(self) -> tuple[Held, ...]:
        """The tensors that are loaded or stored."""
        return tuple(one for one in self.tensors if one.kind != "sum")

    def width(self, tensor: Held) -> int:
        """Bytes that one thread moves of a tensor with one instruction; 0 where the machine's text does not tell."""
        return next(iter(self.widths.get((tensor.line, tensor.kind), ())), 0)


def analysis(request: Request, target: Target) -> Analysis:
    """Compiles (or takes from Triton's cache) and reads; in the compile worker."""
    launch = request.without_change().launch()
    verdict, compiled = judged(launch, target)
    if compiled is None:
        return Analysis(target, verdict)
    shared = compiled.metadata.shared
    if target.backend == "cuda":
        text, found = compiled.asm["ptx"], of_cubin(compiled.asm["cubin"], compiled.metadata.name, shared)
    else:
        text, found = compiled.asm["amdgcn"], of_amdgcn(compiled.asm["amdgcn"], shared)
    tensors = held(str(compiled.asm["ttgir"]), launch)
    return Analysis(target, verdict, compiled.metadata.num_warps, tensors, widths(text), found)
