import type { Sql, SqlRow, SqlValue } from "../../../src/sql.ts";
import { type Database, freshDatabase } from "./database.ts";
import type { Timeline } from "./timeline.ts";

/** The object that owns a storage. */
export interface StorageOwner {
  /**
   * Saves the state that is as durable as the rows, and gives a function that restores it. Called before the first
   * write of a batch.
   */
  save(): () => void;
  /**
   * A batch is durable, and nothing that waited for it has left yet. Gives false when the object crashes at this point.
   */
  committed(): boolean;
  /** A write failed: the object is about to be reset. */
  failed(): void;
}

/** The writes of one turn, which become durable together. */
interface Batch {
  readonly atMs: number;
  readonly restore: () => void;
  committed: boolean;
  /** Work that leaves the object when the batch is durable, in order. */
  readonly gated: (() => void)[];
}

/** A write failed, as on a full disk. */
export class StorageFailure extends Error {}

/**
 * One object's storage, as the platform has it. Writes become durable a little later. Until then nothing leaves the
 * object, and if the object crashes before, nothing was written (rule O2).
 */
export class Storage implements Sql {
  readonly #timeline: Timeline;
  readonly #owner: StorageOwner;
  readonly #commitMs: () => number;
  readonly #database: Database;
  #batches: Batch[] = [];
  #lastCommitMs = 0;
  /** The work that is leaving the object now. */
  #leaving: (() => void)[] | undefined;
  /** Nobody bills for them here. */
  readonly rowsWritten = 0;
  /** The number of successful writes before one fails. */
  #writesLeft = Number.POSITIVE_INFINITY;
  /** Whether a write failed: nothing becomes durable or leaves any more, until the object crashes. */
  broken = false;

  /** @param commitMs how long the next writes take to become durable */
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

  /** Whether all writes are durable. */
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

  /** Notes a write that isn't a row. */
  write(): void {
    this.#open();
    if (--this.#writesLeft >= 0) return;
    this.#writesLeft = Number.POSITIVE_INFINITY;
    this.broken = true;
    this.#owner.failed();
    throw new StorageFailure("the disk is full");
  }

  /** Does work once everything written so far is durable; at once, if it already is. */
  gate(work: () => void): void {
    if (this.broken) return;
    const batch = this.#batches.findLast(({ committed }) => !committed);
    const before = batch?.gated ?? this.#leaving;
    if (before === undefined) work();
    else before.push(work);
  }

  /** Deletes all rows. */
  deleteAll(): void {
    this.write();
    this.#database.deleteAll();
  }

  /** The write after so many others fails; undefined: no write fails. */
  failAfter(writes: number | undefined): void {
    this.#writesLeft = writes ?? Number.POSITIVE_INFINITY;
  }

  /** The object crashes: writes that aren't durable are undone. */
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

  /** Releases the database. */
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
    // A crash has undone the batch, or will.
    if (this.broken || !this.#batches.includes(batch)) return;
    batch.committed = true;
    if (this.#batches.every(({ committed }) => committed)) {
      for (const _ of this.#batches) this.#database.release();
      this.#batches = [];
    }
    if (!this.#owner.committed()) return;
    // Work that the gated work causes leaves after all of it.
    this.#leaving = batch.gated;
    for (const work of batch.gated) work();
    this.#leaving = undefined;
  }
}
