"""What is typed into a page that is being made anew counts: the event comes from a widget that the new page has replaced."""

from __future__ import annotations

import asyncio
import re

from .crowd import Client
from .limits import PATIENCE
from .typing import slow_server


async def until(client, wanted):
    """All that comes up to the first message of which `wanted` is true."""
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

    came = b""
    while True:
        raw = await asyncio.wait_for(client.socket.recv(), client.patience)
        came += raw
        if wanted(ForwardMsg.FromString(raw)):
            return re.sub(rb"<[^<>]+>", b"", came).decode("utf-8", "replace")


async def typed_behind_back(address):
    """What comes after 33 was typed into the field of the page before, while Back's page is being made."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from websockets.asyncio.client import connect

    port = address.rsplit(":", 1)[1]
    async with connect(f"ws://localhost:{port}/_stcore/stream", subprotocols=["streamlit"], max_size=None) as socket:
        client = Client(socket, patience=PATIENCE)
        client.query = first = "n_elements=7&BLOCK_SIZE=4"
        await client.rerun()
        await client.rerun(20)
        old, back, typed = client.field, BackMsg(), BackMsg()
        for message in (back, typed):
            message.rerun_script.query_string = first
        typed.rerun_script.widget_states.widgets.add(id=old, int_value=33)

        def is_replaced(message):
            field = message.delta.new_element.number_input
            return field.label == "n_elements" and field.id != old

        def is_finished(message):
            whole = message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
            return message.WhichOneof("type") == "script_finished" and whole

        await socket.send(back.SerializeToString())
        await until(client, is_replaced)
        await socket.send(typed.SerializeToString())
        done = ForwardMsg.FINISHED_SUCCESSFULLY
        return await until(
            client, lambda message: message.WhichOneof("type") == "script_finished" and message.script_finished == done
        )


def test_a_value_typed_while_the_page_of_back_is_being_made_counts():
    with slow_server(2.0) as address:
        said = asyncio.run(typed_behind_back(address))
    assert "33 elements" in said
    assert "7 elements" not in said
