import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { eventLimits } from "../../../src/features/events/limits.ts";
import { publish } from "../support/api-request.ts";
import { takenUntil, withoutRepeats, configureEvents } from "./event-receiver.ts";
import { newChannel } from "../support/new-channel.ts";

configureEvents({ target: "queue:EVENTS", types: ["publication"] });

describe("events in a queue", () => {
  it("[E2] [E4] are messages of its consumer, one for each batch", async () => {
    const channel = newChannel("room");
    await publish(channel, 1);
    await publish(channel, "x".repeat(eventLimits.eventsQueueDataBytesMax));
    await publish(channel, 3);
    const events = withoutRepeats(await takenUntil(`channel/${channel}`, ({ data }) => data === 3));
    expect(events).toMatchObject([{ data: 1 }, { data_bytes: 65_538 }, { data: 3 }]);
    expect(events[1]).not.toHaveProperty("data");
    expect(env.EVENTS).toBeDefined();
  });
});
