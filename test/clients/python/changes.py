"""Clients that keep the list of a channel whose publications are changed.

Each client keeps it as docs/changes.md and docs/erasure.md say. Options:
`channel`, `token`, and `clients`, each with its `name`, its `address`, whether
it speaks `protobuf`, and whether it takes deltas (`delta`). The line `late` has
the clients of the option `late` come, which read the history. Each client
reports its list for a line `lists`, once it has the publication whose offset
the line says.
"""

import asyncio
from typing import Any

import centrifuge
from connection import SubscriptionEvents, new_client
from scenario import Instructions, parse_payload, read_options, report


class ListEvents(SubscriptionEvents):
    """Keeps a list by the tags of publications."""

    def __init__(self, channel: str, name: str) -> None:
        super().__init__(channel)
        self.entries: dict[int, Any] = {}
        self.offsets: list[int] = []
        self._moved = asyncio.Event()
        self._name = name
        self._read_to = 0

    async def on_publication(self, ctx: centrifuge.PublicationContext) -> None:
        self.offsets.append(ctx.pub.offset)
        self.apply(ctx.pub)
        self._moved.set()

    async def on_subscribed(self, ctx: centrifuge.SubscribedContext) -> None:
        recovered = ctx.recovered
        report("subscribed", name=self._name, recovered=recovered)
        self._settle(0)

    async def reached(self, top: int) -> None:
        """Waits for the publication at an offset."""
        while max(self._read_to, *self.offsets[-1:], 0) < top:
            self._moved.clear()
            await self._moved.wait()

    def read(self, history: centrifuge.HistoryResult) -> None:
        """Makes the list from the history, and reports what it read."""
        for publication in history.publications:
            report("read", name=self._name, data=publication.data)
            self.apply(publication)
        self._read_to = history.offset

    def apply(self, publication: centrifuge.Publication) -> None:
        """Does to the list what a publication says."""
        tags = publication.tags
        for span in tags.get("dormouse.erase", "").split(","):
            first, _, last = span.partition("-")
            for offset in range(int(first or 0), int(last or first or 0) + 1):
                self.entries.pop(offset, None)
        changed = tags.get("dormouse.update") or tags.get("dormouse.delete")
        offset = int(changed or publication.offset)
        if "dormouse.erase" in tags or "dormouse.replaced" in tags:
            return
        if tags.keys() & {
            "dormouse.delete",
            "dormouse.deleted",
            "dormouse.erased",
        }:
            self.entries.pop(offset, None)
            return
        data = publication.data
        is_bytes = isinstance(data, bytes)
        self.entries[offset] = parse_payload(data) if is_bytes else data


async def main() -> None:
    """Listens."""
    options = read_options()
    instructions = Instructions()
    channel = options["channel"]
    members: dict[str, tuple[centrifuge.Client, ListEvents]] = {}

    async def come(wanted: dict[str, Any], *, reads: bool) -> None:
        protobuf = wanted.get("protobuf", False)
        client, _ = new_client(
            wanted["address"], options["token"], protobuf=protobuf
        )
        events = ListEvents(channel, wanted["name"])
        fossil = centrifuge.DeltaType.FOSSIL
        subscription = client.new_subscription(
            channel,
            events=events,
            delta=fossil if wanted.get("delta") else None,
        )
        await subscription.subscribe()
        await client.connect()
        await events.outcome
        if reads:
            events.read(await subscription.history(limit=-1))
        members[wanted["name"]] = (client, events)

    await asyncio.gather(
        *(come(one, reads=False) for one in options["clients"])
    )
    report("ready")
    late = 0
    while (line := await instructions.next()) != "finish":
        if line == "late":
            late += 1
            comers = [
                {**one, "name": f"{one['name']} {late}"}
                for one in options["late"]
            ]
            await asyncio.gather(*(come(one, reads=True) for one in comers))
            report("late")
            continue
        for name, (_, events) in members.items():
            await events.reached(int(line.removeprefix("lists ")))
            entries = dict(sorted(events.entries.items()))
            report(
                "list",
                name=name,
                entries=list(entries.values()),
                offsets=events.offsets,
            )
        report("listed")
    for client, _ in members.values():
        await client.disconnect()


asyncio.run(main())
