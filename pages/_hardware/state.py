"""The settings of the hardware page: a launch, a GPU, and what of them is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernels import find, operators
from kernels.inside.examples import EXAMPLES
from kernels.inside.facts import CHIPS, DEFAULT
from kernels.inside.sectors import PATTERNS
from kernels.runtime.request import Request
from kernels.runtime.settings import DEFAULT_OPERATOR, SHORT, Settings, corrected, digits, link
from pages._gpus import gpus
from pages._state import State, request_shows
from viz.hardware_owners import MODES

PICTURES = {"machine": "the machine", "factory": "the factory"}
NUMBERS = ("tensor", "warp")


@dataclass(frozen=True)
class Shown:
    """A request and what is shown of it: the GPU by name, a tensor of the kernel and a warp by number, how they are drawn."""

    request: Request
    gpu: str
    tensor: int = 0
    colour: str = "warp"
    pattern: str = "launched"
    warp: int = 0
    picture: str = "machine"


def gpu_names() -> tuple[str, ...]:
    """The GPUs to choose from: the attached ones, then those that facts are known of."""
    attached = [gpu.name for gpu in gpus()]
    return (*dict.fromkeys(attached), *(name for name in CHIPS if name not in attached))


def default_gpu() -> str:
    """The attached GPU, else an H200."""
    found = gpus()
    return found[0].name if found else DEFAULT


def read(texts: Mapping[str, str]) -> tuple[Shown, tuple[str, ...]]:
    """Legal settings from texts by name, and a sentence for every correction. Without sizes the first example is taken."""
    choices = {"gpu": gpu_names(), "colour": tuple(MODES), "pattern": tuple(PATTERNS), "picture": tuple(PICTURES)}
    own, said = {}, []
    for name, allowed in choices.items():
        value = texts.get(name)
        if value in allowed:
            own[name] = value
        elif value is not None:
            first = default_gpu() if name == "gpu" else allowed[0]
            said.append(f"{name}: {value[:24]!r} is not one of {', '.join(allowed)}; {first} is used.")
    for name in NUMBERS:
        value = texts.get(name, "0")
        number = digits(value) if len(value) < 7 else None
        own[name] = number or 0
        if number is None:
            said.append(f"{name}: {value[:24]!r} is not a whole number from 0 to 999,999; 0 is used.")
    rest = {name: value for name, value in texts.items() if name not in (*choices, *NUMBERS)}
    settings, more = corrected(_with_sizes(rest))
    return Shown(settings.request.without_change(), **{"gpu": default_gpu(), **own}), (*more, *said)


def _with_sizes(texts: Mapping[str, str]) -> dict[str, str]:
    name = texts.get("operator", DEFAULT_OPERATOR)
    if name not in operators() or any(size.name in texts for size in find(name).sizes) or any(one in texts for one in SHORT):
        return dict(texts)
    return {**EXAMPLES[name][0].texts, **texts} if name in EXAMPLES else dict(texts)


def write(shown: Shown) -> dict[str, str]:
    """The texts that `read` turns into these settings again."""
    texts = link(Settings(shown.request))
    texts.pop("program", None)
    defaults = {"gpu": default_gpu(), "tensor": 0, "colour": "warp", "pattern": "launched", "warp": 0, "picture": "machine"}
    return texts | {name: str(getattr(shown, name)) for name, value in defaults.items() if getattr(shown, name) != value}


def _shows(shown: Shown) -> dict[str, Any]:
    own = {name: getattr(shown, name) for name in ("gpu", "tensor", "colour", "pattern", "warp", "picture")}
    return request_shows(shown) | own


SHOWN = ("tensor", "pattern", "warp")
KEPT = ("pattern",)
state = State("hardware", read, write, _shows, shown=SHOWN)
