import { sendAll } from "../support/send-all.ts";
import { expect, it } from "vitest";
import type { Channel } from "../../src/channel/channel.ts";
import type { PublishOutcome } from "../../src/channel/channel-outcomes.ts";
import type { Sql } from "../../src/sql.ts";
import { limits } from "../../src/limits.ts";
import type { StreamPosition } from "../../src/protocol/publication.ts";
import { RecordingSubscriber } from "../core/hub/recording-subscriber.ts";
import type { OnFreshStorage } from "./on-fresh-storage.ts";
import {
  openChannel,
  positioned,
  positionOf,
  publishing,
  publishNumbers,
  readable,
  withHistory,
} from "./open-channel.ts";
import { sparedRowCount, tableNames } from "./stored-tables.ts";

/** Publishing exactly once: rules I1 to I4. */
export function idempotencyContract(onFreshStorage: OnFreshStorage): void {
  keyContract(onFreshStorage);
  rowsContract(onFreshStorage);
  survivalContract(onFreshStorage);
  limitContract(onFreshStorage);
}

const memoryMs = limits.idempotencyMs;

function keyContract(onFreshStorage: OnFreshStorage): void {
  it("[I1] answers a repeated key with the first result, and publishes nothing", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      const reader = new RecordingSubscriber("reader");
      channel.hub.add(reader);
      const first = keyed(channel, "a");
      publishNumbers(channel, 2, 3);
      expect(keyed(channel, "a", 1)).toEqual({ ...first, outcome: "suppressed" });
      expect(first).toEqual({
        outcome: "published",
        position: { ...positionOf(channel), offset: 1 },
      });
      expect(keyed(channel, "b").outcome).toBe("published");
      sendAll(channel.hub);
      expect(reader.received).toEqual(['"a"', "2", "3", '"b"']);
      expect(readable(channel)).toEqual(['"a"', "2", "3", '"b"']);
    });
  });
}

function rowsContract(onFreshStorage: OnFreshStorage): void {
  it("[I2] gives a key no row of its own while its publication has one", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      for (let index = 0; index < 5; index++) keyed(channel, `key${index}`);
      expect(tableNames(sql)).toEqual(["publication", "stream"]);
      keyed(channel, "key5");
      expect(sparedRowCount(sql)).toBe(1);
      publishNumbers(channel, 1, 5);
      expect(sparedRowCount(sql)).toBe(6);
    });
  });

  it("[I2] retains no key that is 5 minutes old when its row is deleted", async () => {
    await onFreshStorage((sql) => {
      const options = { historySize: 2, historyTtlMs: 3_600_000 };
      const channel = openChannel(sql, { options });
      keyed(channel, "a", 0);
      keyed(channel, "b", 1);
      publishNumbers(channel, 1, 1, memoryMs);
      expect(tableNames(sql)).toEqual(["publication", "stream"]);
      publishNumbers(channel, 2, 2, memoryMs);
      expect(sparedRowCount(sql)).toBe(1);
      expect(keyed(channel, "a", memoryMs).outcome).toBe("published");
      expect(keyed(channel, "b", memoryMs).outcome).toBe("suppressed");
    });
  });

  it("[I2] uses the rows of expired keys again, so that their number doesn't grow", async () => {
    await onFreshStorage((sql) => {
      let channel = openChannel(sql);
      for (let round = 0; round < 200; round++) {
        const nowMs = (round * memoryMs) / 4;
        if (round % 7 === 0) channel = openChannel(sql, { nowMs });
        expect(keyed(channel, `key${round}`, nowMs)).toEqual({ outcome: "published" });
        expect(sparedRowCount(sql)).toBeLessThanOrEqual(4);
      }
    });
  });

  it("[I2] uses the rows of expired keys again where the ring overwrites keyed publications", async () => {
    await onFreshStorage((sql) => {
      const options = { historySize: 2, historyTtlMs: 3_600_000 };
      let channel = openChannel(sql, { options });
      for (let round = 0; round < 200; round++) {
        const nowMs = (round * memoryMs) / 4;
        if (round % 7 === 0) channel = openChannel(sql, { options, nowMs });
        expect(keyed(channel, `key${round}`, nowMs).outcome).toBe("published");
        expect(sparedRowCount(sql)).toBeLessThanOrEqual(4);
      }
    });
  });

  it("[I2] deletes the keys' table when the last of them has expired", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql);
      keyed(channel, "a", 0);
      keyed(channel, "b", 100);
      expect(channel.storesNothing).toBe(false);
      for (const opened of [channel, openChannel(sql, { nowMs: 100 })]) {
        expect(opened.cleanupDueAtMs(100)).toBe(100 + memoryMs);
        opened.deleteExpired(99 + memoryMs);
        expect(tableNames(sql)).toEqual(["spared_key"]);
      }
      channel.deleteExpired(100 + memoryMs);
      expect(tableNames(sql)).toEqual([]);
      expect(channel.storesNothing).toBe(true);
      expect(channel.cleanupDueAtMs(0)).toBeUndefined();
      expect(keyed(channel, "a", 100 + memoryMs)).toEqual({ outcome: "published" });
      expect(sparedRowCount(sql)).toBe(1);
    });
  });
}

function survivalContract(onFreshStorage: OnFreshStorage): void {
  it("[I3] keeps keys when the stream ends before them", async () => {
    await onFreshStorage((sql) => {
      const options = { historySize: 4, historyTtlMs: 1_000, historyMetaTtlMs: 2_000 };
      const channel = openChannel(sql, { options });
      const results = publishSix(channel);
      channel.deleteExpired(2_000);
      expect(tableNames(sql)).toEqual(["spared_key"]);
      expect(repeatSix(channel)).toEqual(results);
      expect(repeatSix(openChannel(sql, { options, nowMs: 2_000 }))).toEqual(results);
    });
  });
}

const six = ["a", "b", "c", "d", "e", "f"];

/** Publishes six keys, and gives the expected answers to their repetition. */
function publishSix(channel: Channel): PublishOutcome[] {
  return six.map((key) => ({ outcome: "suppressed", position: positionIn(keyed(channel, key)) }));
}

/** Publishes them again, as late as they must be remembered. */
function repeatSix(channel: Channel): PublishOutcome[] {
  return six.map((key) => keyed(channel, key, memoryMs - 1));
}

function limitContract(onFreshStorage: OnFreshStorage): void {
  it("[I4] refuses a keyed publish without history beyond the limit, and does nothing", async () => {
    await onFreshStorage((sql) => {
      const reader = new RecordingSubscriber("reader");
      const channel = openChannel(sql, { options: withHistory });
      channel.subscribe(reader, positioned, 0);
      fillWithKeys(channel, sql);
      const position = positionOf(channel);
      reader.frames.length = 0;
      for (const opened of [channel, openChannel(sql, { options: withHistory })]) {
        const skipping = publishing(1, { skipHistory: true, idempotencyKey: "one more" });
        expect(opened.publish(skipping, undefined, 1)).toEqual({ outcome: "too-many-keys" });
        expect(opened.publish(skipping, undefined, 1)).toEqual({ outcome: "too-many-keys" });
        expect(sparedRowCount(sql)).toBe(limits.idempotencyKeysMax);
        expect(positionOf(opened)).toEqual(position);
      }
      sendAll(channel.hub);
      expect(reader.frames).toEqual([]);
      // Known keys are still known, and publishes that need no row still succeed.
      expect(keyed(channel, "filler 7", 1)).toEqual({ outcome: "suppressed" });
      expect(keyed(channel, "in the ring", 1).outcome).toBe("published");
      // When the oldest key expires, its row is free for one other key.
      const late = (key: string) =>
        channel.publish(
          publishing(1, { skipHistory: true, idempotencyKey: key }),
          undefined,
          memoryMs,
        );
      expect(late("one more")).toEqual({ outcome: "published" });
      expect(late("and another")).toEqual({ outcome: "too-many-keys" });
      expect(sparedRowCount(sql)).toBe(limits.idempotencyKeysMax);
    });
  });

  it("[I4] refuses whatever would overwrite a young key beyond the limit, and does nothing", async () => {
    await onFreshStorage((sql) => {
      const reader = new RecordingSubscriber("reader");
      const options = { ...withHistory, historySize: 2 };
      const channel = openChannel(sql, { options });
      channel.subscribe(reader, positioned, 0);
      const position = positionIn(keyed(channel, "a", 1));
      publishNumbers(channel, 2, 2, 1);
      fillWithKeys(channel, sql);
      reader.frames.length = 0;
      for (const opened of [channel, openChannel(sql, { options })]) {
        expect(opened.publish(publishing(3), undefined, 1)).toEqual({ outcome: "too-many-keys" });
        expect(keyed(opened, "b", 1)).toEqual({ outcome: "too-many-keys" });
        expect(readable(opened)).toEqual(['"a"', "2"]);
        expect(positionOf(opened).offset).toBe(2);
        expect(keyed(opened, "a", 1)).toEqual({ outcome: "suppressed", position });
      }
      sendAll(channel.hub);
      expect(reader.frames).toEqual([]);
      expect(channel.publish(publishing(3), undefined, memoryMs).outcome).toBe("published");
      expect(readable(channel, memoryMs)).toEqual(["2", "3"]);
    });
  });

  it("[I4] removes the history beyond the limit too, and then drops its keys, with and without hibernation", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      keyed(channel, "a", 1);
      fillWithKeys(channel, sql);
      expect(channel.removeHistory(1)).toBe("removed");
      expect(sparedRowCount(sql)).toBe(limits.idempotencyKeysMax);
      const reopened = openChannel(sql, { options: withHistory, nowMs: 1 });
      for (const opened of [reopened, channel]) {
        expect(keyed(opened, "filler 7", 1).outcome).toBe("suppressed");
        expect(keyed(opened, "a", 1).outcome).toBe("published");
      }
    });
  });
}

/** Fills the limit of keys with rows of their own: one at time 0, the others at 1. */
function fillWithKeys(channel: Channel, sql: Sql): void {
  sql.transaction(() => {
    for (let index = 0; index < limits.idempotencyKeysMax; index++) {
      const request = { skipHistory: true, idempotencyKey: `filler ${index}` };
      const outcome = channel.publish(publishing(0, request), undefined, Math.min(index, 1));
      if (outcome.outcome !== "published") throw new Error(`key ${index}: ${outcome.outcome}`);
    }
  });
  sendAll(channel.hub);
}

function keyed(channel: Channel, key: string, nowMs = 0): PublishOutcome {
  const request = publishing(JSON.stringify(key), { idempotencyKey: key });
  return channel.publish(request, undefined, nowMs);
}

/** The position of a publication; throws if it was not published. */
function positionIn(outcome: PublishOutcome): StreamPosition {
  const position = outcome.outcome === "published" ? outcome.position : undefined;
  if (position === undefined) throw new Error(`not published with history: ${outcome.outcome}`);
  return position;
}
