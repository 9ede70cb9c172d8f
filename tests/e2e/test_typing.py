"""What a person types is never undone, however slow the server is; a change of page is one entry of the browser's history."""

from __future__ import annotations

import asyncio

from ..typing import ACTIONS, slow_server, tabs


def test_typing_stepping_back_and_forward_in_two_tabs_of_a_slow_server():
    with slow_server(1.0) as address:
        done = asyncio.run(tabs(address, 2 * len(ACTIONS)))
    assert [line for tab in done for line in tab.wrong] == []
    assert sum(tab.right for tab in done) == 2 * len(ACTIONS)
