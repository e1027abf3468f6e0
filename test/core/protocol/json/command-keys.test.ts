import { describe, expect, it } from "vitest";
import { limits } from "../../../../src/limits.ts";
import { decodeCommand } from "../../../../src/protocol/json/decode.ts";

describe("decoding a command about the keys of a map or a shared poll", () => {
  it.each([
    ['{"signature":1}', "sub_refresh.track.signature is not a string"],
    ['{"items":1}', "sub_refresh.track.items is not an array"],
    ['{"items":[{"key":1}]}', "sub_refresh.track.items.key is not a string"],
    ['{"items":[{"version":-1}]}', "sub_refresh.track.items.version is not an unsigned integer"],
    ['{"items":[{"version":2e19}]}', "sub_refresh.track.items.version is out of range"],
  ])("[W1] refuses to track %s", (batch, reason) => {
    expect(decodeCommand(`{"id":1,"sub_refresh":{"track":[${batch}]}}`)).toStrictEqual({
      outcome: "malformed",
      reason,
    });
  });

  it("[W1] takes the largest cursor", () => {
    const cursor = "é".repeat(limits.mapCursorBytesMax / 2);
    const decoded = decodeCommand(JSON.stringify({ id: 1, subscribe: { cursor } }));
    expect(decoded).toMatchObject({ outcome: "command", command: { request: { cursor } } });
  });

  it("[W1] takes every version of a uint64, and rounds those beyond the safe integers", () => {
    for (const [digits, version] of [
      ["9007199254740993", 9_007_199_254_740_992n],
      ["18446744073709551615", 18_446_744_073_709_551_615n],
    ] as const) {
      const track = `[{"items":[{"version":${digits}}]}]`;
      expect(decodeCommand(`{"id":1,"sub_refresh":{"track":${track}}}`)).toMatchObject({
        command: { request: { track: [{ items: [{ version }] }] } },
      });
    }
  });

  it.each([
    [
      "trackBatchesMax",
      "track has over",
      "entries",
      (count: number) => ({ track: batches(count) }),
    ],
    [
      "trackItemsMax",
      "track has over",
      "items",
      (count: number) => ({ track: [{ items: batches(1) }, { items: batches(count - 1) }] }),
    ],
    [
      "untrackKeysMax",
      "untrack has over",
      "entries",
      (count: number) => ({ untrack: batches(count).map(() => "k") }),
    ],
  ] as const)(
    "[B1] tracks keys up to limits.%s, and no more",
    (name, complaint, what, requestOf) => {
      const decode = (count: number) =>
        decodeCommand(JSON.stringify({ id: 1, sub_refresh: requestOf(count) }));
      expect(decode(limits[name])).toMatchObject({ outcome: "command" });
      expect(decode(limits[name] + 1)).toStrictEqual({
        outcome: "malformed",
        reason: `sub_refresh.${complaint} ${limits[name]} ${what}`,
      });
    },
  );
});

function batches(count: number): readonly object[] {
  return Array.from({ length: count }, () => ({}));
}
