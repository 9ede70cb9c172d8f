"""Imports go one way, importing has no effects, and every process imports only what it needs."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .limits import PATIENCE

ROOT = Path(__file__).parents[1]
HELPERS = {"launch", "errors", "language", "operator", "arguments", "values", "gradients", "tilings", "numerics"}
HELPERS |= {"flat", "rows"}

# What a module of each folder may import of this project, and which outer packages it may never import.
ALLOWED = {
    "app.py": {"pages"},
    "pages": {"pages", "kernels", "viz"},
    "viz": {"viz"},
    "kernels": {"kernels"},
}
FORBIDDEN = {
    "viz": {"streamlit", "torch", "triton", "kernels"},
    "kernels": {"streamlit", "plotly", "pandas"},
    "pages": {"torch", "triton"},
}


def modules() -> list[Path]:
    found = [path for folder in ("pages", "viz", "kernels") for path in sorted((ROOT / folder).rglob("*.py"))]
    return [ROOT / "app.py", *found]


def imported(path: Path, *, everywhere: bool) -> set[str]:
    """Full names that a module imports; without `everywhere` only those that run on import."""
    tree = ast.parse(path.read_text())
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    found: set[str] = set()
    for node in ast.walk(tree) if everywhere else _on_import(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            name = ".".join(part for part in (base, node.module or "") if part)
            found |= {name} | ({f"{name}.{alias.name}" for alias in node.names} if node.level else set())
    return found


def _on_import(tree: ast.Module) -> list[ast.AST]:
    """Statements that run when the module is imported: not those in functions, nor under TYPE_CHECKING."""
    waiting, found = list(tree.body), []
    while waiting:
        node = waiting.pop()
        found.append(node)
        if isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            waiting += [*node.body, *node.orelse]
        if isinstance(node, (ast.Try, ast.With)):
            waiting += [*node.body, *getattr(node, "orelse", [])]
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path):
    folder = path.relative_to(ROOT).parts[0]
    ours = {name.split(".")[0] for name in imported(path, everywhere=False)} & {"app", "pages", "viz", "kernels", "tests"}
    assert ours <= ALLOWED[folder]
    outer = {name.split(".")[0] for name in imported(path, everywhere=folder != "viz" and folder != "kernels")}
    assert not outer & FORBIDDEN.get(folder, set())


@pytest.mark.parametrize("path", sorted((ROOT / "kernels").glob("*.py")), ids=lambda path: path.name)
def test_operators_know_only_the_value_types_and_import_torch_in_functions(path):
    on_import = imported(path, everywhere=False)
    assert "torch" not in {name.split(".")[0] for name in on_import}
    own = {name.split(".")[1] for name in imported(path, everywhere=True) if name.startswith("kernels.")}
    if path.stem not in ("__init__", "__main__", "contract", "registry"):
        pair = {"rms_norm", "rms_norm_backward"} if path.stem.startswith("rms_norm") else set()  # autograd joins these two
        assert own <= HELPERS | pair


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_package_imports_neither_torch_nor_triton():
    assert run("import kernels, sys; print([name for name in ('torch', 'triton', 'numpy') if name in sys.modules])") == "[]"


def version() -> tuple[int, ...]:
    import triton

    return tuple(int(part) for part in triton.__version__.split(".")[:2])


@pytest.mark.skipif(version() < (3, 7), reason="Triton 3.6 itself imports torch where it is installed")
def test_the_trace_worker_needs_no_torch():
    code = "from kernels.runtime.jobs import selftest_job; import sys; print(selftest_job(), 'torch' in sys.modules)"
    assert run(code, TRITON_INTERPRET="1") == "None False"


def test_the_process_of_the_page_never_imports_torch():
    code = (
        "from streamlit.testing.v1 import AppTest; import sys\n"
        f"app = AppTest.from_file('app.py', default_timeout={PATIENCE}).run()\n"
        "print(len(app.exception), 'torch' in sys.modules)"
    )
    assert run(code).endswith("0 False")


def test_a_process_that_compiles_cannot_trace():
    code = "import kernels.runtime.trace"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "TRITON_INTERPRET": "0"}, capture_output=True, text=True
    )
    assert "started with TRITON_INTERPRET=1" in done.stderr
