import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Arbitrary, array, assert, constantFrom, integer, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { History, type HistoryRead } from "../../../src/channel/history.ts";
import { limits } from "../../../src/limits.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import { trustedJsonText } from "../../../src/protocol/json/text.ts";
import { CountingSql } from "../../support/counting-sql.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";

const options = { size: 1_000, ttlMs: 60_000, metaTtlMs: 60_000 };
const open = (sql: CountingSql | NodeSql, size = options.size) => {
  const history = new History(sql, { ...options, size }, () => "epoch");
  history.resize(() => undefined);
  return history;
};

/** No two publications are the same, also in different streams. */
let published = 0;

/** Publishes numbers, each with its offset as a tag, padded to so many bytes. */
function publish(history: History, count: number, bytes = 0): void {
  for (let index = 0; index < count; index++) {
    const number = String(history.position(0).offset + 1);
    const data = trustedJsonText(JSON.stringify(`${++published}`.padStart(bytes)));
    const plain = { idempotencyKey: "", version: 0n, versionEpoch: "", delta: false };
    history.append({ data, tags: { number }, ...plain }, 0);
  }
}

/** What a client gets that returns from a position. */
function missedSince(history: History, sinceOffset: number, bytesMax = 1_000_000): HistoryRead {
  return history.read({ sinceOffset, limit: 1_000, reverse: false }, bytesMax, 0);
}

const offsetsOf = (read: HistoryRead) =>
  read.outcome === "read" ? read.publications.map(({ offset }) => offset) : read.outcome;

function listOf(read: HistoryRead): readonly Publication[] {
  return read.outcome === "read" ? read.publications : [];
}

describe("clients that return one after the other", () => {
  it("[R2] get what each has missed, and each row is read once for all of them", () => {
    const sql = new CountingSql(new NodeSql());
    const history = open(sql);
    publish(history, 50);
    expect(offsetsOf(missedSince(history, 40))).toHaveLength(10);
    sql.rowsRead = 0;
    for (const since of [40, 45, 49])
      expect(offsetsOf(missedSince(history, since))[0]).toBe(since + 1);
    expect(sql.rowsRead).toBe(0);
    publish(history, 3);
    expect(offsetsOf(missedSince(history, 45))).toEqual([46, 47, 48, 49, 50, 51, 52, 53]);
    expect(sql.rowsRead).toBe(3);
    const more = limits.unmeasuredRowsMax + 1;
    publish(history, more);
    expect(offsetsOf(missedSince(history, 53))).toHaveLength(more);
    // The rows, and what they measure together.
    expect(sql.rowsRead).toBe(3 + more + 1);
  });

  it("[R7] share one list until something is published, and get no list that is stale", () => {
    const sql = new NodeSql();
    const history = open(sql);
    publish(history, 20);
    missedSince(history, 10);
    expect(listOf(missedSince(history, 11))).toHaveLength(9);
    const list = listOf(missedSince(history, 10));
    expect(listOf(missedSince(history, 10))).toBe(list);
    publish(history, 1);
    missedSince(history, 10);
    expect(offsetsOf(missedSince(history, 10)).at(-1)).toBe(21);
    history.remove(0);
    expect(offsetsOf(missedSince(history, 10))).toEqual([]);
    history.forget();
    publish(history, 21);
    missedSince(history, 10);
    // The offsets are those of the stream before, and the publications are others.
    expect(missedSince(history, 10)).toEqual(missedSince(open(sql), 10));
    expect(missedSince(history, 10, 1)).toEqual({ outcome: "too-large" });
  });

  it("[R7] hold the list only while it is sent", async () => {
    const history = open(new NodeSql());
    publish(history, 20);
    missedSince(history, 10);
    const shared = new WeakRef(listOf(missedSince(history, 10)));
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    // What a turn of the event loop has read isn't collected in it.
    await setImmediate();
    collect();
    expect(shared.deref()).toBeUndefined();
    expect(offsetsOf(missedSince(history, 10))).toHaveLength(10);
  });

  it("[B1] keep memory bounded: only the newest publications are read once, however many are read", () => {
    const sql = new CountingSql(new NodeSql());
    const history = open(sql);
    const { recentPublicationsMax, recentBytesMax } = limits;
    const top = recentPublicationsMax + 100;
    publish(history, top);
    expect(offsetsOf(missedSince(history, 0))).toHaveLength(top);
    sql.rowsRead = 0;
    missedSince(history, top - recentPublicationsMax);
    expect(sql.rowsRead).toBe(0);
    missedSince(history, top - recentPublicationsMax - 1);
    expect(sql.rowsRead).toBeGreaterThan(recentPublicationsMax);
    publish(history, 10, recentBytesMax / 4);
    missedSince(history, top);
    sql.rowsRead = 0;
    missedSince(history, top + 7);
    expect(sql.rowsRead).toBe(0);
    missedSince(history, top + 6);
    expect(sql.rowsRead).toBeGreaterThan(3);
  });

  it("[F4] are refused what is too large for them, also when it is in memory", () => {
    const history = open(new NodeSql());
    publish(history, 10, 1_000);
    expect(offsetsOf(missedSince(history, 0))).toHaveLength(10);
    expect(missedSince(history, 0, 10_000).outcome).toBe("too-large");
    expect(missedSince(history, 5, 10_000).outcome).toBe("read");
    publish(history, 3, 4_000);
    expect(missedSince(history, 10, 10_000).outcome).toBe("too-large");
    expect(missedSince(history, 11, 10_000).outcome).toBe("read");
  });

  it("[H2] [H5] [H7] get what a fresh instance reads, whatever has happened to the history", () => {
    const steps = array(step, { maxLength: 40, size: "max" });
    assert(property(steps, readAsFresh), { seed: 1, numRuns: 300 });
  });
});

/** Does the steps, and compares each read with that of a fresh instance. */
function readAsFresh(steps: readonly Step[]): void {
  const sql = new NodeSql();
  const history = open(sql, 8);
  const read: HistoryRead[] = [];
  const expected: HistoryRead[] = [];
  for (const one of steps) {
    switch (one.step) {
      case "publish":
        publish(history, one.count);
        break;
      case "read": {
        const since = Math.max(0, (history.top?.offset ?? 0) - one.count);
        read.push(missedSince(history, since));
        expected.push(missedSince(open(sql, 8), since));
        break;
      }
      case "remove":
        history.remove(0);
        break;
      case "forget":
        history.forget();
    }
  }
  expect(read).toEqual(expected);
}

interface Step {
  readonly step: "publish" | "read" | "remove" | "forget";
  /** Of publications to publish, or missed by who reads. */
  readonly count: number;
}

const step: Arbitrary<Step> = record({
  step: constantFrom("publish", "read", "remove", "forget"),
  count: integer({ min: 0, max: 20 }),
});
