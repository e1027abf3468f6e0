import { describe, expect, it } from "vitest";
import { planCalls } from "../../../../src/api/calls.ts";
import { parseEntry } from "../../../../src/api/methods.ts";
import { availableEntry } from "../../../../src/api/order-methods.ts";
import { trailLimits } from "../../../../src/features/why/limits.ts";
import { limits } from "../../../../src/limits.ts";
import { caller } from "../../api/channel-config.ts";

const why = (request: object, from = caller()) => parseEntry("why", JSON.stringify(request), from);
const inspect = (request: object, from = caller()) =>
  parseEntry("inspect", JSON.stringify(request), from);
const key = (methods: readonly string[], channels: readonly string[]) =>
  caller({ methods, channels });
const refused = (code: number, detail: string) => ({ outcome: "refused", error: { code }, detail });
const asked = { channel: "news", offset: 3, user: "ada" };

describe("a why request", () => {
  it("[Y3] names a channel, an offset and a user or a client", () => {
    const question = { method: "why", channel: "news", offset: 3, user: "ada", client: "" };
    expect(why(asked)).toStrictEqual({ outcome: "question", question });
    expect(why({ ...asked, user: "", client: "c" })).toMatchObject({ question: { client: "c" } });
    expect(why({ ...asked, channel: "" })).toMatchObject(refused(107, "channel is required"));
    expect(why({ ...asked, offset: 0 })).toMatchObject(
      refused(107, "offset is required: the publication's, from 1 on"),
    );
    expect(why({ ...asked, user: "" })).toMatchObject(refused(107, "user or client is required"));
    expect(why({ ...asked, channel: "nosuch:x" })).toMatchObject({ error: { code: 102 } });
    expect(why({ ...asked, offset: "3" })).toMatchObject({ outcome: "malformed" });
  });

  it("[B2] is answered 107 for a user or a client whose ID is too long", () => {
    const user = "x".repeat(limits.userCharactersMax);
    expect(why({ ...asked, user })).toMatchObject({ outcome: "question" });
    expect(why({ ...asked, user: `${user}x` })).toMatchObject({ error: { code: 107 } });
    expect(why({ ...asked, user: "a\uD800" })).toMatchObject({ error: { code: 107 } });
    const client = "x".repeat(trailLimits.trailClientCharactersMax);
    expect(why({ ...asked, client })).toMatchObject({ outcome: "question" });
    expect(why({ ...asked, client: `${client}x` })).toMatchObject({ error: { code: 107 } });
  });

  it("[A14] is admitted by a key for the method and the channel", () => {
    expect(why(asked, key(["why"], ["news"]))).toMatchObject({ outcome: "question" });
    expect(why(asked, key(["why"], ["other"]))).toMatchObject({ error: { code: 103 } });
    expect(why(asked, key(["inspect"], ["*"]))).toMatchObject({ error: { code: 103 } });
  });

  it("[Y3] is answered where users have no homes, and counts as all the calls that it makes", () => {
    const entry = why(asked);
    if (entry.outcome === "malformed") throw new Error(entry.detail);
    expect(availableEntry(entry, { enabled: false, status: false })).toBe(entry);
    const most = Math.floor(limits.requestChannelsMax / (trailLimits.askedGatewaysMax + 2));
    const entries = Array.from({ length: most + 1 }, () => entry);
    expect(planCalls(entries.slice(1))).toMatchObject({ outcome: "plan" });
    expect(planCalls(entries)).toMatchObject({ error: { code: 107 } });
  });
});

describe("an inspect request", () => {
  it("[Y4] names a channel or an object", () => {
    const question = { method: "inspect", channel: "news", object: "", refusals: 0 };
    expect(inspect({ channel: "news" })).toStrictEqual({ outcome: "question", question });
    expect(inspect({ object: "channel:news" })).toStrictEqual({ outcome: "question", question });
    const gateway = { ...question, channel: "", object: "gateway:eu/0", refusals: 5 };
    expect(inspect({ object: "gateway:eu/0", refusals: 5 })).toMatchObject({ question: gateway });
    const both = "channel and object name different objects";
    for (const object of ["gateway:eu/0", "channel:other"])
      expect(inspect({ channel: "news", object })).toMatchObject(refused(107, both));
    expect(inspect({})).toMatchObject(refused(107, "channel is required"));
    expect(inspect({ channel: "nosuch:x" })).toMatchObject({ error: { code: 102 } });
  });

  it("[B2] takes a bounded number of refusals", () => {
    const most = limits.trailRefusalsMax;
    expect(inspect({ channel: "news", refusals: most })).toMatchObject({ outcome: "question" });
    expect(inspect({ channel: "news", refusals: most + 1 })).toMatchObject({
      error: { code: 107 },
    });
  });

  it("[A14] is admitted by a key for the channel; for a gateway by one for all channels only", () => {
    const one = caller({ methods: ["inspect"], channels: ["news"] });
    expect(inspect({ channel: "news" }, one)).toMatchObject({ outcome: "question" });
    expect(inspect({ object: "channel:news" }, one)).toMatchObject({ outcome: "question" });
    expect(inspect({ object: "channel:other" }, one)).toMatchObject({ error: { code: 103 } });
    expect(inspect({ object: "gateway:eu/0" }, one)).toMatchObject({ error: { code: 103 } });
    const all = caller({ methods: ["inspect"], channels: ["*"] });
    expect(inspect({ object: "gateway:eu/0" }, all)).toMatchObject({ outcome: "question" });
  });
});
