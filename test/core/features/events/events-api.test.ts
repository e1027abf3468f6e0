import { describe, expect, it } from "vitest";
import { parseEventsRequest } from "../../../../src/features/events/events-request.ts";
import { eventLimits } from "../../../../src/features/events/limits.ts";
import { eventsConfig } from "./outbox-fixture.ts";
import { caller } from "../../api/channel-config.ts";

function parse(request: object, rights?: Parameters<typeof caller>[0]) {
  return parseEventsRequest(JSON.stringify(request), caller(rights), eventsConfig());
}

describe("an events request", () => {
  it("[E5] names an object, a number and a limit", () => {
    expect(parse({ object: "channel/news/today", since: 7, limit: 3 })).toStrictEqual({
      outcome: "events",
      object: { kind: "node", name: "channel:news/today" },
      since: 7,
      limit: 3,
    });
    expect(parse({ object: "gateway/weur/0" })).toStrictEqual({
      outcome: "events",
      object: { kind: "node", name: "gateway:weur/0" },
      since: 0,
      limit: eventLimits.eventsAnswerDefault,
    });
  });

  it.each<[object, number]>([
    [{}, 107],
    [{ object: "news" }, 107],
    [{ object: "channel/" }, 107],
    [{ object: "home/64" }, 107],
    [{ object: "channel/strange:a" }, 102],
    [{ object: "channel/news", limit: eventLimits.eventsAnswerMax + 1 }, 107],
  ])("[E5] [B2] refuses %j", (request, code) => {
    expect(parse(request)).toMatchObject({ outcome: "refused", error: { code } });
  });

  it("[W4] is malformed when a field has the wrong type", () => {
    expect(parse({ object: "channel/news", since: -1 })).toStrictEqual({
      outcome: "malformed",
      detail: "the field since must be an unsigned 64 bit integer",
    });
  });

  it("[E5] [A14] needs a key that admits the method and the channel, or all channels", () => {
    const rights = { methods: ["events"], channels: ["news"] };
    const denied = { outcome: "refused", error: { code: 103 } };
    expect(parse({ object: "channel/news" }, rights).outcome).toBe("events");
    expect(parse({ object: "channel/old" }, rights)).toMatchObject(denied);
    expect(parse({ object: "gateway/weur/0" }, rights)).toMatchObject(denied);
    expect(parse({ object: "gateway/weur/0" }, { ...rights, channels: ["*"] }).outcome).toBe(
      "events",
    );
    expect(parse({ object: "home/7" }, rights)).toMatchObject(denied);
    const others = { ...rights, methods: ["publish"] };
    for (const object of ["channel/news", "gateway/weur/0", "nothing"])
      expect(parse({ object }, others)).toMatchObject(denied);
  });

  it("[E5] is answered 108 where no events are kept", () => {
    expect(parseEventsRequest('{"object":"channel/news"}', caller(), undefined)).toMatchObject({
      outcome: "refused",
      error: { code: 108 },
    });
  });
});
