"""How many bytes one thread loads with one instruction, argument by argument: what all loads together hide."""

from __future__ import annotations

from collections.abc import Mapping

from ..launch import Launch, short
from .held import held
from .stages import Stages
from .widths import widths

TEXTS = {"cuda": "ptx", "hip": "amdgcn"}


def loaded(stages: Stages, launch: Launch) -> dict[str, int]:
    """Bytes by argument, without its `_ptr`, in the order of the kernel; of several loads of one argument the narrowest.

    Copies from global to shared memory count as loads. An argument is left out where the machine's text does not tell, as of
    bulk copies.
    """
    if not stages.texts:
        return {}
    by_place = widths(stages.texts[TEXTS[stages.target.backend]])
    found: dict[str, int] = {}
    for tensor in held(stages.texts["ttgir"], launch):
        width = next(iter(by_place.get((tensor.line, tensor.kind), ())), 0)
        if width and tensor.kind in ("load", "copy") and tensor.argument in launch.tensors:
            name = short(tensor.argument)
            found[name] = min(width, found.get(name, width))
    return {name: found[name] for name in (short(one) for one in launch.tensors) if name in found}


def grouped(by_argument: Mapping[str, int]) -> dict[int, list[str]]:
    """The arguments by their width, the widest first."""
    groups: dict[int, list[str]] = {}
    for name, width in sorted(by_argument.items(), key=lambda item: -item[1]):
        groups.setdefault(width, []).append(name)
    return groups


def in_words(by_argument: Mapping[str, int]) -> str:
    """`16 B`, or `16 B (a), 2 B (b)` where the arguments differ; "" where nothing is known."""
    groups = grouped(by_argument)
    if len(groups) < 2:
        return "".join(f"{width} B" for width in groups)
    return ", ".join(f"{width} B ({', '.join(names)})" for width, names in groups.items())
