"""What Triton needs around it to compile a launch: a C compiler, Python's headers, libcuda, ptxas, a cache folder."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .failures import advice, known, of_errno
from .values import FAIL, NOT_MEASURED, PASS, WARN, Result

STAGE = "bring-up"
SECONDS = 30
NETWORK = ("nfs", "nfs4", "cifs", "smbfs", "smb3", "lustre", "9p", "fuse.sshfs", "gpfs", "beegfs", "ceph", "afs")
LEAST_FREE = 200 * 2**20
BROKEN_COMPILER = (
    "The compiler's own line says why. Install one anew (apt install build-essential), or set CC to another's full path."
)
TEMPORARY = (
    "Triton compiles in the folder for temporary files: make room there (df -h, df -i), or set TMPDIR to one of your own."
)
ELSEWHERE = "Set TRITON_CACHE_DIR to a folder of your own on a local disk."
REINSTALL = "Install the same Triton again (pip show triton tells it): pip install --force-reinstall --no-deps triton==RELEASE."
# The CUDA release whose ptxas first knows an architecture (PTX ISA, "Release Notes").
PTXAS_SINCE = {
    80: (11, 0),
    86: (11, 1),
    89: (11, 8),
    90: (11, 8),
    100: (12, 8),
    103: (12, 9),
    110: (13, 0),
    120: (12, 8),
    121: (12, 9),
}


def checks(architectures: Sequence[int], environment: Mapping[str, str] = os.environ) -> Iterator[Result]:
    """The results of this stage, in order; `architectures` as 90 for sm_90, empty without an NVIDIA GPU."""
    compiler_result, compiler = c_compiler(environment)
    yield compiler_result
    yield headers(compiler)
    if architectures:
        yield libcuda(environment)
    yield from ptxas(architectures, environment)
    yield cache_folder(environment)


def c_compiler(environment: Mapping[str, str]) -> tuple[Result, str | None]:
    """A C compiler is found as Triton finds it, and compiles; its path where it does."""
    here = Result(
        "c compiler",
        "C compiler",
        STAGE,
        PASS,
        limit="compiles an empty function",
        source="found as Triton does: CC, gcc, clang",
    )
    path = environment.get("PATH")
    given = environment.get("CC") or shutil.which("gcc", path=path) or shutil.which("clang", path=path)
    if given is None:
        if sys.platform == "win32":
            return replace(here, status=NOT_MEASURED, said="none on the PATH; Triton for Windows brings its own"), None
        return replace(
            here, status=FAIL, said="Failed to find C compiler: neither CC nor gcc nor clang", step=known("no-compiler").fix
        ), None
    problem = _compiles(given, "int nothing(void) { return 0; }\n", ())
    if problem:
        said = f"{Path(given).name}: {problem.said}"
        return replace(here, status=FAIL, said=said, step=problem.step or BROKEN_COMPILER), None
    return replace(here, said=f"{Path(given).name} works"), given


def headers(compiler: str | None, include: str | None = None) -> Result:
    """Python.h of this very Python is found by the compiler."""
    here = Result(
        "headers", "Python headers", STAGE, PASS, limit="Python.h compiles", source="the folder that this Python names"
    )
    if compiler is None:
        return replace(here, status=NOT_MEASURED, said="needs a C compiler")
    scheme = sysconfig.get_default_scheme().replace("posix_local", "posix_prefix")
    folder = include or sysconfig.get_paths(scheme=scheme)["include"]
    problem = _compiles(compiler, "#include <Python.h>\n", (f"-I{folder}",))
    if problem:
        return replace(here, status=FAIL, said=problem.said, step=problem.step or BROKEN_COMPILER)
    return replace(here, said=f"those of Python {sys.version_info[0]}.{sys.version_info[1]}")


@dataclass(frozen=True)
class Problem:
    """Why a probe did not compile, in one line; `step` is what to do where an error of the operating system tells."""

    said: str
    step: str = ""


def _compiles(compiler: str, source: str, options: Sequence[str]) -> Problem | None:
    """Compiles a shared library in a temporary folder, as Triton does; what stood in the way, or None."""
    try:
        with tempfile.TemporaryDirectory(prefix="triton-explorer-", ignore_cleanup_errors=True) as folder:
            return _compiled(compiler, source, options, Path(folder))
    except OSError as error:  # no folder for temporary files, or no room in it
        return Problem(f"no temporary file can be written ({error.strerror or type(error).__name__})", TEMPORARY)


def _compiled(compiler: str, source: str, options: Sequence[str], folder: Path) -> Problem | None:
    file = folder / "probe.c"
    file.write_text(source)
    command = [compiler, str(file), "-shared", "-fPIC", "-o", str(folder / "probe.so"), *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Problem(f"cannot be run ({getattr(error, 'strerror', None) or type(error).__name__})", BROKEN_COMPILER)
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.split("\n") if "error" in line] or done.stderr.strip().split("\n")
    said = re.sub(r"^\S*probe\.c:[\d:]* ?", "", lines[0].strip())[:200]
    return Problem(said or f"it ended with code {done.returncode}", advice(done.stderr))


def libcuda(environment: Mapping[str, str], listed: Callable[[], str] | None = None) -> Result:
    """libcuda.so.1 lies where Triton's linker will look."""
    here = Result(
        "libcuda", "libcuda for the linker", STAGE, PASS, limit="libcuda.so.1 is listed", source="ldconfig -p, as Triton asks"
    )
    if sys.platform != "linux":
        return replace(here, status=NOT_MEASURED, said="asked on Linux only")
    given = [environment.get("TRITON_LIBCUDA_PATH", ""), *environment.get("LD_LIBRARY_PATH", "").split(":")]
    if any(folder and (Path(folder) / "libcuda.so.1").exists() for folder in given):
        return replace(here, said="in a folder that the environment names")
    if "libcuda.so.1" in (listed or _ldconfig)():
        return replace(here, said="in the linker's cache")
    wsl = Path("/usr/lib/wsl/lib/libcuda.so.1").exists()
    return replace(
        here,
        status=FAIL,
        said="libcuda.so.1 not found by the linker",
        step=known("link-libcuda" if wsl else "libcuda-missing").fix,
    )


def _ldconfig() -> str:
    tool = shutil.which("ldconfig", path="/sbin:/usr/sbin:/usr/bin") or "/sbin/ldconfig"
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run([tool, "-p"], capture_output=True, text=True, timeout=SECONDS, check=False).stdout
    return ""


def ptxas(architectures: Sequence[int], environment: Mapping[str, str], folder: Path | None = None) -> Iterator[Result]:
    """ptxas, and the one for Blackwell where such a GPU is there, run and know the GPU."""
    folder = folder or _triton_folder()
    wanted = sorted(set(architectures)) or [90]
    blackwell = [arch for arch in wanted if arch >= 100]
    older = [arch for arch in wanted if arch < 100]
    if older:
        yield _ptxas("ptxas", "ptxas", environment.get("TRITON_PTXAS_PATH"), folder, max(older))
    if blackwell:
        bundled = folder is not None and (folder / "ptxas-blackwell").exists()
        name, given = ("ptxas-blackwell", "TRITON_PTXAS_BLACKWELL_PATH") if bundled else ("ptxas", "TRITON_PTXAS_PATH")
        yield _ptxas("ptxas blackwell", "ptxas for Blackwell", environment.get(given), folder, max(blackwell), name)


def _ptxas(check: str, title: str, given: str | None, folder: Path | None, arch: int, name: str = "ptxas") -> Result:
    since = PTXAS_SINCE.get(arch)
    limit = f"knows sm_{arch}" + (f": CUDA {since[0]}.{since[1]} or newer" if since else "")
    here = Result(check, title, STAGE, PASS, limit=limit, source="PTX ISA release notes", origin="read")
    path = Path(given) if given else folder / name if folder else None
    if path is None or not path.exists():
        said = "TRITON_PTXAS_PATH names no file" if given else "Triton brings none"
        status = NOT_MEASURED if folder is None else FAIL
        return replace(here, status=status, said=said, step="Unset TRITON_PTXAS_PATH." if given else REINSTALL)
    try:
        text = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=SECONDS, check=False).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        said = f"cannot be run ({getattr(error, 'strerror', None) or type(error).__name__})"
        return replace(
            here, status=FAIL, said=said, step="Unset TRITON_PTXAS_PATH, or name a ptxas that runs." if given else REINSTALL
        )
    found = re.search(r"release (\d+)\.(\d+)", text)
    if not found:
        return replace(here, status=FAIL, said="it does not tell its version", step=REINSTALL)
    version, whose = (int(found[1]), int(found[2])), "named by the environment" if given else "Triton's own"
    said = f"CUDA {version[0]}.{version[1]}, {whose}"
    if since and version < since:
        return replace(here, status=FAIL, said=said, step=known("ptx-version" if given else "ptxas-architecture").fix)
    return replace(here, said=said)


def _triton_folder() -> Path | None:
    """The folder of the programs that Triton brings, without importing it; None where there is none."""
    with contextlib.suppress(ImportError, ValueError):
        spec = importlib.util.find_spec("triton")
        for place in (spec.submodule_search_locations or ()) if spec else ():
            folder = Path(place) / "backends" / "nvidia" / "bin"
            if folder.is_dir():
                return folder
    return None


def cache_path(environment: Mapping[str, str]) -> Path:
    """Where Triton keeps compiled kernels."""
    home = Path(environment.get("TRITON_HOME") or environment.get("HOME") or Path.home())
    return Path(environment.get("TRITON_CACHE_DIR") or home / ".triton" / "cache")


def cache_folder(environment: Mapping[str, str], mounts: str | None = None) -> Result:
    """The cache folder can be written, lies on a local disk that may run code, and has room."""
    here = Result(
        "cache", "Cache folder", STAGE, PASS, limit="writable, local, runs code, 200 MB free", source="a file written there"
    )
    path = cache_path(environment)
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".probe-{uuid.uuid4().hex}"
        probe.write_text("probe")
        probe.replace(probe.with_suffix(".moved"))
        probe.with_suffix(".moved").unlink()
    except OSError as error:
        said = f"cannot be written: {error.strerror or type(error).__name__}"
        failure = of_errno(error.errno)
        return replace(here, status=FAIL, said=said, step=failure.fix if failure else ELSEWHERE)
    kind, options = mounted(path, mounts if mounts is not None else _mounts())
    if "noexec" in options:
        said = "its file system is mounted noexec, and Triton loads a library from it"
        return replace(here, status=FAIL, said=said, step=known("noexec").fix, source="/proc/mounts")
    free = shutil.disk_usage(path).free
    if kind in NETWORK:
        return replace(
            here,
            status=WARN,
            said=f"it lies on a network drive ({kind})",
            step=known("cache-shared").fix,
            source="/proc/mounts",
        )
    if free < LEAST_FREE:
        return replace(
            here,
            status=WARN,
            said=f"{free / 1e6:.0f} MB are free",
            step="Make room, or set TRITON_CACHE_DIR to a folder on another disk.",
        )
    return replace(here, said=f"writable, {free / 1e9:,.0f} GB free" + (f", {kind}" if kind else ""))


def _mounts() -> str:
    with contextlib.suppress(OSError):
        return Path("/proc/mounts").read_text()
    return ""


def mounted(path: Path, mounts: str) -> tuple[str, tuple[str, ...]]:
    """The kind of file system that a path lies on, and its options; nothing where it is not told."""
    best, found = -1, ("", ())
    for line in mounts.split("\n"):
        parts = line.split()
        if len(parts) >= 4:
            point = Path(parts[1].replace("\\040", " "))
            if path.resolve().is_relative_to(point) and len(point.parts) >= best:
                best, found = len(point.parts), (parts[2], tuple(parts[3].split(",")))
    return found
