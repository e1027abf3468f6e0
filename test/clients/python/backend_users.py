"""An application's backend that ends a subscription and the connections of a user.

Options: `address`, `key`, `user` and `channel`.
"""

import asyncio

from backend_client import report_result
from cent import (
    AsyncClient,
    Disconnect,
    DisconnectRequest,
    UnsubscribeRequest,
)
from scenario import read_options


async def main() -> None:
    """Unsubscribes, and disconnects."""
    options = read_options()
    user, channel = options["user"], options["channel"]
    async with AsyncClient(options["address"], options["key"]) as client:
        unsubscribed = await client.unsubscribe(
            UnsubscribeRequest(user=user, channel=channel)
        )
        report_result("unsubscribed", unsubscribed)
        reason = Disconnect(code=4501, reason="thrown out")
        disconnected = await client.disconnect(
            DisconnectRequest(user=user, disconnect=reason)
        )
        report_result("disconnected", disconnected)


asyncio.run(main())
