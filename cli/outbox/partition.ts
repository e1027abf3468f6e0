import { setTimeout as pause } from "node:timers/promises";
import { type Fate, retryDelayMs } from "./answers.ts";
import { databaseCause, type OutboxDatabase } from "./database.ts";
import type { Journal } from "./journal.ts";
import { parseRow } from "./row-command.ts";
import { type Post, sendRows } from "./send-rows.ts";
import type { Turns } from "./turns.ts";

/** What all partitions of a process share. */
export interface Outbox {
  readonly database: OutboxDatabase;
  readonly journal: Journal;
  readonly post: Post;
  /** The table with its database, as idempotency keys name them. */
  readonly place: string;
  readonly rowsMax: number;
  /** Of batches, each of which has a connection to the database while it waits for the server. */
  readonly turns: Turns;
  /** Aborts when no further batch is to be taken. */
  readonly stop: AbortSignal;
}

/** One partition: takes its rows a batch at a time, in their order, as long as there are some. */
export class Partition {
  readonly #number: number;
  readonly #outbox: Outbox;
  #isRunning = false;
  #isWoken = false;
  #attempts = 0;
  /** Rows were sent that the database didn't settle. */
  #isUnsettled = false;
  #run: Promise<void> = Promise.resolve();

  constructor(number: number, outbox: Outbox) {
    this.#number = number;
    this.#outbox = outbox;
  }

  /** Resolves when the batch in work has ended, and no other follows. */
  get idle(): Promise<void> {
    return this.#run;
  }

  /** Says that there may be rows. */
  wake(): void {
    this.#isWoken = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#run = this.#takeAll();
  }

  async #takeAll(): Promise<void> {
    while (this.#isWoken && !this.#outbox.stop.aborted) {
      this.#isWoken = false;
      const outcome = await this.#outbox.turns.run(() => this.#takeBatch());
      if (outcome !== "none") this.#isWoken = true;
      if (outcome !== "again") this.#attempts = 0;
      else await this.#delay();
    }
    this.#isRunning = false;
  }

  /** Waits longer after each failure in a row; not while the process ends. */
  async #delay(): Promise<void> {
    const delayMs = retryDelayMs(++this.#attempts, Math.random());
    await pause(delayMs, undefined, { signal: this.#outbox.stop }).catch(() => undefined);
  }

  /** Takes a batch: some were settled, some have to be sent again, or there were none. */
  async #takeBatch(): Promise<"some" | "again" | "none"> {
    const { database, journal, post, place, rowsMax } = this.#outbox;
    try {
      const taken = await database.take(this.#number, rowsMax, this.#isUnsettled);
      journal.works("database");
      if (taken === undefined) {
        // Another process may have sent what failed here.
        journal.works("server", this.#number);
        return "none";
      }
      const fates = await sendRows(
        taken.rows.map((row) => parseRow(row, place)),
        post,
      );
      this.#isUnsettled = true;
      await taken.settle(fates);
      this.#isUnsettled = false;
      return this.#tell(fates) ? "again" : "some";
    } catch (error) {
      journal.fails("database", databaseCause(error));
      return "again";
    }
  }
  /** Tells the fates of a batch, and whether rows of it have to be sent again: the first one that waits is named. */
  #tell(fates: ReadonlyMap<string, Fate>): boolean {
    const { journal } = this.#outbox;
    let waits = false;
    let done = 0;
    for (const [id, fate] of fates) {
      if (fate.outcome === "done") done++;
      else if (fate.outcome === "refused") journal.refused(id, this.#number, fate.reason);
      else if (!waits) {
        waits = true;
        journal.fails("server", `${fate.cause} (row ${id})`, this.#number);
      }
    }
    journal.done(done);
    if (!waits) journal.works("server", this.#number);
    return waits;
  }
}
