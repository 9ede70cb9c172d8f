"""What a launch would build, for any target, with no GPU: Triton compiles for targets that are not attached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..arguments import resolved
from ..errors import EnvironmentFailure, sentence
from ..launch import ITEMSIZE, Descriptor, Launch, Tensor, unwrapped
from ..launch.dtypes import TABLE
from ..operator import INT32_END
from . import source
from .device import Target
from .limits import refusal, shared_refusal

NO_ANSWER = "The compiler gave no result"


@dataclass(frozen=True)
class Verdict:
    """Whether a launch would be accepted on a target; if not, why, in the words of `who` refuses it.

    `who` is "Triton", "hardware", or NO_ANSWER where the compiler could not say: nobody refuses the launch then.
    """

    launchable: bool
    target: str
    who: str | None = None
    reason: str | None = None
    line: int | None = None

    @property
    def refused(self) -> bool:
        return not self.launchable and self.who != NO_ANSWER


def source_of(launch: Launch, target: Target) -> tuple[Any, Any]:
    """The kernel with the types and the specialisation that a launch gives it, and the compiler's options.

    A whole number equal to 1 becomes a constant; one divisible by 16 and an aligned pointer are marked so; a number past
    2^31 - 1 is 64 bits wide; AMD's backend is told which tensors lie within 2 GB. Triton packs these as `JITFunction.run`
    does, so that a launch finds in the cache what was compiled here. Its own look at a tensor is not used: of AMD it imports
    torch, which takes seconds.
    """
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    launch, _ = unwrapped(launch)
    kernel, constants = launch.kernel, resolved(launch.constants)
    given = {name: constants.get(name, launch.arguments.get(name)) for name in kernel.arg_names}
    found = [_specialised(name, value, constants, target) for name, value in given.items()]
    options = {"num_warps": launch.num_warps, "num_stages": launch.num_stages}
    backend = make_backend(GPUTarget(target.backend, target.arch, target.warp_size))
    parsed, signature, constexprs, attributes = kernel._pack_args(backend, options, given, found, None)
    return ASTSource(kernel, signature, constexprs, attributes), parsed


def _specialised(name: str, value: Any, constants: Mapping[str, Any], target: Target) -> tuple[Any, Any]:
    """The type of an argument, and what is known of it: "D" divisible by 16, "S" within 2 GB; of a constant its value."""
    if name in constants or value is None or (type(value) is int and value == 1):
        return "constexpr", value
    if isinstance(value, Tensor):
        return f"*{TABLE[value.dtype].signature}", _known_of(value, target)
    if isinstance(value, Descriptor):
        return f"tensordesc<{TABLE[value.tensor.dtype].signature}{list(value.block_shape)}>", None
    if isinstance(value, tuple):
        types, known = zip(*(_specialised(name, item, {}, target) for item in value), strict=True)
        return tuple(types), tuple(known)
    if isinstance(value, bool):
        return "u1", None
    if isinstance(value, float):
        return "fp32", None
    return "i32" if -INT32_END <= value < INT32_END else "i64", "D" if value % 16 == 0 else ""


def _known_of(tensor: Tensor, target: Target) -> str:
    """What is known of a tensor's address: that it is divisible by 16 where its offset is, and that it lies within 2 GB."""
    from triton import knobs

    aligned = "D" if tensor.offset * ITEMSIZE[tensor.dtype] % 16 == 0 else ""
    near = target.backend == "hip" and knobs.amd.use_buffer_ops and tensor.extent * ITEMSIZE[tensor.dtype] < INT32_END
    return f"{aligned}S" if near else aligned


def build(launch: Launch, target: Target) -> Any:
    """Compiles (or takes from Triton's cache) and returns Triton's CompiledKernel; raises what Triton raises."""
    import triton
    from triton.backends.compiler import GPUTarget

    source, options = source_of(launch, target)
    gpu = GPUTarget(target.backend, target.arch, target.warp_size)
    return triton.compile(source, gpu, options.__dict__)


def verdict(launch: Launch, target: Target) -> Verdict:
    """Asks the hardware's limits and Triton's compiler."""
    if reason := refusal(launch, target):
        return Verdict(False, target.name, "hardware", reason)
    return judged(launch, target)[0]


def judged(launch: Launch, target: Target) -> tuple[Verdict, Any]:
    """The verdict, and what Triton built: None where it refuses, there all the same where the hardware alone does.

    Raises EnvironmentFailure where neither refuses and this machine cannot compile.
    """
    reason = refusal(launch, target)
    try:
        compiled = build(launch, target)
    except Exception as error:
        told = sentence(error)
        if reason:
            return Verdict(False, target.name, "hardware", reason), None
        if told.environment:
            raise EnvironmentFailure(told.text) from None
        return Verdict(False, target.name, "Triton", told.text, _line(error, launch)), None
    reason = reason or shared_refusal(compiled.metadata.shared, target)
    return Verdict(reason is None, target.name, reason and "hardware", reason), compiled


def _line(error: BaseException, launch: Launch) -> int | None:
    """The line of the kernel's file that an error of Triton's means."""
    place = getattr(error, "node", None)
    return place.lineno + source.source_of(launch.kernel).first - 1 if hasattr(place, "lineno") else None
