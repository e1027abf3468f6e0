import { describe, expect, it } from "vitest";
import { shownSettings } from "../../../src/features/console/settings.ts";
import type { CollectedRefusal, Settings } from "../../../workers/page/answers.ts";
import { configured } from "../../support/configured.ts";
import { historyText, reasonText } from "../../../workers/page/channel-questions.ts";
import {
  bytes,
  count,
  counted,
  duration,
  lasting,
  listed,
  newest,
  whole,
} from "../../../workers/page/text.ts";

describe("the texts of the console", () => {
  it.each([
    [0, "user", "0 users"],
    [1, "user", "1 user"],
    [2, "user", "2 users"],
    [12_345, "user", "12.3 k users"],
  ])("[N30] number things: %s %s", (value, noun, text) => {
    expect(counted(value, noun)).toBe(text);
  });

  it("[N30] number things whose plural is irregular, and the newest of some", () => {
    expect(counted(2, "GB-s", "GB-s")).toBe("2 GB-s");
    expect([1, 2].map((value) => newest(value, "change"))).toStrictEqual([
      "newest change",
      "newest 2 changes",
    ]);
    expect([999, 100_000].map(whole)).toStrictEqual(["999", "100,000"]);
    expect([0, 7, 99.96, 1_234, 2_500_000].map(count)).toStrictEqual([
      "0",
      "7",
      "100.0",
      "1234",
      "2.5 M",
    ]);
    expect([0, 1_000, 65_536, 1_572_864].map(bytes)).toStrictEqual([
      "0 B",
      "1000 B",
      "64 KiB",
      "1.5 MiB",
    ]);
    expect([["a"], ["a", "b"], ["a", "b", "c"]].map(listed)).toStrictEqual([
      "a",
      "a and b",
      "a, b and c",
    ]);
  });

  it.each([
    [250, "250 ms"],
    [1_000, "1 second"],
    [1_500, "1500 ms"],
    [90_000, "90 seconds"],
    [150_000, "150 seconds"],
    [3_600_000, "1 hour"],
    [5_400_000, "90 minutes"],
    [172_800_000, "2 days"],
  ])("[N29] tell a duration of the configuration exactly: %d ms", (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  it.each([
    [0, "0 seconds"],
    [1_000, "1 second"],
    [119_000, "119 seconds"],
    [150_000, "3 minutes"],
    [12_300_000, "3 hours"],
    [400_000_000, "5 days"],
  ])("[N30] tell for how long an object is awake: %d ms", (ms, text) => {
    expect(lasting(ms)).toBe(text);
  });
});

/** What the console is told of a configuration with the namespace `seen`. */
function settingsWith(options: object): Settings {
  const config = configured({ channel: { namespaces: [{ name: "seen", ...options }] } });
  return JSON.parse(JSON.stringify(shownSettings(config)));
}

const map = (options: object) => ({ subscription_type: "map", map: options });

describe("what the console says of a channel", () => {
  it.each([
    [{ history_size: 5, history_ttl: "1s" }, { publications: 2, size: 5 }, "2 of 5"],
    [{}, { publications: 0, size: 0 }, "off"],
    [map({ mode: "persistent" }), { publications: 92, size: 100 }, "92 of 100"],
    [map({ mode: "ephemeral", key_ttl: "1m" }), { publications: 92, size: 0 }, "none is kept"],
  ])("[N30] how much is kept: %j %j", (options, history, text) => {
    const namespace = settingsWith(options).namespaces.find(({ name }) => name === "seen");
    expect(namespace && historyText(namespace, history)).toBe(text);
  });

  const settings = settingsWith({});
  const missing = "channel.namespaces doesn't have seen; did you mean been?";
  it.each([
    [missing, "seen:1", "channel.namespaces doesn't have seen. The configuration has it now."],
    [missing, "sees:1", missing],
    [missing, undefined, missing],
    ["history is off", "seen:1", "history is off"],
  ])("[N28] that a namespace which was missing isn't any more: %s %s", (reason, channel, text) => {
    const refusal: CollectedRefusal = {
      object: "edge",
      at_ms: 1,
      count: 1,
      refused: "api publish",
      rule: "W1",
      reason,
      ...(channel !== undefined && { channel }),
    };
    expect(reasonText(refusal, settings)).toBe(text);
  });
});
