"""An application's backend that asks for several things in one request.

Options: `address`, `key`, and `channel`.
"""

from cent import (
    BatchRequest,
    BroadcastRequest,
    Client,
    HistoryRequest,
    PresenceStatsRequest,
    PublishRequest,
)
from scenario import read_options, report


def main() -> None:
    """Asks for them twice: one after the other, and in parallel."""
    options = read_options()
    channel = options["channel"]
    requests = [
        PublishRequest(channel=channel, data=1),
        BroadcastRequest(channels=[channel, "nowhere:x"], data=2),
        HistoryRequest(channel=channel, limit=-1),
        PresenceStatsRequest(channel=channel),
    ]
    with Client(options["address"], options["key"]) as client:
        for parallel in (False, True):
            batch = client.batch(
                BatchRequest(requests=requests, parallel=parallel)
            )
            replies = [
                reply.model_dump(exclude_unset=True) for reply in batch.replies
            ]
            report("batch", replies=replies)


main()
