"""Prints how the server's memory goes: `python -m tests.memory [CHANGES] [SESSIONS]`, 1,000 and 50 unless told otherwise.

One session changes n so many times, then sessions are opened and closed; each page has its own picture. A browser is not
needed: the clients speak Streamlit's protocol, as in `tests.crowd`.
"""

from __future__ import annotations

import asyncio
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from .crowd import BLOCK_SIZE, Client
from .server import free_port, start

KEPT = 3  # seconds that the server keeps a closed session here; its own setting would only be waited for
FORGOTTEN = KEPT + 5.0  # seconds after which a closed session is forgotten
FIRST = 200  # changes after which the memory is what it may stay


@dataclass(frozen=True)
class Memory:
    """Megabytes of the server's process: at the start, after the first changes, after all, after the sessions."""

    fresh: float
    first: float
    changed: float
    closed: float

    @property
    def growth(self) -> float:
        """How many times the memory after the first changes it is in the end."""
        return max(self.changed, self.closed) / self.first


def megabytes(process: int) -> float:
    """The memory of a process that is its own or shared, without what was swapped out."""
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text()).group(1)) / 1024


async def connected(port: int) -> tuple[object, Client]:
    from websockets.asyncio.client import connect

    socket = await connect(f"ws://localhost:{port}/_stcore/stream", subprotocols=["streamlit"], max_size=None)
    client = Client(socket, patience=300)
    client.query = f"n_elements=1000&BLOCK_SIZE={BLOCK_SIZE}"
    await client.rerun()
    return socket, client


async def measured(port: int, process: int, changes: int, sessions: int, first: int) -> Memory:
    fresh = megabytes(process)
    socket, client = await connected(port)
    at_first = 0.0
    for turn in range(changes):
        await client.rerun(2000 + 37 * turn)
        if turn + 1 == first:
            at_first = megabytes(process)
        if (turn + 1) % 100 == 0:
            print(f"  {turn + 1:,} changes: {megabytes(process):.0f} MB", flush=True)
    changed = megabytes(process)
    await socket.close()
    for turn in range(sessions):
        socket, client = await connected(port)
        await client.rerun(5000 + 11 * turn)
        await socket.close()
    await asyncio.sleep(FORGOTTEN)
    socket, client = await connected(port)  # Streamlit forgets when somebody comes
    await socket.close()
    return Memory(fresh, at_first, changed, megabytes(process))


def run(changes: int = 1000, sessions: int = 50, first: int = FIRST) -> Memory:
    """The memory of a server of its own."""
    port = free_port()
    server = start(port, STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL=str(KEPT))
    try:
        return asyncio.run(measured(port, server.pid, changes, sessions, first))
    finally:
        server.terminate()
        server.wait(30)


def main() -> None:
    changes, sessions = (*map(int, sys.argv[1:]), *(1000, 50)[len(sys.argv) - 1 :])
    found = run(changes, sessions)
    print(f"fresh {found.fresh:.0f} MB, after {FIRST} changes {found.first:.0f}, after {changes:,} {found.changed:.0f}, after")
    print(f"{sessions} sessions {found.closed:.0f}: {found.growth:.2f} times that after the first {FIRST}")


if __name__ == "__main__":
    main()
