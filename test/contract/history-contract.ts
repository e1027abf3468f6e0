import { sendAll } from "../support/send-all.ts";
import { describe, expect, it } from "vitest";
import { limits } from "../../src/limits.ts";
import { RecordingSubscriber } from "../core/hub/recording-subscriber.ts";
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
  it("[H3] stores no more publications than the history has", async () => {
    await onFreshStorage((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      publishNumbers(channel, 1, 12);
      expect(readable(channel)).toEqual(["8", "9", "10", "11", "12"]);
      expect([...sql.rows("SELECT slot FROM publication")]).toHaveLength(5);
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
