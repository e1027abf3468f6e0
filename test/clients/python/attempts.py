"""Asks for things one after the other, and reports how each is answered.

That is the code of an error, or 0.

Options: `address`, `token`, and `attempts`, each a `method` and a `channel`;
with `protobuf` the client speaks Protobuf.
"""

import asyncio
from typing import Any

from centrifuge import Client, ReplyError
from connection import SubscriptionEvents, new_client, to_payload
from scenario import read_options, report


async def main() -> None:
    """Makes the attempts."""
    options = read_options()
    protobuf = options.get("protobuf", False)
    client, _ = new_client(
        options["address"], options["token"], protobuf=protobuf
    )
    await client.connect()
    for attempt in options["attempts"]:
        data = to_payload({"text": "hello"}, protobuf=protobuf)
        code = await outcome(
            client, attempt["method"], attempt["channel"], data
        )
        report("outcome", **attempt, code=code)
    await client.disconnect()


async def outcome(
    client: Client, method: str, channel: str, data: Any
) -> int:
    """Makes one attempt."""
    if method == "subscribe":
        return await subscribe(client, channel)
    try:
        if method == "publish":
            await client.publish(channel, data)
        elif method == "history":
            await client.history(channel)
        elif method == "presence":
            await client.presence(channel)
        else:
            await client.presence_stats(channel)
    except ReplyError as error:
        return error.code
    return 0


async def subscribe(client: Client, channel: str) -> int:
    """Subscribes, the end of which the client reports as an event."""
    events = SubscriptionEvents(channel)
    await client.new_subscription(channel, events=events).subscribe()
    return await events.outcome


asyncio.run(main())
