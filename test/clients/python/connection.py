"""The official client, set up as every scenario needs it.

All that it reports is passed on to the test.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

import centrifuge
from scenario import report


def new_client(
    address: str,
    token: str = "",
    get_token: Callable[[], Awaitable[str]] | None = None,
    *,
    protobuf: bool = False,
) -> tuple[centrifuge.Client, "ClientEvents"]:
    """A client that isn't connected yet, and its events."""
    events = ClientEvents()
    # Patient, for a busy machine, and quick to come back: no test is about
    # the delays of the SDK.
    client = centrifuge.Client(
        address,
        events=events,
        token=token,
        get_token=get_token,
        timeout=30,
        max_reconnect_delay=0.2,
        use_protobuf=protobuf,
    )
    return client, events


class ClientEvents(centrifuge.ClientEventHandler):
    """Reports what happens to a connection and its server subscriptions."""

    def __init__(self) -> None:
        self.disconnected = asyncio.Event()

    async def on_connecting(self, ctx: centrifuge.ConnectingContext) -> None:
        report("connecting", **asdict(ctx))

    async def on_connected(self, ctx: centrifuge.ConnectedContext) -> None:
        report("connected", **asdict(ctx))

    async def on_disconnected(
        self, ctx: centrifuge.DisconnectedContext
    ) -> None:
        report("disconnected", **asdict(ctx))
        self.disconnected.set()

    async def on_error(self, ctx: centrifuge.ErrorContext) -> None:
        report("error", code=ctx.code, **reply_code(ctx.error))

    async def on_subscribing(
        self, ctx: centrifuge.ServerSubscribingContext
    ) -> None:
        report("server subscribing", **asdict(ctx))

    async def on_subscribed(
        self, ctx: centrifuge.ServerSubscribedContext
    ) -> None:
        report("server subscribed", **asdict(ctx))

    async def on_unsubscribed(
        self, ctx: centrifuge.ServerUnsubscribedContext
    ) -> None:
        report("server unsubscribed", **asdict(ctx))

    async def on_publication(
        self, ctx: centrifuge.ServerPublicationContext
    ) -> None:
        report("server publication", channel=ctx.channel, **asdict(ctx.pub))

    async def on_join(self, ctx: centrifuge.ServerJoinContext) -> None:
        report("server join", **asdict(ctx))

    async def on_leave(self, ctx: centrifuge.ServerLeaveContext) -> None:
        report("server leave", **asdict(ctx))


class SubscriptionEvents(centrifuge.SubscriptionEventHandler):
    """Reports what happens to one subscription."""

    def __init__(self, channel: str) -> None:
        self.joined = asyncio.Event()
        self.unsubscribed = asyncio.Event()
        # What the first subscribe comes to: 0, or the code of its refusal.
        loop = asyncio.get_running_loop()
        self.outcome: asyncio.Future[int] = loop.create_future()
        self._channel = channel

    async def on_subscribing(self, ctx: centrifuge.SubscribingContext) -> None:
        self._report("subscribing", **asdict(ctx))

    async def on_subscribed(self, ctx: centrifuge.SubscribedContext) -> None:
        report("subscribed", **asdict(ctx))
        self._settle(0)

    async def on_unsubscribed(
        self, ctx: centrifuge.UnsubscribedContext
    ) -> None:
        self._report("unsubscribed", **asdict(ctx))
        self._settle(ctx.code)
        self.unsubscribed.set()

    async def on_publication(self, ctx: centrifuge.PublicationContext) -> None:
        self._report("publication", **asdict(ctx.pub))

    async def on_join(self, ctx: centrifuge.JoinContext) -> None:
        self._report("join", **asdict(ctx.info))
        self.joined.set()

    async def on_leave(self, ctx: centrifuge.LeaveContext) -> None:
        self._report("leave", **asdict(ctx.info))

    async def on_error(self, ctx: centrifuge.SubscriptionErrorContext) -> None:
        self._report(
            "subscription error", code=ctx.code, **reply_code(ctx.error)
        )

    def _settle(self, code: int) -> None:
        if not self.outcome.done():
            self.outcome.set_result(code)

    def _report(self, event: str, **details: Any) -> None:
        report(event, channel=self._channel, **details)


def to_payload(data: Any, *, protobuf: bool) -> Any:
    """What `publish` takes: with Protobuf data are bytes."""
    return json.dumps(data).encode() if protobuf else data


def reply_code(error: Exception) -> dict[str, int]:
    """The server's own code, where an error is a reply of the server."""
    if isinstance(error, centrifuge.ReplyError):
        return {"reply": error.code}
    return {}
