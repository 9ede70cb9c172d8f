"""Tasks for workers that tests kill, stop or fill up."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path


def count(file: str, seconds: float = 0.0) -> int:
    """Notes that it was begun, with its process; how often it was."""
    with Path(file).open("a") as opened:
        opened.write(f"{os.getpid()}\n")
    time.sleep(seconds)
    return len(Path(file).read_text().split())


def with_child(file: str, seconds: float) -> None:
    """Starts a program that works for long, as the compiler starts ptxas, and waits for it; begun once more, it returns."""
    if Path(file).exists():
        return
    grandchild = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"
    program = f"import subprocess, sys, time; {grandchild}; time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", program])
    Path(file).write_text(f"{os.getpid()} {child.pid}")
    time.sleep(seconds)


def pid() -> int:
    """The process of the task."""
    return os.getpid()


def sleep(seconds: float) -> float:
    """Works for so long."""
    time.sleep(seconds)
    return seconds
