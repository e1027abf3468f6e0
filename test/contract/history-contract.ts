import { sendAll } from "../support/send-all.ts";
import { describe, expect, it } from "vitest";
import type { Channel } from "../../src/channel/channel.ts";
import { limits } from "../../src/limits.ts";
import { RecordingSubscriber } from "../core/hub/recording-subscriber.ts";
import { textOf } from "../support/text-of.ts";
import { idempotencyContract } from "./idempotency-contract.ts";
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
import { payloadContract } from "./payload-contract.ts";
import { registryContract } from "./registry-contract.ts";
import { reopeningContract } from "./reopening-contract.ts";
import { tableNames } from "./stored-tables.ts";
import { streamLifeContract } from "./stream-life-contract.ts";
import { versionContract } from "./version-contract.ts";

/**
 * The storage of a channel on any implementation of the `Sql` port: rules H1 to H10, I1 to I4 and L5. Channels are
 * opened on the same storage repeatedly, as after hibernation.
 */
export function historyContract(onFreshStorage: OnFreshStorage): void {
  describe("the storage port", () => {
    portContract(onFreshStorage);
  });
  describe("reading the history", () => {
    readingContract(onFreshStorage);
  });
  describe("the size of the history", () => {
    sizeContract(onFreshStorage);
  });
  describe("payloads that are bytes", () => {
    payloadContract(onFreshStorage);
  });
  describe("the lifetime of a stream", () => {
    streamLifeContract(onFreshStorage);
  });
  describe("versions", () => {
    versionContract(onFreshStorage);
  });
  describe("idempotency keys", () => {
    idempotencyContract(onFreshStorage);
  });
  describe("the gateways that follow", () => {
    registryContract(onFreshStorage);
  });
  describe("opening again", () => {
    reopeningContract(onFreshStorage);
  });
}

function portContract(onFreshStorage: OnFreshStorage): void {
  it("[H10] does all of a transaction or, when it throws, nothing of it", async () => {
    await onFreshStorage((sql) => {
      sql.run("CREATE TABLE number (value INTEGER)");
      const failing = () =>
        sql.transaction(() => {
          sql.run("INSERT INTO number VALUES (?)", 1);
          throw new Error("halfway");
        });
      expect(failing).toThrow("halfway");
      expect([...sql.rows("SELECT * FROM number")]).toEqual([]);
      expect(
        sql.transaction(() => {
          sql.run("INSERT INTO number VALUES (?)", 2);
          return "done";
        }),
      ).toBe("done");
      expect([...sql.rows("SELECT value FROM number")]).toEqual([{ value: 2 }]);
    });
  });

  it("[O2] has a publication stored before it is delivered", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      const stored: string[][] = [];
      const recipient = new RecordingSubscriber("reader");
      recipient.onSend = () => stored.push(readable(openChannel(sql, { options: withHistory })));
      channel.hub.add(recipient);
      channel.publish(publishing(1), undefined, 0);
      sendAll(channel.hub);
      publishNumbers(channel, 2, 3);
      sendAll(channel.hub);
      expect(stored).toEqual([["1"], ["1", "2", "3"]]);
    });
  });
}

function readingContract(onFreshStorage: OnFreshStorage): void {
  it("[O1] counts offsets from 1 without a hole, and gives them back with the publications", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      const positions = [1, 2, 3].map((data) => channel.publish(publishing(data), undefined, 0));
      const position = positionOf(channel);
      expect(position.offset).toBe(3);
      expect(positions).toEqual(
        [1, 2, 3].map((offset) => ({ outcome: "published", position: { ...position, offset } })),
      );
      expect(channel.history({ limit: -1, reverse: false }, 0)).toEqual({
        outcome: "history",
        position,
        publications: [1, 2, 3].map((offset) => ({ data: String(offset), offset })),
      });
    });
  });

  it("[H2] reads at every border, both ways, wherever the ring has wrapped to", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      for (let top = 0; top <= 12; top++) {
        if (top > 0) channel.publish(publishing(top), undefined, 0);
        expect(everyRead(channel, top)).toEqual(everyReadOf(lastNumbers(5, top), top));
      }
    });
  });

  it("[H2] gives back a publication as it was published", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      const data = String.raw`{"b":12345678901234567890,"a":"\u00e9\u0000 é😀","b":1.0e2}`;
      const info = {
        user: "42",
        client: "c1",
        connInfo: publishing('{"n":9007199254740993}').data,
        chanInfo: publishing('"x"').data,
      };
      const tags = { kind: "score", constructor: "kept" };
      channel.publish(publishing(data, { tags, delta: true }), info, 0);
      channel.publish(publishing("null"), { user: "", client: "c2" }, 0);
      const reopened = openChannel(sql, { options: withHistory });
      expect(reopened.history({ limit: -1, reverse: false }, 0)).toMatchObject({
        publications: [
          { data, offset: 1, info, tags },
          { data: "null", offset: 2, info: { user: "", client: "c2" } },
        ],
      });
    });
  });

  it("[H2] compares the epoch of `since`, unless it is empty", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      publishNumbers(channel, 1, 3);
      const { epoch } = positionOf(channel);
      const since = (asked: string) =>
        channel.history({ since: { offset: 1, epoch: asked }, limit: -1, reverse: false }, 0);
      expect(since("")).toMatchObject({ publications: [{ offset: 2 }, { offset: 3 }] });
      expect(since(epoch)).toMatchObject({ publications: [{ offset: 2 }, { offset: 3 }] });
      expect(since(`${epoch}x`)).toEqual({ outcome: "unrecoverable-position" });
    });
  });

  it("[B2] refuses a read that is too large to answer, and answers one that fits", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: { ...withHistory, historySize: 10 } });
      // With quotes, and with the 64 bytes that each row counts besides its text.
      const data = JSON.stringify("x".repeat(limits.publicationBytesMax - 66));
      const fitting = limits.answerBytesMax / limits.publicationBytesMax;
      for (let count = 0; count < fitting; count++) {
        channel.publish(publishing(data), undefined, 0);
      }
      expect(readable(channel)).toHaveLength(fitting);
      channel.publish(publishing(1), undefined, 0);
      expect(channel.history({ limit: -1, reverse: false }, 0)).toEqual({ outcome: "too-large" });
      expect(channel.history({ limit: 2, reverse: true }, 0)).toMatchObject({
        publications: [{ data: "1" }, { data }],
      });
    });
  });

  it("[B2] counts tags and infos as part of a read, by their bytes", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: { ...withHistory, historySize: 10 } });
      const tags = { tag: "é".repeat(1_000) };
      channel.publish({ ...publishing(1), tags }, undefined, 0);
      channel.publish(publishing(2), { user: "é".repeat(500), client: "c1" }, 0);
      const readWithin = (bytesMax: number) =>
        channel.history({ limit: -1, reverse: false }, 0, bytesMax).outcome;
      expect(readWithin(3_000)).toBe("too-large");
      expect(readWithin(3_300)).toBe("history");
    });
  });

  it("[H6] leaves nothing open when a read was too large: the stream can still be forgotten", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      publishNumbers(channel, 1, 5);
      expect(channel.history({ limit: -1, reverse: false }, 0, 100).outcome).toBe("too-large");
      channel.deleteExpired(channel.cleanupDueAtMs(0) ?? 0);
      expect(tableNames(sql)).toEqual([]);
      expect(channel.storesNothing).toBe(true);
    });
  });
}

function sizeContract(onFreshStorage: OnFreshStorage): void {
  it.each([1, 2, 3, 7])(
    "[H3] drops the oldest publication beyond a size of %i",
    async (historySize) => {
      await onFreshStorage((sql) => {
        const channel = openChannel(sql, { options: { ...withHistory, historySize } });
        publishNumbers(channel, 1, historySize);
        expect(readable(channel)).toEqual(numbers(1, historySize));
        for (let data = historySize + 1; data <= 3 * historySize; data++) {
          channel.publish(publishing(data), undefined, 0);
          expect(readable(channel)).toEqual(numbers(data - historySize + 1, data));
        }
        expect([...sql.rows("SELECT slot FROM publication")]).toHaveLength(historySize);
      });
    },
  );

  it.each([
    [5, 3],
    [5, 1],
    [3, 7],
    [1, 2],
    [4, 8],
  ])(
    "[H7] keeps the newest that fit when the size changes from %i to %i",
    async (before, after) => {
      await onFreshStorage((sql) => {
        const first = openChannel(sql, { options: { ...withHistory, historySize: before } });
        publishNumbers(first, 1, 11);
        const channel = openChannel(sql, { options: { ...withHistory, historySize: after } });
        const oldest = 11 - Math.min(before, after) + 1;
        expect(readable(channel)).toEqual(numbers(oldest, 11));
        expect(everyRead(channel, 11)).toEqual(everyReadOf(lastNumbers(11 - oldest + 1, 11), 11));
        for (let data = 12; data <= 24; data++) {
          channel.publish(publishing(data), undefined, 0);
          const reopened = openChannel(sql, { options: { ...withHistory, historySize: after } });
          expect(readable(reopened)).toEqual(numbers(Math.max(oldest, data - after + 1), data));
        }
      });
    },
  );

  it("[H7] doesn't restore publications that a smaller size dropped", async () => {
    await onFreshStorage((sql) => {
      const opened = (historySize: number) =>
        openChannel(sql, { options: { ...withHistory, historySize } });
      publishNumbers(opened(10), 1, 10);
      publishNumbers(opened(3), 11, 11);
      const channel = opened(10);
      expect(readable(channel)).toEqual(["9", "10", "11"]);
      expect(everyRead(channel, 11)).toEqual(everyReadOf(lastNumbers(3, 11), 11));
      expect(everyRead(opened(10), 11)).toEqual(everyReadOf(lastNumbers(3, 11), 11));
    });
  });

  it("[H7] brings back nothing that was removed or had ended", async () => {
    await onFreshStorage((sql) => {
      const opened = (historySize: number) =>
        openChannel(sql, { options: { historySize, historyTtlMs: 1_000 } });
      const first = opened(4);
      publishNumbers(first, 1, 4);
      first.removeHistory(0);
      expect(readable(opened(2))).toEqual([]);
      expect(readable(opened(6))).toEqual([]);
      publishNumbers(opened(6), 5, 6);
      publishNumbers(opened(8), 7, 7, 1_000);
      expect(readable(opened(3), 1_000)).toEqual(["7"]);
      expect(readable(opened(9), 1_000)).toEqual(["7"]);
    });
  });

  it("[H8] stores nothing without history, and reads as not available", async () => {
    await onFreshStorage((sql) => {
      for (const options of [{}, { historySize: 5 }, { historyTtlMs: 5 }]) {
        const channel = openChannel(sql, { options });
        expect(channel.publish(publishing(1), undefined, 0)).toEqual({ outcome: "published" });
        channel.subscribe(new RecordingSubscriber("reader"), positioned, 0);
        expect(channel.history({ limit: -1, reverse: false }, 0)).toEqual({
          outcome: "not-available",
        });
        expect(channel.removeHistory(0)).toBe("not-available");
        expect(channel.storesNothing).toBe(true);
        expect(channel.cleanupDueAtMs(0)).toBeUndefined();
        expect(tableNames(sql)).toEqual([]);
      }
    });
  });

  it("[H8] stores nothing of a publication that skips the history", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      const skipping = publishing(1, { skipHistory: true });
      expect(channel.publish(skipping, undefined, 0)).toEqual({ outcome: "published" });
      expect(tableNames(sql)).toEqual([]);
      publishNumbers(channel, 2, 2);
      channel.publish(skipping, undefined, 0);
      expect(readable(channel)).toEqual(["2"]);
    });
  });

  it("[H8] deletes its publications when history is switched off, and begins anew when it is on again", async () => {
    await onFreshStorage((sql) => {
      const before = openChannel(sql, { options: withHistory });
      publishNumbers(before, 1, 7);
      const { epoch } = positionOf(before);
      openChannel(sql);
      expect(tableNames(sql)).toEqual([]);
      const after = openChannel(sql, { options: withHistory });
      expect(readable(after)).toEqual([]);
      expect(positionOf(after).offset).toBe(0);
      expect(positionOf(after).epoch).not.toBe(epoch);
    });
  });
}

interface Read {
  readonly sinceOffset: number | undefined;
  readonly limit: number;
  readonly reverse: boolean;
}

/** Every way to read a stream with this top. */
function readsAround(top: number): Read[] {
  const offsets = [undefined, ...numbers(0, top + 2).map(Number), 2 ** 64];
  const limitsToTry = [-1, ...numbers(0, 9).map(Number), 2 ** 31];
  return offsets.flatMap((sinceOffset) =>
    limitsToTry.flatMap((limit) =>
      [false, true].map((reverse) => ({ sinceOffset, limit, reverse })),
    ),
  );
}

/** The answers of a channel, whose publications are their own offsets, to every read. */
function everyRead(channel: Channel, top: number): string[] {
  return readsAround(top).map((read) => {
    const { sinceOffset, limit, reverse } = read;
    const since = sinceOffset === undefined ? {} : { since: { offset: sinceOffset, epoch: "" } };
    const outcome = channel.history({ ...since, limit, reverse }, 0);
    if (outcome.outcome !== "history") return outcome.outcome;
    const offsets = outcome.publications.map(({ offset, data }) =>
      String(offset) === data ? data : `${textOf(data)} at ${offset}`,
    );
    return `${JSON.stringify(read)}: ${offsets.join(" ")}`;
  });
}

/** The same from an array of the offsets that are kept. */
function everyReadOf(kept: readonly string[], top: number): string[] {
  return readsAround(top).map((read) => {
    const { sinceOffset, limit, reverse } = read;
    const found = kept.filter((offset) => {
      if (sinceOffset === undefined) return true;
      return reverse ? Number(offset) < sinceOffset : Number(offset) > sinceOffset;
    });
    if (reverse) found.reverse();
    const offsets = limit < 0 ? found : found.slice(0, limit);
    return `${JSON.stringify(read)}: ${offsets.join(" ")}`;
  });
}

function lastNumbers(count: number, top: number): string[] {
  return numbers(Math.max(1, top - count + 1), top);
}

function numbers(first: number, last: number): string[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => String(first + index));
}
