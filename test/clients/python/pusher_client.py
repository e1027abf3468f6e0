"""A client of the Pusher protocol, which signs for itself.

Options: `host`, `port`, `key`, `secret`, `public`, `private` and `presence`,
names of channels, and `user`. A line of input is JSON, the data of an event
`client-python` on the private channel.
"""

import asyncio
import json
from typing import Any

import pysher
from scenario import Instructions, read_options, report


async def main() -> None:
    """Listens until there is no more input."""
    options = read_options()
    instructions = Instructions()
    member = {"user_id": options["user"], "user_info": {"name": "Py"}}
    client = pysher.Pusher(
        options["key"],
        secure=False,
        secret=options["secret"],
        user_data=member,
        custom_host=options["host"],
        port=options["port"],
    )
    connected = asyncio.Event()
    loop = asyncio.get_running_loop()

    def connection_established(_: Any) -> None:
        loop.call_soon_threadsafe(connected.set)

    events = "pusher:connection_established"
    client.connection.bind(events, connection_established)
    client.connection.bind("pusher:pong", lambda _: report("pong"))
    client.connect()
    await connected.wait()
    report("connected", socket=client.connection.socket_id)
    for kind in ("public", "private", "presence"):
        follow(client.subscribe(options[kind]), kind)
    over = asyncio.create_task(instructions.over.wait())
    while not over.done():
        line = asyncio.create_task(instructions.next())
        await asyncio.wait([over, line], return_when="FIRST_COMPLETED")
        if line.done():
            channel = client.channel(options["private"])
            channel.trigger("client-python", json.loads(line.result()))
    # The library would take 100 s to disconnect; the end of the process does it.


def follow(channel: Any, kind: str) -> None:
    """Reports what comes on a channel, of which the library names no event."""
    names = [
        "pusher_internal:subscription_succeeded",
        "pusher_internal:member_added",
        "pusher_internal:member_removed",
        "order",
        "client-js",
    ]
    for name in names:
        channel.bind(name, lambda data, name=name: tell(kind, name, data))


def tell(kind: str, name: str, data: Any) -> None:
    """Reports an event."""
    report("event", on=kind, name=name, data=data)


asyncio.run(main())
