"""Triton and its language, or a stand-in that can be read but not launched where Triton cannot be imported.

Triton has no wheels for macOS, and a wheel can fail to load (an old C library, a half-finished installation). The kernels
are still worth reading there and the arithmetic of a launch needs no compiler, so the operators import from here.
"""

from collections.abc import Callable
from typing import Any

MISSING: str | None = None

try:
    import triton
    import triton.language as tl
except (ImportError, OSError) as error:
    MISSING = f"Triton cannot be imported here: {error}"

    class _Placeholder:
        """A kernel that keeps its source and refuses to run."""

        def __init__(self, function: Callable[..., Any]) -> None:
            self.fn = function
            self.__name__ = function.__name__

        def __getitem__(self, grid: Any) -> Callable[..., Any]:
            raise RuntimeError(MISSING)

    class triton:  # noqa: N801 (stands in for the module of that name)
        """The one name of `triton` that the operators use."""

        __version__ = "-"
        jit = _Placeholder

    class tl:  # noqa: N801
        """The one name of `triton.language` that a signature uses."""

        constexpr = object


__all__ = ["MISSING", "tl", "triton"]
