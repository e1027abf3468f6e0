import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import type { Channel } from "../../../src/channel/channel.ts";
import { ObjectSql } from "../../../workers/platform/object-sql.ts";
import { historyContract } from "../../contract/history-contract.ts";
import { openChannel, publishing, withHistory } from "../../contract/open-channel.ts";

let objects = 0;

/** Runs a test on the storage of an object of its own. */
async function onFreshObject(work: (sql: ObjectSql) => void): Promise<void> {
  objects++;
  const stub = env.CHANNELS.getByName(`history-${objects}`);
  await runInDurableObject(stub, (_object, state) => work(new ObjectSql(state.storage)));
}

historyContract(onFreshObject);

describe("the rows written in a Durable Object", () => {
  const tags = { kind: "score" };
  const info = { user: "42", client: "c1" };

  it("[H1] are one for each publication with history, whatever it carries", async () => {
    await onFreshObject((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      channel.publish(publishing(0), undefined, 0);
      for (let data = 1; data <= 50; data++) {
        expect(rowsOf(sql, () => channel.publish(publishing(data), undefined, 0))).toBe(1);
        const laden = publishing(data, { tags, version: BigInt(data), versionEpoch: "x" });
        expect(rowsOf(sql, () => channel.publish(laden, info, 0))).toBe(1);
      }
      const reopened = openChannel(sql, { options: withHistory });
      expect(rowsOf(sql, () => reopened.publish(publishing(1), undefined, 0))).toBe(1);
    });
  });

  it("[I2] are one for a keyed publication with history, unless a young key loses its row", async () => {
    await onFreshObject((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      channel.publish(publishing(0), undefined, 0);
      const rows = (idempotencyKey: string, nowMs: number) =>
        rowsOf(sql, () => publish(channel, { idempotencyKey }, nowMs));
      for (let index = 1; index <= 5; index++) expect(rows(`key${index}`, 0)).toBe(1);
      // The first spared key brings its table.
      expect(rows("key6", 0)).toBeGreaterThan(2);
      expect(rows("key7", 0)).toBe(2);
      channel.deleteExpired(800_000);
      // More than 5 minutes pass before each of these is overwritten.
      for (let index = 8; index <= 20; index++) {
        expect(rows(`key${index}`, index * 100_000)).toBe(1);
        expect(rows(`key${index}`, index * 100_000)).toBe(0);
      }
    });
  });

  it("[H8] are none without history, and one for a key", async () => {
    await onFreshObject((sql) => {
      const channel = openChannel(sql);
      expect(rowsOf(sql, () => publish(channel, {}, 0))).toBe(0);
      publish(channel, { idempotencyKey: "brings the table" }, 0);
      for (let index = 0; index < 20; index++) {
        const request = { idempotencyKey: `key${index}` };
        expect(rowsOf(sql, () => publish(channel, request, index * 100_000))).toBe(1);
        expect(rowsOf(sql, () => publish(channel, request, index * 100_000))).toBe(0);
        expect(rowsOf(sql, () => publish(channel, { tags }, index * 100_000))).toBe(0);
      }
    });
  });

  it("[L5] are one for a gateway that registers and one when it is forgotten, none for its entries", async () => {
    await onFreshObject((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      publish(channel, {}, 0);
      // The first gateway brings its table.
      channel.relay.follow("eu/0", 0);
      const rows = (work: () => void) => rowsOf(sql, work);
      expect(rows(() => channel.relay.follow("eu/1", 0))).toBe(1);
      expect(rows(() => channel.relay.follow("eu/1", 0))).toBe(0);
      expect(rows(() => publish(channel, {}, 0))).toBe(1);
      expect(rows(() => publish(channel, { skipHistory: true }, 0))).toBe(0);
      const deliveries = channel.relay.deliveries(channel.top, 0);
      const answers = deliveries.map((delivery) =>
        rows(() => channel.relay.answered(delivery, { outcome: "taken" }, 0)),
      );
      expect(answers).toEqual([0, 0]);
      publish(channel, {}, 0);
      const leaves = channel.relay
        .deliveries(channel.top, 0)
        .map((delivery) => rows(() => channel.relay.answered(delivery, { outcome: "left" }, 0)));
      expect(leaves).toEqual([1, 1]);
      // The table has stayed, and finding that out costs nothing.
      expect(rows(() => channel.relay.follow("eu/2", 0))).toBe(1);
    });
  });

  it("[H1] are none for reading, joining and opening again", async () => {
    await onFreshObject((sql) => {
      const channel = openChannel(sql, { options: withHistory });
      publish(channel, { idempotencyKey: "key" }, 0);
      const rows = rowsOf(sql, () => {
        const reopened = openChannel(sql, { options: withHistory });
        reopened.history({ limit: -1, reverse: false }, 0);
        publish(reopened, { skipHistory: true }, 0);
        publish(reopened, { idempotencyKey: "key" }, 0);
      });
      expect(rows).toBe(0);
    });
  });
});

function publish(channel: Channel, request: Parameters<typeof publishing>[1], nowMs: number): void {
  channel.publish(publishing(1, request), undefined, nowMs);
}

/** Rows that the platform bills for some work. */
function rowsOf(sql: ObjectSql, work: () => void): number {
  const before = sql.rowsWritten;
  work();
  return sql.rowsWritten - before;
}
