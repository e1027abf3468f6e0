"""An application's backend that publishes, with the synchronous client.

Options: `address`, `key`, and `channels`, two of them.
"""

from backend_client import report_result
from cent import BroadcastRequest, Client, PublishRequest
from scenario import read_options


def main() -> None:
    """Publishes."""
    options = read_options()
    first, second = options["channels"]
    with Client(options["address"], options["key"]) as client:
        publish = PublishRequest(
            channel=first,
            data={"text": "ä"},
            tags={"kind": "first"},
            idempotency_key="once",
        )
        report_result("publish", client.publish(publish))
        report_result("publish again", client.publish(publish))
        broadcast = BroadcastRequest(
            channels=[second, first, "nowhere:x"],
            data=[1, 2.5, None],
            tags={"kind": "second"},
            idempotency_key="all at once",
        )
        report_result("broadcast", client.broadcast(broadcast))
        report_result("broadcast again", client.broadcast(broadcast))
        unkept = PublishRequest(
            channel=first, data="not kept", skip_history=True
        )
        report_result("publish unkept", client.publish(unkept))
        report_result(
            "publish last",
            client.publish(PublishRequest(channel=first, data="last")),
        )


main()
