import { describe, expect, it } from "vitest";
import type { Channel } from "../../../src/channel/channel.ts";
import type { PublishOutcome } from "../../../src/channel/channel-outcomes.ts";
import { limits } from "../../../src/limits.ts";
import { openChannel, publishing, publishNumbers } from "../../contract/open-channel.ts";
import { storeRing, type StoredRing } from "../../contract/stored-ring.ts";
import { sparedRowCount } from "../../contract/stored-tables.ts";
import { CountingSql } from "../../support/counting-sql.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";

const memoryMs = limits.idempotencyMs;
/** How many rows are read in one go. */
const page = 512;

describe("after hibernation with the largest history", () => {
  const size = limits.historySizeMax;
  const top = 3 * size + 41_000;
  const full = { size, first: top - size + 1, top, keyed: size, young: 1_500, newestMs: memoryMs };
  const nowMs = 2 * memoryMs - 1;

  it("[H15] [I3] knows a key younger than 5 minutes, and reads the rows since it", () => {
    const { sql, channel } = woken(full, nowMs);
    for (const [back, rowsMax] of [
      [0, page],
      [1_499, 3 * page],
      [700, 0],
    ] as const) {
      sql.rowsRead = 0;
      expect(keyed(channel, `key${top - back}`, nowMs)).toEqual(suppressed(top - back));
      expect(sql.rowsRead).toBeLessThanOrEqual(rowsMax);
    }
  });

  it("[I1] knows the oldest key while its publication can be read, and reads no row twice", () => {
    const { sql, channel } = woken(full, nowMs);
    for (let count = 0; count < 3; count++) {
      expect(keyed(channel, `key${full.first}`, nowMs)).toEqual(suppressed(full.first));
      expect(sql.rowsRead).toBe(size);
    }
    expect(keyed(channel, "new", nowMs)).toMatchObject({ outcome: "published" });
    expect(sql.rowsRead).toBe(size);
  });

  it("[H15] looks for a new key among the young ones alone when nothing else can be read", () => {
    const { sql, channel } = woken(full, nowMs, 1_000);
    const oldestYoung = top - 1_499;
    expect(keyed(channel, `key${oldestYoung}`, nowMs)).toEqual(suppressed(oldestYoung));
    expect(keyed(channel, `key${oldestYoung - 1}`, nowMs)).toMatchObject({ outcome: "published" });
    expect(sql.rowsRead).toBe(3 * page);
  });

  it("[H15] reads no key when none is young and none can be read", () => {
    const { sql, channel } = woken(full, 2 * memoryMs, 1_000);
    expect(keyed(channel, `key${top}`, 2 * memoryMs)).toMatchObject({ outcome: "published" });
    expect(sql.rowsRead).toBe(0);
  });

  it("[H15] [I2] reads of the rows that are overwritten each once, and none once they are 5 minutes old", () => {
    const { sql, channel } = woken(full, nowMs);
    publishNumbers(channel, 1, page, nowMs);
    expect(sql.rowsRead).toBe(page);
    publishNumbers(channel, 1, 2 * page, nowMs + 1);
    expect(sql.rowsRead).toBe(page);
    expect(sparedRowCount(sql)).toBe(0);
  });
});

describe("after hibernation for less than 5 minutes", () => {
  const size = 2 * page + 276;
  const ring = { size, first: 701, top: 700 + size, keyed: size };
  const everyKey = Array.from({ length: size }, (_, index) => 701 + index);

  it.each<[string, (channel: Channel) => void]>([
    ["nothing", () => undefined],
    ["some rows were overwritten", (channel) => publishNumbers(channel, 1, page + 188, 1)],
    ["all rows were overwritten", (channel) => publishNumbers(channel, 1, 2 * size, 1)],
    ["the history was removed", (channel) => channel.removeHistory(1)],
    [
      "some rows were overwritten, and then the history was removed",
      (channel) => {
        publishNumbers(channel, 1, 1, 1);
        channel.removeHistory(1);
      },
    ],
    [
      "newer keys were looked for, and then rows overwritten",
      (channel) => {
        keyed(channel, "key1900", 1);
        publishNumbers(channel, 1, size - 20, 1);
      },
    ],
  ])("[I1] [I3] knows every key, though %s", (_what, happen) => {
    const { sql, channel } = woken(ring, 1);
    happen(channel);
    const nowMs = memoryMs - 1;
    const again = openChannel(sql, { options: options(size), nowMs });
    for (const opened of [channel, again]) {
      for (const offset of everyKey) {
        expect(keyed(opened, `key${offset}`, nowMs)).toEqual(suppressed(offset));
      }
    }
  });

  it.each([1, page, size - 1, 3 * size])(
    "[H7] [I3] knows every key when the size has become %i",
    (historySize) => {
      const { sql } = woken(ring, 1);
      const nowMs = memoryMs - 1;
      for (let round = 0; round < 2; round++) {
        const channel = openChannel(sql, { options: options(historySize), nowMs });
        for (const offset of everyKey) {
          expect(keyed(channel, `key${offset}`, nowMs)).toEqual(suppressed(offset));
        }
        expect(sparedRowCount(sql)).toBe(Math.max(0, size - historySize));
      }
    },
  );

  it.each([100, size - 1])(
    "[H7] [I1] knows however old keys when the size has become %i and their publications can be read",
    (historySize) => {
      const { sql } = woken(ring, memoryMs);
      for (let round = 0; round < 2; round++) {
        const channel = openChannel(sql, { options: options(historySize), nowMs: memoryMs });
        for (const offset of everyKey.slice(-historySize)) {
          expect(keyed(channel, `key${offset}`, memoryMs)).toEqual(suppressed(offset));
        }
      }
    },
  );

  it("[I1] takes the newest of several publications with one key, whichever row it reads first", () => {
    const { sql } = woken({ ...ring, young: size - 100, newestMs: memoryMs }, 1);
    // A key was published again when its first publication had ended with all others of its time.
    const [older, newer] = [706, ring.top - 1];
    sql.run(
      "UPDATE publication SET idempotency_key = 'twice' WHERE offset IN (?, ?)",
      older,
      newer,
    );
    sql.run("UPDATE publication SET floor = ? WHERE offset > ?", 801, 800);
    const nowMs = 2 * memoryMs - 1;
    const channel = openChannel(sql, { options: options(size), nowMs });
    expect(keyed(channel, "twice", nowMs)).toEqual(suppressed(newer));
    publishNumbers(channel, 1, 1, nowMs);
    expect(keyed(channel, "twice", nowMs)).toEqual(suppressed(newer));
    const again = openChannel(sql, { options: options(size), nowMs });
    publishNumbers(again, 1, 1, nowMs);
    expect(keyed(again, "twice", nowMs)).toEqual(suppressed(newer));
  });
});

function woken(ring: StoredRing, nowMs: number, historyTtlMs?: number) {
  const sql = new CountingSql(new NodeSql());
  storeRing(sql, ring);
  const channel = openChannel(sql, { options: options(ring.size, historyTtlMs), nowMs });
  sql.rowsRead = 0;
  return { sql, channel };
}

function options(historySize: number, historyTtlMs = 3_600_000) {
  return { historySize, historyTtlMs };
}

function keyed(channel: Channel, idempotencyKey: string, nowMs: number): PublishOutcome {
  return channel.publish(publishing(0, { idempotencyKey }), undefined, nowMs);
}

function suppressed(offset: number): PublishOutcome {
  return { outcome: "suppressed", position: { epoch: "epoch", offset } };
}
