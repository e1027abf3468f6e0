"""An application's backend that subscribes a user, and refreshes the connection.

Options: `address`, `key`, `user` and `channel`.
"""

import asyncio

from backend_client import report_result
from cent import (
    AsyncClient,
    RefreshRequest,
    StreamPosition,
    SubscribeRequest,
)
from scenario import read_options


async def main() -> None:
    """Subscribes, and lets the connection expire."""
    options = read_options()
    user, channel = options["user"], options["channel"]
    since = StreamPosition(offset=0, epoch="")
    async with AsyncClient(options["address"], options["key"]) as client:
        subscribed = await client.subscribe(
            SubscribeRequest(
                user=user,
                channel=channel,
                info={"by": "backend"},
                data={"hello": user},
                recover_since=since,
            )
        )
        report_result("subscribed", subscribed)
        refreshed = await client.refresh(
            RefreshRequest(user=user, expired=False, expire_at=4102444800)
        )
        report_result("refreshed", refreshed)


asyncio.run(main())
