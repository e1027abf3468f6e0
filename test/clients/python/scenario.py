"""What the scenarios share: options, what they are told, what they report.

A scenario gets its options as JSON in its only argument, is told things as
lines on its standard input, the end of which asks it to finish, and prints one
JSON object a line. It asserts nothing: the tests read what it prints.
"""

import asyncio
import json
import sys
import threading
from typing import Any


def read_options() -> Any:
    """The options that the test gave."""
    return json.loads(sys.argv[1])


def report(event: str, **details: Any) -> None:
    """Tells the test what happened, payloads that came as bytes included."""
    text = json.dumps({"event": event, **details}, default=parse_payload)
    print(text, flush=True)


def parse_payload(payload: bytes) -> Any:
    """What the bytes of a payload say; those that aren't there say nothing."""
    return json.loads(payload) if payload else None


class Instructions:
    """What the test tells the scenario while it runs."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        # A daemon, so that a scenario can end while its input is open.
        threading.Thread(target=self._read, args=(loop,), daemon=True).start()

    async def next(self) -> str:
        """The next line."""
        return await self._lines.get()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(
                self._lines.put_nowait, line.rstrip("\n")
            )
        loop.call_soon_threadsafe(self.over.set)
