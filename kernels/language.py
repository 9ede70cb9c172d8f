"""Triton and its language, or a stand-in that can be read but not launched where Triton cannot be imported.

Triton has no wheels for macOS, and one that is installed can fail in any way as it is imported (an old C library, another
package of that name, a half-finished installation). The kernels
are still worth reading there and the arithmetic of a launch needs no compiler, so the operators import from here.
"""

from collections.abc import Callable
from typing import Any

from .errors import sentence

MISSING: str | None = None

try:
    import triton
    import triton.language as tl

    _ = triton.jit, triton.__version__, tl.constexpr, tl.load  # a folder of that name is a module with nothing in it
except (Exception, SystemExit) as error:
    MISSING = f"Triton cannot be imported here: {sentence(error).text}"

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
