import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { Sql, SqlRow, SqlValue } from "../../../src/sql.ts";
import { limits } from "../../../src/limits.ts";
import { ObjectSql } from "../../../workers/platform/object-sql.ts";
import { openChannel, publishing } from "../../contract/open-channel.ts";
import { storeRing } from "../../contract/stored-ring.ts";
import { newChannel } from "../support/new-channel.ts";

const sizes = [10, 100, 1_000, 10_000, limits.historySizeMax];
const publications = 5;

it("[H11] an object reads as many rows to publish with a history of 10 as of 100,000, and to wake a few more", async () => {
  const read: Reads[] = [];
  for (const size of sizes) read.push(await rowsRead(size));
  for (const { size, woke, published } of read) {
    // The ring's, the stream's own, and three times the names of our two tables.
    expect(woke).toBeLessThanOrEqual(2 + Math.ceil(Math.log2(size)) + 1 + 3 * 2);
    expect([size, published]).toEqual([size, read[0]?.published]);
  }
  expect(read[0]?.published).toBe(publications);
});

interface Reads {
  readonly size: number;
  readonly woke: number;
  readonly published: number;
}

/** The billed rows for waking a channel with a full ring that wraps in its middle, and for publications then. */
async function rowsRead(size: number): Promise<Reads> {
  return runInDurableObject(env.CHANNELS.getByName(newChannel("")), (_, { storage }) => {
    const top = 7 * size + Math.floor(size / 2);
    storeRing(new ObjectSql(storage), { size, first: top - size + 1, top, keyed: size });
    const sql = new BilledSql(storage);
    const nowMs = limits.idempotencyMs;
    const options = { historySize: size, historyTtlMs: 3_600_000 };
    const channel = openChannel(sql, { options, nowMs });
    const woke = sql.rowsRead;
    for (let count = 0; count < publications; count++) {
      channel.publish(publishing(count), undefined, nowMs);
    }
    expect(channel.top).toEqual({ epoch: "epoch", offset: top + publications });
    return { size, woke, published: sql.rowsRead - woke };
  });
}

/** Counts the rows read as the platform does, those that a query passes over included. */
class BilledSql implements Sql {
  readonly #storage: DurableObjectStorage;
  rowsRead = 0;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  rows(query: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    const cursor = this.#storage.sql.exec<Record<string, SqlStorageValue>>(query, ...values);
    const rows = cursor.toArray();
    this.rowsRead += cursor.rowsRead;
    return rows;
  }

  run(statement: string, ...values: readonly SqlValue[]): void {
    this.rowsRead += this.#storage.sql.exec(statement, ...values).rowsRead;
  }

  transaction<Result>(work: () => Result): Result {
    return this.#storage.transactionSync(work);
  }
}
