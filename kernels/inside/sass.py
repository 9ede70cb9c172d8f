"""SASS, the instructions that an NVIDIA GPU runs, by the disassembler that Triton's wheel brings; no CUDA toolkit is needed."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

PLACE = re.compile(r'\s*//## File ".nv_debug_ptx_txt", line (\d+)')
FILE = "explorer.sass"


def sass(cubin: bytes, key: str, kernel: str) -> tuple[str, tuple[int | None, ...]]:
    """The kernel's SASS, and for every line of it the line of the PTX that it was made from.

    Kept in Triton's cache beside the kernel, under its key there: disassembling takes 150-300 ms on 2 cores, reading 1 ms.
    Raises OSError or RuntimeError where the wheel brings no disassembler, and SubprocessError where that fails.
    """
    from triton.runtime.cache import get_cache_manager

    cache = get_cache_manager(key)
    kept = cache.get_file(FILE)
    text = Path(kept).read_text() if kept else _disassembled(cubin)
    if not kept:
        cache.put(text, FILE, binary=False)
    return _placed(text, kernel)


def _disassembled(cubin: bytes) -> str:
    """The code sections with a comment where the line of the PTX changes.

    The lines of the source that the cubin holds are not asked for: Triton's inline assembly shifts them (a 16-byte load of line
    31 is marked as line 34, Triton 3.9), the lines of the PTX are right.
    """
    from triton import knobs

    with tempfile.TemporaryDirectory(prefix="triton-explorer-") as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        command = [knobs.nvidia.nvdisasm.path, "-ndf", "-c", "-gp", str(path)]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def _placed(text: str, kernel: str) -> tuple[str, tuple[int | None, ...]]:
    """The kernel's own section without those comments, and what they say, line by line."""
    start = text.find(f"\n.text.{kernel}:")
    lines: list[str] = []
    places: list[int | None] = []
    now: int | None = None
    for line in text[start + 1 :].split("\n"):
        if place := PLACE.match(line):
            now = int(place.group(1))
        elif line.startswith("//-----"):
            break
        elif line.strip():
            lines.append(line.rstrip())
            places.append(now if line.lstrip().startswith("/*") else None)
    return "\n".join(lines), tuple(places)
