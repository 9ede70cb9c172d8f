"""The failures that people meet most, recognised by their messages or codes: cause, next step, source."""

from __future__ import annotations

import errno

from . import (
    amd,
    c_compiler,
    cache,
    compiler,
    containers,
    cuda,
    driver,
    hardware,
    imports,
    launches,
    management,
    memory,
    resources,
    results,
)
from .matching import explained
from .recipe import Failure, Recipe

MOST = 200_000  # characters of a text that is pasted

THEMES: dict[str, tuple[Recipe, ...]] = {
    "Packages": imports.RECIPES,
    "Driver": driver.RECIPES,
    "CUDA's start": cuda.RECIPES,
    "NVML": management.RECIPES,
    "Containers": containers.RECIPES,
    "C compiler and linker": c_compiler.RECIPES,
    "Triton's compiler": compiler.RECIPES,
    "Files": cache.RECIPES,
    "Resources of a block": resources.RECIPES,
    "Memory": memory.RECIPES,
    "Launches": launches.RECIPES,
    "Results and speed": results.RECIPES,
    "The card": hardware.RECIPES,
    "AMD": amd.RECIPES,
}
RECIPES: dict[str, Recipe] = {recipe.id: recipe for recipes in THEMES.values() for recipe in recipes}

_ERRNO = {
    errno.ENOSPC: "disk-full",
    errno.EDQUOT: "disk-full",
    errno.EACCES: "cache-not-writable",
    errno.EPERM: "cache-not-writable",
    errno.EROFS: "cache-not-writable",
    errno.ENOTDIR: "cache-not-a-folder",
    errno.ENOENT: "cache-not-a-folder",
    errno.ESTALE: "stale-handle",
}


def explain(text: str) -> tuple[Failure, ...]:
    """The failures that a text shows, at most three, the first cause first."""
    return explained(text, RECIPES.values())


def advice(text: str) -> str:
    """What to do about a message, in one line; empty where it is not known."""
    found = explain(text)
    return f"{found[0].cause} {found[0].fix}" if found else ""


def known(failure: str) -> Failure:
    """The failure of that id, without names from a message."""
    return RECIPES[failure].told()


def of_cuda(code: int | None) -> Failure | None:
    """What an error code of CUDA's driver (cuInit for one) says; None where nothing is known of it."""
    return known(cuda.CODES[code]) if code in cuda.CODES else None


def of_nvml(code: int | None) -> Failure | None:
    """What an error code of NVML says; None where nothing is known of it."""
    return known(management.CODES[code]) if code in management.CODES else None


def of_errno(number: int | None) -> Failure | None:
    """What an error of the operating system says of a folder to write in; None where nothing is known of it."""
    return known(_ERRNO[number]) if number in _ERRNO else None
