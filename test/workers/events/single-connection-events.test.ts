import { describe, expect, it } from "vitest";
import { configureEvents, toldOfUser } from "./event-receiver.ts";
import { story, typesTaken } from "./event-story.ts";
import { newChannel } from "../support/new-channel.ts";
import { testConfig } from "../support/test-config.ts";
import { variants } from "../support/variant.ts";

configureEvents(
  { types: ["connected", "disconnected", "user_online", "user_offline"] },
  {
    client: {
      ...testConfig.client,
      subscribe_to_user_personal_channel: { enabled: true, single_connection: true },
    },
  },
);

describe.each(variants)("the events of single connections on $name", (variant) => {
  it("[E8] [E13] [E11] [C10] tell of the end of the older one, once, and the user stays online", async () => {
    const channel = newChannel("room");
    const user = `user-${crypto.randomUUID()}`;
    const older = await variant.connect(channel, user);
    await variant.betweenSteps(channel);
    const newer = await variant.connect(channel, user);
    expect((await older.closed).code).toBe(3504);
    expect(await story(variant, channel, older.client)).toStrictEqual([
      "connected",
      "disconnected 3504 connection limit",
    ]);
    await variant.betweenSteps(channel);
    newer.close();
    await newer.closed;
    expect(await story(variant, channel, newer.client)).toStrictEqual([
      "connected",
      "disconnected 1000",
    ]);
    expect((await typesTaken(variant, channel)).toSorted()).toStrictEqual([
      "connected",
      "connected",
      "disconnected",
      "disconnected",
    ]);
    expect(await toldOfUser(user, 2)).toStrictEqual(["user_online", "user_offline"]);
  });
});
