"""Which Triton belongs to which torch: by the metadata of the torch that is installed, else by the projects' release notes."""

from __future__ import annotations

import contextlib
import importlib.metadata
import re
from collections.abc import Iterable

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet

# The Triton that a torch release was tested with, by both projects' release notes; what torch's own wheel asks for comes first.
PAIRS = {
    "2.5": "3.1",
    "2.6": "3.2",
    "2.7": "3.3",
    "2.8": "3.4",
    "2.9": "3.5",
    "2.10": "3.6",
    "2.11": "3.6",
    "2.12": "3.7",
    "2.14": "3.8",
}
PAIR_STEP = "Install the pair that belongs together: pip install --force-reinstall torch brings its Triton along."
# The distributions that hold the package triton: NVIDIA's, AMD's and Intel's with their older names, and the one for Windows.
TRITONS = (
    "triton",
    "triton-rocm",
    "triton-xpu",
    "pytorch-triton-rocm",
    "pytorch-triton-xpu",
    "pytorch-triton",
    "triton-windows",
)


def installed(package: str) -> str | None:
    """The version of a distribution that is installed; None where it is not."""
    with contextlib.suppress(Exception):
        return importlib.metadata.version(package)
    return None


def wanted() -> str | None:
    """The versions of Triton that the installed torch asks for, by its own metadata."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return wanted_triton(importlib.metadata.requires("torch") or ())
    return None


def wanted_triton(requirements: Iterable[str]) -> str | None:
    """The versions of Triton, "==3.6.0" for one, among the requirements of a package that hold on this system; None for any."""
    for line in requirements:
        with contextlib.suppress(InvalidRequirement):
            requirement = Requirement(line)
            holds = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if requirement.name.lower() in TRITONS and requirement.specifier and holds:
                return str(requirement.specifier)
    return None


def belongs(version: str, wanted: str) -> bool:
    """Whether a specifier ("==3.6.0", "~=3.8.0") allows a version, or names the same minor release: 3.6.1 beside 3.6.0."""
    version = version.split("+")[0]
    with contextlib.suppress(InvalidSpecifier):
        if SpecifierSet(wanted).contains(version, prereleases=True):
            return True
    named = re.match(r"\s*(?:===?|~=)?\s*(\d+\.\d+)(?!\d)", wanted)
    return named is not None and version.split(".")[:2] == named[1].split(".")
