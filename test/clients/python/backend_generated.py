"""An application's backend whose client a generator makes of the description.

Options: `address` of the server, `key`, `channel`, which has history, and
`plain`, a channel without history.
"""

import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from openapi_python_client.cli import app
from scenario import read_options, report


def generate(address: str, folder: Path) -> None:
    """Makes the client's package; a warning of the generator is a failure."""
    # The generator would only format the code with these.
    config = folder / "config.yml"
    config.write_text("post_hooks: []\n")
    words = ["generate", "--url", f"{address}/openapi.json", "--meta", "none"]
    output = ["--output-path", str(folder / "generated")]
    options = ["--config", str(config), "--fail-on-warning"]
    # Standard output is for reports alone.
    with redirect_stdout(sys.stderr):
        app([*words, *output, *options], standalone_mode=False)
    sys.path.insert(0, str(folder))


def main() -> None:
    """Publishes, reads, and asks for what it can't have."""
    options = read_options()
    channel, plain = options["channel"], options["plain"]
    with TemporaryDirectory() as folder:
        generate(options["address"], Path(folder))
        models = import_module("generated.models")
        client = import_module("generated").AuthenticatedClient(
            base_url=options["address"],
            token=options["key"],
            prefix="",
            auth_header_name="X-API-Key",
        )

        def call(group: str, method: str, body: Any, **more: Any) -> Any:
            api = import_module(f"generated.api.{group}.{method}")
            return api.sync(client=client, body=body, **more)

        tags = models.PublishRequestTags.from_dict({"kind": "first"})
        request = models.PublishRequest(
            channel=channel, data={"text": "ä"}, tags=tags
        )
        published = call("publications", "publish", request)
        report(
            "published",
            type=type(published).__name__,
            offset=published.result.offset,
        )
        read = models.HistoryRequest(channel=channel, limit=-1)
        history = call("publications", "history", read).result
        publications = [one.to_dict() for one in history.publications]
        report("history", publications=publications, offset=history.offset)
        refused = call(
            "publications", "history", models.HistoryRequest(channel=plain)
        )
        report(
            "refused",
            type=type(refused).__name__,
            code=refused.error.code,
        )
        mode = models.HistoryXCentrifugoErrorMode.TRANSPORT
        error = call(
            "publications",
            "history",
            models.HistoryRequest(channel=plain),
            x_centrifugo_error_mode=mode,
        )
        report("in transport mode", type=type(error).__name__, code=error.code)
        stats = models.PresenceStatsRequest(channel=channel)
        commands = [
            models.Command(publish=request),
            models.Command(presence_stats=stats),
        ]
        batch = call(
            "batches", "batch", models.BatchRequest(commands=commands)
        )
        first, second = batch.replies
        report(
            "batch",
            offset=first.publish.offset,
            num_clients=second.presence_stats.num_clients,
        )


main()
