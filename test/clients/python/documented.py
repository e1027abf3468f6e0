"""Hears a channel with the code of docs/frameworks.md.

Options: `folder` of the module `realtime`, which is that code; `address`,
`token` and `channel`. It goes on until it is asked to finish.
"""

import asyncio
import sys

from scenario import Instructions, read_options, report


async def main() -> None:
    """Listens."""
    options = read_options()
    sys.path.insert(0, options["folder"])
    import realtime

    async def get_token() -> str:
        return options["token"]

    def heard(data: object) -> None:
        report("heard", data=data)

    instructions = Instructions()
    client = await realtime.listen(
        options["address"], get_token, options["channel"], heard
    )
    await client.get_subscription(options["channel"]).ready()
    report("listening")
    await instructions.over.wait()
    await client.disconnect()


asyncio.run(main())
