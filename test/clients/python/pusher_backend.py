"""An application's backend that uses the server library of Pusher.

Options: `app`, which the library takes, `public`, `sealed` and `room`, the
names of a public, an encrypted and a presence channel, and `user`.
"""

from pusher import Pusher
from scenario import read_options, report


def main() -> None:
    """Publishes, and asks."""
    options = read_options()
    public, room = options["public"], options["room"]
    client = Pusher(ssl=False, **options["app"])
    first = client.trigger(public, "order", {"text": "ä", "id": 1})
    report("triggered", answer=first)
    client.trigger([public, room], "plain", "no JSON")
    client.trigger(options["sealed"], "secret", {"pin": 1234})
    batch = [{"channel": public, "name": "third", "data": [3]}]
    report("batch", answer=client.trigger_batch(batch))
    client.send_to_user(options["user"], "greeting", {"hello": "there"})
    attributes = ["user_count", "subscription_count"]
    info = client.channel_info(room, attributes)
    report("channel", answer=info)
    report("channels", answer=client.channels_info("presence-", ["user_count"]))
    report("users", answer=client.users_info(room))


main()
