"""An application's backend that reads, with the asynchronous client.

It reads what a channel holds, and who is there.

Options: `address`, `key`, and `channel`.
"""

import asyncio

from backend_client import report_result
from cent import (
    AsyncClient,
    ChannelsRequest,
    HistoryRemoveRequest,
    HistoryRequest,
    InfoRequest,
    PresenceRequest,
    PresenceStatsRequest,
    StreamPosition,
)
from scenario import read_options


async def main() -> None:
    """Reads."""
    options = read_options()
    channel = options["channel"]
    async with AsyncClient(options["address"], options["key"]) as client:
        top = await client.history(HistoryRequest(channel=channel))
        report_result("history", top)
        everything = await client.history(
            HistoryRequest(channel=channel, limit=-1)
        )
        report_result("history", everything)
        since = StreamPosition(offset=1, epoch=top.epoch)
        page = await client.history(
            HistoryRequest(channel=channel, limit=1, since=since)
        )
        report_result("history", page)
        newest = await client.history(
            HistoryRequest(channel=channel, limit=2, reverse=True)
        )
        report_result("history", newest)
        report_result(
            "presence", await client.presence(PresenceRequest(channel=channel))
        )
        stats = await client.presence_stats(
            PresenceStatsRequest(channel=channel)
        )
        report_result("presence stats", stats)
        channels = await client.channels(ChannelsRequest(pattern=channel))
        report_result("channels", channels)
        report_result("info", await client.info(InfoRequest()))
        removed = await client.history_remove(
            HistoryRemoveRequest(channel=channel)
        )
        report_result("history removed", removed)
        report_result(
            "history",
            await client.history(HistoryRequest(channel=channel, limit=-1)),
        )


asyncio.run(main())
