"""All that a client can ask of one channel, one after the other.

Options: `address`, `token`, `channel`, and `data`, a list: each of its items
is published; with `protobuf` the client speaks Protobuf.
"""

import asyncio
from dataclasses import asdict

from centrifuge import StreamPosition
from connection import SubscriptionEvents, new_client, to_payload
from scenario import read_options, report


async def main() -> None:
    """Takes the journey."""
    options = read_options()
    channel = options["channel"]
    protobuf = options.get("protobuf", False)
    client, _ = new_client(
        options["address"], options["token"], protobuf=protobuf
    )
    events = SubscriptionEvents(channel)
    subscription = client.new_subscription(
        channel, events=events, join_leave=True
    )
    await subscription.subscribe()
    await client.connect()
    await events.joined.wait()

    for data in options["data"]:
        await subscription.publish(to_payload(data, protobuf=protobuf))
        report("published")

    top = await subscription.history()
    report("history", **asdict(top))
    page = await subscription.history(
        limit=2, since=StreamPosition(1, top.epoch)
    )
    report("history", **asdict(page))
    newest = await subscription.history(limit=1, reverse=True)
    report("history", **asdict(newest))

    report("presence", **asdict(await subscription.presence()))
    report("presence stats", **asdict(await subscription.presence_stats()))
    await subscription.unsubscribe()
    report("presence", **asdict(await client.presence(channel)))
    await client.disconnect()


asyncio.run(main())
