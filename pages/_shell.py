"""What every page needs: the list of pages, the guard for deep links, the workers, the style of the page."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NoReturn

import streamlit as st
from streamlit import config

from kernels.runtime.workers import Workers
from pages import _public

HERE = Path(__file__).parent
ICON = str(HERE / "_icon.svg")


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
    """Starts Streamlit on the first port from 8501 on that it can bind; options are Streamlit's, and `--public`."""
    options = [one for one in sys.argv[1:] if one != "--public"]
    if len(options) < len(sys.argv) - 1:
        os.environ[_public.VARIABLE] = "1"
    if not any(one.startswith("--server.headless") for one in options) and (_connection() or not _has_screen()):
        options += ["--server.headless", "true"]
    os.chdir(Path(script).parent)
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", Path(script).name, *options])


@asynccontextmanager
async def started(app: st.App) -> AsyncIterator[None]:
    """While the server runs; over SSH it first prints the line that reaches it, now that the port is known.

    At the end it ends the workers: a server that is told to stop dies of the signal, without Python's exit handlers.
    """
    port = config.get_option("server.port")
    remote = tunnel(_connection(), os.environ.get("USER", ""), port)
    if remote:
        print(f"\nFrom your own machine:\n\n  {remote}\n\nand open http://localhost:{port}\n", flush=True)
    yield
    workers().close()


def tunnel(connection: str, user: str, port: int) -> str | None:
    """The `ssh -L` line for a session that SSH_CONNECTION describes ("client port server port"); None without one."""
    parts = connection.split()
    if len(parts) != 4:
        return None
    host = f"{user}@{parts[2]}" if user else parts[2]
    return f"ssh -L {port}:localhost:{port} {f'-p {parts[3]} ' if parts[3] != '22' else ''}{host}"


def _connection() -> str:
    return os.environ.get("SSH_CONNECTION", "")


def _has_screen() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
