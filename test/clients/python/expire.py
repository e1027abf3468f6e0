"""Is given a token once and doesn't renew it, until the client gives up.

Options: `address`; to have a subscription's token end, its `channel` and the
connection's `token`. The token that is to end is asked for with the event
"token wanted", so that it is as fresh as it can be. With `protobuf` the client
speaks Protobuf.
"""

import asyncio

from connection import SubscriptionEvents, new_client
from scenario import Instructions, read_options, report


async def main() -> None:
    """Waits for the end."""
    options = read_options()
    instructions = Instructions()
    report("token wanted")
    token = await instructions.next()
    channel = options.get("channel")
    client, events = new_client(
        options["address"],
        options.get("token", token),
        protobuf=options.get("protobuf", False),
    )
    await client.connect()
    if channel is None:
        await events.disconnected.wait()
    else:
        heard = SubscriptionEvents(channel)
        subscription = client.new_subscription(
            channel, events=heard, token=token
        )
        await subscription.subscribe()
        await heard.unsubscribed.wait()
        await client.disconnect()


asyncio.run(main())
