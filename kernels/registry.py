"""Which operators there are: those of this package, and those of a folder of a person's own."""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from .errors import sentence
from .operator import Operator

FOLDER = "TRITON_EXPLORER_OPERATORS"
PACKAGE = Path(__file__).parent


@dataclass(frozen=True)
class Registry:
    """Operators by name in the order a reader learns them, and for every file that gives none why."""

    operators: dict[str, Operator]
    broken: dict[str, str]


@functools.cache
def registry() -> Registry:
    """Loads every operator's file once; one that fails is listed with its reason and takes nothing else down."""
    operators: dict[str, Operator] = {}
    origins: dict[str, str] = {}
    broken: dict[str, str] = {}
    for file, loading in _files():
        try:
            found = [value for value in vars(loading()).values() if isinstance(value, Operator)]
        except (Exception, SystemExit) as error:
            broken[file] = reason_of(error)
            continue
        if not found and file not in _helpers():
            broken[file] = "holds no Operator"
        for operator in found:
            if operator.name in operators and operators[operator.name] is not operator:
                broken[file] = f"its operator {operator.name!r} has the name of the one in {origins[operator.name]}"
                continue
            operators[operator.name] = operator
            origins.setdefault(operator.name, file)
    return Registry(dict(sorted(operators.items(), key=lambda item: item[1].lesson)), broken)


def operators() -> dict[str, Operator]:
    """Every operator by name, in the order a reader learns them."""
    return registry().operators


def broken() -> dict[str, str]:
    """The files of operators that are left out, each with the reason."""
    return registry().broken


def find(name: str) -> Operator:
    """The operator of that name; raises ValueError, with the nearest one, for a name there is not."""
    if name in operators():
        return operators()[name]
    for file, reason in broken().items():
        if Path(file).stem == name:
            raise ValueError(f"The operator's file {file} is left out: {reason}.")
    near = difflib.get_close_matches(name, operators(), n=1, cutoff=0.4)
    hint = f"; the nearest is {near[0]}" if near else ""
    raise ValueError(f"There is no operator {name[:40]!r}{hint}. There are: {', '.join(operators())}.")


def _files() -> Iterator[tuple[str, functools.partial[ModuleType]]]:
    """The name of every file that may hold operators, with what loads it."""
    for module in pkgutil.iter_modules([str(PACKAGE)]):
        if not module.ispkg and module.name[0] != "_":
            yield f"{module.name}.py", functools.partial(importlib.import_module, f"{__package__}.{module.name}")
    folder = os.environ.get(FOLDER)
    for path in sorted(Path(folder).expanduser().glob("*.py")) if folder else ():
        yield str(path), functools.partial(load, path)


def load(path: Path) -> ModuleType:
    """The module of a file outside of this package, under a name that no other has."""
    name = module_name(path)
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


def module_name(path: Path) -> str:
    """The name of the module that a file outside of this package becomes."""
    return f"operators_of_{path.parent.name}_{path.stem}"


@functools.cache
def _helpers() -> frozenset[str]:
    """The package's own modules that hold no operator and need none."""
    return frozenset(path.name for path in PACKAGE.glob("*.py") if "\nOPERATOR = " not in path.read_text())


def reason_of(error: BaseException) -> str:
    """Why a file cannot be loaded, with the line of it where Python tells."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    if isinstance(error, SystemExit):
        return "it ends the program when it is loaded"
    if isinstance(error, ImportError):
        return f"{error}"
    return sentence(error).text
