"""An application's backend that asks for what it can't have.

Options: `address`, `key`, `channel`, which has history, and `plain`, a channel
that has neither history nor presence.
"""

from collections.abc import Callable

from cent import (
    CentApiResponseError,
    CentTransportError,
    CentUnauthorizedError,
    Client,
    HistoryRequest,
    PresenceRequest,
    PresenceStatsRequest,
    PublishRequest,
    StreamPosition,
)
from scenario import read_options, report


def main() -> None:
    """Asks."""
    options = read_options()
    channel, plain = options["channel"], options["plain"]
    elsewhere = StreamPosition(offset=1, epoch="elsewhere")
    with Client(options["address"], options["key"]) as client:
        attempt(
            lambda: client.publish(PublishRequest(channel="nowhere:x", data=1))
        )
        attempt(lambda: client.publish(PublishRequest(channel="", data=1)))
        attempt(lambda: client.history(HistoryRequest(channel=plain)))
        attempt(lambda: client.presence(PresenceRequest(channel=plain)))
        attempt(
            lambda: client.presence_stats(PresenceStatsRequest(channel=plain))
        )
        attempt(
            lambda: client.history(
                HistoryRequest(channel=channel, limit=1, since=elsewhere)
            )
        )
    with Client(options["address"], "another key") as client:
        attempt(
            lambda: client.publish(PublishRequest(channel=channel, data=1))
        )


def attempt(call: Callable[[], object]) -> None:
    """Makes one call and reports the error that it ends with."""
    try:
        call()
    except CentApiResponseError as error:
        report("error", code=error.code, message=error.message)
    except CentTransportError as error:
        report("status", status=error.status_code)
    except CentUnauthorizedError:
        report("unauthorized")
    else:
        report("done")


main()
