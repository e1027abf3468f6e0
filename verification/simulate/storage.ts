import type { Sql, SqlRow, SqlValue } from "../../src/sql.ts";
import { type Database, freshDatabase } from "./database.ts";
import type { Timeline } from "./timeline.ts";

/** What the object around a storage is and does. */
export interface StorageOwner {
  /** Remembers what else is as durable as the rows; gives what brings it back. Called before the first write of a batch. */
  save(): () => void;
  /** A batch is durable, and nothing that waited for that has left yet; false when that was the object's last deed. */
  committed(): boolean;
  /** A write failed: the object is going to be reset. */
  failed(): void;
}

/** What was written in one stretch, and becomes durable together. */
interface Batch {
  readonly atMs: number;
  readonly restore: () => void;
  committed: boolean;
  /** What leaves the object when it is durable, in order. */
  readonly gated: (() => void)[];
}

/** A write failed, as when the disk is full. */
export class StorageFailure extends Error {}

/**
 * One object's storage as the platform has it. What is written becomes durable a little later; until then nothing leaves
 * the object, and if it crashes before, it is as if nothing had been written (rule O2).
 */
export class Storage implements Sql {
  readonly #timeline: Timeline;
  readonly #owner: StorageOwner;
  readonly #commitMs: () => number;
  readonly #database: Database;
  #batches: Batch[] = [];
  #lastCommitMs = 0;
  /** What leaves the object at this moment. */
  #leaving: (() => void)[] | undefined;
  /** So many writes go well before one fails. */
  #writesLeft = Number.POSITIVE_INFINITY;
  /** A write failed: nothing becomes durable any more, and nothing leaves, until the object crashes. */
  broken = false;

  /** @param commitMs how long writes take to be durable, each time */
  constructor(
    timeline: Timeline,
    owner: StorageOwner,
    commitMs: () => number,
    database: Database = freshDatabase(),
  ) {
    this.#timeline = timeline;
    this.#owner = owner;
    this.#commitMs = commitMs;
    this.#database = database;
  }

  /** Everything that was written is durable. */
  get clean(): boolean {
    return this.#batches.length === 0 && !this.broken;
  }

  rows(query: string, ...values: readonly SqlValue[]): readonly SqlRow[] {
    return this.#database.rows(query, values);
  }

  run(statement: string, ...values: readonly SqlValue[]): void {
    this.write();
    this.#database.run(statement, values);
  }

  transaction<Result>(work: () => Result): Result {
    this.write();
    this.#database.begin();
    try {
      const result = work();
      this.#database.release();
      return result;
    } catch (error) {
      this.#database.rollBack();
      throw error;
    }
  }

  /** Something is written that isn't a row. */
  write(): void {
    this.#open();
    if (--this.#writesLeft >= 0) return;
    this.#writesLeft = Number.POSITIVE_INFINITY;
    this.broken = true;
    this.#owner.failed();
    throw new StorageFailure("the disk is full");
  }

  /** Lets something leave the object once everything written so far is durable; at once, if it is. */
  gate(work: () => void): void {
    if (this.broken) return;
    const batch = this.#batches.findLast(({ committed }) => !committed);
    const before = batch?.gated ?? this.#leaving;
    if (before === undefined) work();
    else before.push(work);
  }

  /** Deletes everything. */
  deleteAll(): void {
    this.write();
    this.#database.deleteAll();
  }

  /** The write after so many others fails; undefined: none. */
  failAfter(writes: number | undefined): void {
    this.#writesLeft = writes ?? Number.POSITIVE_INFINITY;
  }

  /** The object crashes: what isn't durable was never written. */
  crash(): void {
    this.broken = false;
    this.#leaving = undefined;
    for (const batch of this.#batches.toReversed()) {
      if (batch.committed) this.#database.release();
      else {
        this.#database.rollBack();
        batch.restore();
      }
    }
    this.#batches = [];
  }

  /** Nobody needs it any more. */
  close(): void {
    this.crash();
    this.#database.close();
  }

  #open(): void {
    const { nowMs } = this.#timeline;
    if (this.broken || this.#batches.at(-1)?.atMs === nowMs) return;
    const restore = this.#owner.save();
    this.#database.begin();
    const batch: Batch = { atMs: nowMs, restore, committed: false, gated: [] };
    this.#batches.push(batch);
    this.#lastCommitMs = Math.max(this.#lastCommitMs, nowMs + this.#commitMs());
    this.#timeline.after(this.#lastCommitMs - nowMs, () => this.#commit(batch));
  }

  #commit(batch: Batch): void {
    // It was lost with a crash, or will be.
    if (this.broken || !this.#batches.includes(batch)) return;
    batch.committed = true;
    if (this.#batches.every(({ committed }) => committed)) {
      for (const _ of this.#batches) this.#database.release();
      this.#batches = [];
    }
    if (!this.#owner.committed()) return;
    // What one of them causes leaves after all of them.
    this.#leaving = batch.gated;
    for (const work of batch.gated) work();
    this.#leaving = undefined;
  }
}
