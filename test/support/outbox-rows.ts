import { setTimeout as pause } from "node:timers/promises";
import type { Postgres } from "./environments/postgres.ts";

/** Numbers that transactions write into the table of an outbox: each for the channel of its partition. */
export class OutboxRows {
  readonly #postgres: Postgres;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  /** In one transaction, publishes so many numbers from `first` on, to channels with this name and the partition's number. */
  async insert(name: string, first: number, count: number, partitions: number): Promise<void> {
    await this.#postgres.query(
      `INSERT INTO centrifugo_outbox (method, payload, partition)
        SELECT 'publish', jsonb_build_object('channel', $1 || n % $4, 'data', n), n % $4
        FROM generate_series($2::int, $2::int + $3::int - 1) AS n`,
      [name, first, count, partitions],
    );
  }

  /** Waits until the table is empty, or has only so many rows. */
  emptied(rows = 0): Promise<void> {
    return this.until((left) => left === rows);
  }

  /** Waits until the number of rows is so. */
  async until(isIt: (left: number) => boolean): Promise<void> {
    const sql = "SELECT count(*)::int AS left FROM centrifugo_outbox";
    for (;;) {
      const [counted] = await this.#postgres.query<{ left: number }>(sql);
      if (counted !== undefined && isIt(counted.left)) return;
      await pause(20);
    }
  }
}

/** The numbers of a partition, of so many in all. */
export function numbersOf(partition: number, count: number, partitions: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index + 1).filter(
    (number) => number % partitions === partition,
  );
}
