"""The server as it is started: its port, the names that it answers to, and its end."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PATIENCE = 120.0
TUNNEL = {"SSH_CONNECTION": "10.0.0.1 50000 192.0.2.7 2222", "USER": "ada"}


@contextmanager
def servers(count: int, *options: str, **environment: str) -> Iterator[list[subprocess.Popen]]:
    """So many servers, started at the same moment as a person starts them."""
    env = {**os.environ, "TRITON_INTERPRET": "0", "PYTHONUNBUFFERED": "1", **environment}
    command = [sys.executable, "app.py", "--server.headless", "true", *options]
    started = [
        subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(count)
    ]
    try:
        yield started
    finally:
        for server in started:
            server.terminate()
        for server in started:
            server.wait(60)


def said(server: subprocess.Popen, pattern: str) -> str:
    """What a server prints that matches; it fails where the server ends without it."""
    text, ends = "", time.monotonic() + PATIENCE
    os.set_blocking(server.stdout.fileno(), False)
    while time.monotonic() < ends:
        text += (server.stdout.read() or b"").decode()
        if found := re.search(pattern, text):
            return found.group(1)
        assert server.poll() is None, text
        time.sleep(0.1)
    raise AssertionError(text)


def asked(port: int, host: str, path: str = "/") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={"Host": host, "Accept": "text/html"})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def upgraded(port: int, host: str) -> int:
    """The status that a websocket of that host gets: 101 where it is let in."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as one:
        lines = (
            "GET /_stcore/stream HTTP/1.1",
            f"Host: {host}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
        )
        one.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode())
        return int(one.recv(64).split()[1])


@pytest.mark.parametrize("turn", range(3))
def test_three_servers_started_at_once_have_three_ports(turn):
    with servers(3, **TUNNEL) as started:
        ports = {said(server, r"ssh -L (\d+):localhost:\1 -p 2222 ada@192\.0\.2\.7") for server in started}
        assert len(ports) == 3
        assert {asked(int(port), f"localhost:{port}")[0] for port in ports} == {200}


def test_a_foreign_name_is_answered_in_words_and_let_in_where_it_is_allowed():
    with servers(1) as (server,):
        port = int(said(server, r"URL: http://127\.0\.0\.1:(\d+)"))
        for path in ("/", "/compiler?operator=softmax", "/_stcore/health", "/static/js/none.js"):
            status, text = asked(port, "evil.example", path)
            assert status == 421
            assert "answers to localhost, 127.0.0.1 here, not to evil.example." in text
            assert "server.allowedHosts" in text
        assert "<b>" not in asked(port, "a<b>.example")[1]
        assert asked(port, f"localhost:{port}")[0] == 200
        assert (upgraded(port, "evil.example"), upgraded(port, f"localhost:{port}")) == (403, 101)
    with servers(1, "--server.allowedHosts", "gpu.example") as (server,):
        port = int(said(server, r"URL: http://127\.0\.0\.1:(\d+)"))
        assert asked(port, "gpu.example")[0] == 200
        assert asked(port, "evil.example")[0] == 421
        assert upgraded(port, "gpu.example") == 101


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_stop_takes_its_workers_along(sent):
    from .crowd import BLOCK_SIZE, Client

    async def look(port: int) -> None:
        from websockets.asyncio.client import connect

        async with connect(f"ws://localhost:{port}/_stcore/stream", subprotocols=["streamlit"], max_size=None) as socket:
            client = Client(socket, patience=PATIENCE)
            client.query = f"n_elements=1000&BLOCK_SIZE={BLOCK_SIZE}"
            await client.rerun()

    import asyncio

    with servers(1) as (server,):
        asyncio.run(look(int(said(server, r"URL: http://127\.0\.0\.1:(\d+)"))))
        below = subprocess.run(["pgrep", "-P", str(server.pid)], capture_output=True, text=True).stdout.split()
        assert below
        server.send_signal(sent)
        server.wait(60)
        ends = time.monotonic() + 20
        while (left := [one for one in below if Path(f"/proc/{one}").exists()]) and time.monotonic() < ends:
            time.sleep(0.1)
        assert left == []
