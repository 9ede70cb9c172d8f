"""Operators, each with its Triton kernel, and the value types that describe them.

Importing this imports neither torch nor Triton: the operators are loaded when first asked for, so that a process can still
decide whether its kernels are compiled or interpreted.
"""

import functools
import importlib
import pkgutil

from .launch import DTYPES, ITEMSIZE, Launch, Tensor
from .operator import Numbers, Operator, Problem, Tiling

__all__ = ["DTYPES", "ITEMSIZE", "Launch", "Numbers", "Operator", "Problem", "Tensor", "Tiling", "find", "operators"]


@functools.cache
def operators() -> dict[str, Operator]:
    """Every operator that a module of this package holds, by name, in the order a reader learns them."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg and module.name[0] != "_"]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    found = {value.name: value for module in modules for value in vars(module).values() if isinstance(value, Operator)}
    return dict(sorted(found.items(), key=lambda item: item[1].lesson))


def find(name: str) -> Operator:
    """The operator of that name; raises ValueError, with the nearest one, for a name there is not."""
    import difflib

    if name in operators():
        return operators()[name]
    near = difflib.get_close_matches(name, operators(), n=1, cutoff=0.4)
    hint = f"; the nearest is {near[0]}" if near else ""
    raise ValueError(f"There is no operator {name[:40]!r}{hint}. There are: {', '.join(operators())}.")
