"""Subscribes to channels and reports all that comes.

It goes on until it is asked to finish or is disconnected for good.

Options: `address`; `token`, or none to ask for one whenever the client needs
one; `subscriptions`, each with its `channel` and, where it needs a token,
either `token` or `asks`, to ask for it. A token is asked for with the event
"token wanted" and comes as a line. With `protobuf` the client speaks Protobuf.
"""

import asyncio

from connection import SubscriptionEvents, new_client
from scenario import Instructions, read_options, report


async def main() -> None:
    """Listens."""
    options = read_options()
    instructions = Instructions()

    async def get_token() -> str:
        report("token wanted")
        return await instructions.next()

    async def get_subscription_token(channel: str) -> str:
        report("token wanted", channel=channel)
        return await instructions.next()

    token = options.get("token", "")
    client, events = new_client(
        options["address"],
        token,
        None if token else get_token,
        protobuf=options.get("protobuf", False),
    )
    for wanted in options.get("subscriptions", []):
        subscription = client.new_subscription(
            wanted["channel"],
            events=SubscriptionEvents(wanted["channel"]),
            token=wanted.get("token", ""),
            get_token=get_subscription_token if wanted.get("asks") else None,
            join_leave=True,
        )
        await subscription.subscribe()
    await client.connect()
    waits = [events.disconnected.wait(), instructions.over.wait()]
    tasks = [asyncio.create_task(wait) for wait in waits]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    await client.disconnect()


asyncio.run(main())
