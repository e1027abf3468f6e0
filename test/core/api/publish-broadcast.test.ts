import { describe, expect, it } from "vitest";
import { entriesOf } from "../../../src/api/command.ts";
import { parseBroadcast } from "../../../src/api/publish.ts";
import { limits } from "../../../src/limits.ts";
import { caller } from "./channel-config.ts";

const backend = caller();

function entries(request: string) {
  const parsed = parseBroadcast(request, backend);
  if (parsed.outcome === "malformed") throw new Error(parsed.detail);
  return entriesOf(parsed.command);
}

function requestFor(channelCount: number): string {
  const channels = Array.from({ length: channelCount }, (_, n) => `c${n}`);
  return JSON.stringify({ channels, data: 1 });
}

describe("a broadcast request", () => {
  it("[W10] with a condition is answered 107: it has none", () => {
    for (const condition of [0, 5]) {
      const request = `{"channels":["a","b"],"data":1,"if_offset":${condition}}`;
      expect(entries(request)).toMatchObject([
        { error: { code: 107 }, detail: "if_offset is not a field of this method" },
      ]);
    }
    expect(entries(`{"channels":["a"],"data":1,"if_offset":null}`)).toMatchObject([
      { outcome: "call" },
    ]);
  });

  it("[W3] has an entry for each channel in order, also for one that is listed twice", () => {
    const request = {
      data: `{"n":1.0}`,
      skipHistory: false,
      idempotencyKey: "k",
      version: 18446744073709551615n,
      versionEpoch: "",
      delta: false,
    };
    const command = { method: "publish", request, key: "API_KEY" };
    expect(
      entries(
        `{"channels":["b","a","b"],"data":{"n":1.0},"idempotency_key":"k","version":18446744073709551615}`,
      ),
    ).toStrictEqual([
      { outcome: "call", channel: "b", command },
      { outcome: "call", channel: "a", command },
      { outcome: "call", channel: "b", command },
    ]);
  });

  it("[W3] refuses only the entries of channels that can't be published to", () => {
    expect(entries(`{"channels":["a","","strange:a","objects:a"],"data":1}`)).toMatchObject([
      { outcome: "call", channel: "a" },
      { outcome: "refused", error: { code: 107 } },
      { outcome: "refused", error: { code: 102 } },
      { outcome: "refused", error: { code: 107 } },
    ]);
  });

  it.each([
    [`{"data":1}`, "channels is required"],
    [`{"channels":[],"data":1}`, "channels is required"],
    [`{"channels":null,"data":1}`, "channels is required"],
    [`{"channels":["a"]}`, "data is required"],
    [`{"channels":["a"],"data":1,"tags":{"a":1}}`, "all values of tags must be strings"],
  ])("[W1] is refused as a whole: %s", (request, detail) => {
    expect(parseBroadcast(request, backend)).toMatchObject({
      outcome: "command",
      command: { form: "single", method: "broadcast", entry: { error: { code: 107 }, detail } },
    });
  });

  it("[B1] takes as many channels as the limit says and no more", () => {
    expect(entries(requestFor(limits.requestChannelsMax))).toHaveLength(limits.requestChannelsMax);
    expect(entries(requestFor(limits.requestChannelsMax + 1))).toMatchObject([
      { outcome: "refused", error: { code: 107 }, detail: "channels has more than 1000 entries" },
    ]);
  });

  it.each([
    [`{"channels":"a","data":1}`, "the field channels must be an array"],
    [`{"channels":["a",1],"data":1}`, "the field channels.1 must be a string"],
    [
      `{"channels":["a"],"data":1,"version":-1}`,
      "the field version must be an unsigned 64 bit integer",
    ],
  ])("[W4] is malformed: %s", (request, detail) => {
    expect(parseBroadcast(request, backend)).toStrictEqual({ outcome: "malformed", detail });
  });
});
