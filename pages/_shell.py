"""What every page needs: the list of pages, the guard for deep links, the workers, the style of the page."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import NoReturn

import streamlit as st

from kernels.runtime.workers import Workers

HERE = Path(__file__).parent
ICON = str(HERE / "_icon.svg")
FIRST_PORT = 8501


def pages() -> list[st.Page]:
    """The pages, in the order of the bar on top; a new one is a line here and a file.

    They have no icons: on a deep link the browser would fetch the page's from the network.
    """
    return [
        st.Page(HERE / "launch.py", title="Launch", default=True),
        st.Page(HERE / "fusion.py", title="Fused vs unfused"),
        st.Page(HERE / "hardware.py", title="Hardware"),
        st.Page(HERE / "compiler.py", title="Compiler"),
        st.Page(HERE / "check.py", title="New-GPU check"),
        st.Page(HERE / "runs.py", title="Runs"),
    ]


def enter() -> None:
    """What app.py does before the page: notes that it ran, and sets the type for a hall."""
    st.session_state["entered"] = True
    st.html(HERE / "_page.css")


def guard() -> None:
    """Every page's first call. Hands over to app.py where Streamlit ran the page alone.

    That happens where the first request after a start is a deep link: Streamlit takes the folder `pages/` for its old way of
    making pages until some session has called `st.navigation`.
    """
    if not st.session_state.get("entered"):
        st.navigation(pages(), position="top")
        st.session_state["entered"] = True
        st.rerun()


@st.cache_resource
def workers() -> Workers:
    """The workers of this server, shared by all its sessions."""
    return Workers()


def serve(script: str) -> NoReturn:
    """Starts Streamlit on the first free port from 8501 on; over SSH it first prints the line that reaches it."""
    port = next(port for port in range(FIRST_PORT, FIRST_PORT + 100) if _free(port))
    remote = tunnel(os.environ.get("SSH_CONNECTION", ""), os.environ.get("USER", ""), port)
    if remote:
        print(f"\nFrom your own machine:\n\n  {remote}\n\nand open http://localhost:{port}\n", flush=True)
    options = ["--server.port", str(port), *(["--server.headless", "true"] if remote or not _has_screen() else [])]
    os.chdir(Path(script).parent)
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", Path(script).name, *options])


def tunnel(connection: str, user: str, port: int) -> str | None:
    """The `ssh -L` line for a session that SSH_CONNECTION describes ("client port server port"); None without one."""
    parts = connection.split()
    if len(parts) != 4:
        return None
    host = f"{user}@{parts[2]}" if user else parts[2]
    return f"ssh -L {port}:localhost:{port} {f'-p {parts[3]} ' if parts[3] != '22' else ''}{host}"


def _free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def _has_screen() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
