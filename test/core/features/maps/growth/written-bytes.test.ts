import { describe, expect, it } from "vitest";
import { growthLimits } from "../../../../../src/features/maps/growth/limits.ts";
import { readChanges } from "../../../../../src/features/maps/map-operations.ts";
import { trustedJsonText } from "../../../../../src/protocol/json/text.ts";
import { set } from "../../../../contract/open-map.ts";
import { NodeSql } from "../../../../../package/test/node-sql.ts";
import { growingKey, type GrowingMap, growingMap } from "./growing-map.ts";

const { keyBytesPerMs, writtenBytesPerMs, writtenAheadMs } = growthLimits;
const longBytes = 100_000;

/** A map with a key whose value is long already. */
function withLongValue(options: Parameters<typeof growingMap>[1] = {}): GrowingMap {
  const growing = growingMap(new NodeSql(), options);
  growing.nowMs = 1_000_000;
  const data = trustedJsonText(JSON.stringify("x".repeat(longBytes)));
  set(growing.map, growingKey, 0, { data, nowMs: growing.nowMs });
  return growing;
}

/** How many changes the map has made. */
const changes = ({ channel }: GrowingMap): number => channel.top?.offset ?? 0;

describe("what growing values write", () => {
  it("[Z46] is bounded in bytes: the window of a long value lasts longer", () => {
    const growing = withLongValue();
    const before = changes(growing);
    const reader = growing.reader();
    // Single characters for 15 seconds.
    for (let passed = 0; passed < 15_000; passed += 50) {
      growing.append("y");
      growing.pass(50);
    }
    const windows = Math.ceil(15_000 / (longBytes / keyBytesPerMs));
    expect(changes(growing) - before).toBeLessThanOrEqual(windows + 1);
    expect(reader.value()).toBe("x".repeat(longBytes) + "y".repeat(300));
    growing.pass(10_000);
    expect(growing.stored()).toBe("x".repeat(longBytes) + "y".repeat(300));
  });

  it("[Z46] [Z40] of a short value keeps the window of the configuration", () => {
    const growing = growingMap(new NodeSql());
    growing.append("a");
    growing.append("b");
    growing.pass(250);
    expect(growing.stored()).toBe("ab");
  });

  it.each([
    ["with idempotency keys", {}, true],
    ["without windows", { appendWindowMs: 0 }, false],
  ] as const)("[Z46] is refused %s once it is too much, and goes on later", (_, options, keyed) => {
    const growing = withLongValue(options);
    let taken = 0;
    const next = () => growing.append("y", keyed ? { idempotencyKey: `${taken}` } : {});
    while (next().outcome === "appended") taken++;
    expect(taken).toBeLessThanOrEqual((writtenBytesPerMs * writtenAheadMs) / longBytes + 1);
    expect(taken).toBeGreaterThan(10);
    expect(next()).toMatchObject({
      outcome: "failed",
      error: { code: 111, message: "too many requests: bytes of appends" },
    });
    expect(growing.stored()).toBe("x".repeat(longBytes) + "y".repeat(taken));
    growing.pass(1_000);
    expect(next()).toMatchObject({ outcome: "appended" });
  });

  it.each(["", "y"])(
    "[Z46] counts a repeat that makes what waits durable: the text %o with an idempotency key",
    (repeated) => {
      const growing = withLongValue();
      let taken = 0;
      const pair = () => {
        const at = longBytes + taken;
        if (growing.append("y", { at }).outcome !== "appended") return false;
        taken++;
        const again = { at: repeated === "" ? at + 1 : at, idempotencyKey: `${taken}` };
        return growing.append(repeated, again).outcome === "appended";
      };
      while (pair());
      // The last text is told, and its repeat is refused.
      expect(taken).toBeLessThanOrEqual((writtenBytesPerMs * writtenAheadMs) / longBytes + 2);
      expect(taken).toBeGreaterThan(10);
      growing.pass(10_000);
      expect(growing.stored()).toBe("x".repeat(longBytes) + "y".repeat(taken));
    },
  );

  it("[Z46] [S5] is counted anew after the clock was set back", () => {
    const growing = withLongValue({ appendWindowMs: 0 });
    while (growing.append("y").outcome === "appended");
    growing.nowMs -= 3 * writtenAheadMs;
    expect(growing.append("y")).toMatchObject({ outcome: "appended" });
  });

  it("[S5] [Z40] is durable once its timer has rung, though the clock stands", () => {
    const growing = growingMap(new NodeSql());
    const standsAtMs = 10_000_000;
    for (let window = 0; window < 3; window++) {
      growing.nowMs = standsAtMs;
      growing.append(window === 0 ? "a" : "");
      growing.append("b");
      // The timer gives its work the time for which it was set.
      growing.pass(growing.map.growth.endsInMs(standsAtMs) ?? 0);
      expect(growing.stored()).toBe(`a${"b".repeat(window + 1)}`);
    }
  });

  it.each([40_000, 3_600_000])(
    "[S5] [Z40] is durable at the end of its window, though the clock was set back by %i ms",
    (byMs) => {
      const growing = growingMap(new NodeSql());
      growing.nowMs = 10_000_000;
      growing.append("a");
      growing.append("b");
      growing.nowMs -= byMs;
      const inMs = growing.map.growth.endsInMs(growing.nowMs);
      expect(inMs).toBeLessThanOrEqual(250);
      growing.pass(inMs ?? 0);
      expect(growing.stored()).toBe("ab");
    },
  );
});

describe("the end of a text", () => {
  it("[Z48] isn't where more follows: the length is told, and the text stays open", () => {
    const growing = growingMap(new NodeSql());
    growing.append("abcdef");
    const mismatch = { outcome: "not-appended", reason: "length_mismatch", length: 6 };
    expect(growing.append("cd", { at: 2, final: true })).toEqual(mismatch);
    expect(growing.append("g", { at: 6 })).toMatchObject({ outcome: "appended" });
    expect(growing.append("fg", { at: 5, final: true })).toMatchObject({ outcome: "appended" });
    expect(growing.append("h", { at: 7 })).toMatchObject({ reason: "final" });
    // Repeated, it is a success again.
    expect(growing.append("fg", { at: 5, final: true })).toMatchObject({ outcome: "appended" });
  });
});

describe("reading the changes of a map", () => {
  it("[Z47] since a position whose changes are gone is 112, and doesn't skip them", () => {
    const growing = growingMap(new NodeSql(), { appendWindowMs: 0 });
    growing.nowMs = 1_000_000;
    for (let number = 0; number < 400; number++) set(growing.map, "k", 1, { nowMs: growing.nowMs });
    const { epoch = "", offset = 0 } = growing.channel.top ?? {};
    const all = readChanges(growing.map, { limit: -1, reverse: false }, growing.nowMs);
    if (all.outcome !== "history") throw new Error(all.outcome);
    const oldest = all.publications[0]?.offset ?? 0;
    expect(oldest).toBeGreaterThan(1);
    const since = (at: number, limit = -1) =>
      readChanges(
        growing.map,
        { limit, reverse: false, since: { offset: at, epoch } },
        growing.nowMs,
      );
    expect(since(oldest - 2).outcome).toBe("unrecoverable-position");
    expect(since(0, 1).outcome).toBe("unrecoverable-position");
    expect(since(oldest - 1)).toMatchObject({ outcome: "history", publications: all.publications });
    expect(since(offset)).toMatchObject({ outcome: "history", publications: [] });
    expect(since(0, 0).outcome).toBe("history");
  });
});
