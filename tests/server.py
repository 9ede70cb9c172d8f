"""A server of the app as a user starts it, in a process of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .limits import PATIENCE, until

ROOT = Path(__file__).parents[1]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(port: int, **settings: str) -> subprocess.Popen:
    """A server on that port, once it answers; settings are variables of its environment."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.headless", "true"]
    environment = {**os.environ, "TRITON_INTERPRET": "0", **settings}
    with tempfile.TemporaryFile("w+") as errors:  # not a pipe: nobody reads it, and a server that fills one stands still
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=errors)
        try:
            until(lambda: server.poll() is not None or answers(port), every=0.1)
            assert server.poll() is None
        except AssertionError:
            server.kill()
            errors.seek(0)
            raise AssertionError(errors.read()) from None
    return server


def answers(port: int) -> bool:
    """Whether a server there says that it is well."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=PATIENCE)
    except OSError:
        return False
    return True


class Address(str):
    """Where a server answers, and its process."""

    process: subprocess.Popen

    def workers(self) -> list[int]:
        """The worker processes of this server, and of no other."""
        command = ["pgrep", "--parent", str(self.process.pid), "--full", "loky.backend.popen_loky"]
        return [int(number) for number in subprocess.run(command, capture_output=True, text=True).stdout.split()]


@contextmanager
def running() -> Iterator[Address]:
    """The address of a server that runs meanwhile."""
    port = free_port()
    address = Address(f"http://localhost:{port}")
    address.process = start(port)
    try:
        yield address
    finally:
        address.process.terminate()
        try:
            address.process.wait(PATIENCE)
        finally:
            address.process.kill()
