import { printable } from "../text/printable.ts";
import { paintOf, type Shell } from "../shell.ts";
import type { Waiting } from "./database.ts";
import { outboxLimits } from "./limits.ts";

/** What can fail, and comes back. */
type Side = "server" | "database";

/** The lines of `dormouse outbox`: what it does, and what keeps it from that. With `--json` each is an object. */
export class Journal {
  readonly #shell: Shell;
  readonly #isJson: boolean;
  readonly #troubles = new Map<Side, Trouble>();
  #done = 0;
  #refused = 0;
  #toldDone = 0;
  #toldRefused = 0;

  constructor(shell: Shell, isJson: boolean) {
    this.#shell = shell;
    this.#isJson = isJson;
  }

  started(table: string, partitions: number, address: string): void {
    this.#line(
      { event: "started", table, partitions, address },
      `publishes ${table}, ${partitions} partition${partitions === 1 ? "" : "s"}, to ${address}`,
    );
  }

  /** Counts rows that the server has carried out. */
  done(rows: number): void {
    this.#done += rows;
  }

  refused(id: string, partition: number, reason: string): void {
    this.#refused++;
    this.#line(
      { event: "refused", id, partition, reason },
      paintOf(this.#shell).bad(printable(`row ${id} is set aside: ${reason}`)),
    );
  }

  /**
   * Tells that a side fails: once, and then once a minute.
   *
   * @param of the partition that sees it; none for all of them
   */
  fails(side: Side, cause: string, of = -1): void {
    const nowMs = this.#shell.nowMs();
    const trouble = this.#troubles.get(side) ?? {
      sinceMs: nowMs,
      toldMs: -Infinity,
      seenBy: new Set(),
    };
    this.#troubles.set(side, trouble);
    trouble.seenBy.add(of);
    if (nowMs - trouble.toldMs < outboxLimits.troubleRepeatMs) return;
    trouble.toldMs = nowMs;
    this.#line(
      { event: "trouble", side, cause },
      paintOf(this.#shell).caution(printable(`rows wait: ${cause}`)),
    );
  }

  /** Tells that a side works again, if it has failed, and works for all that have seen that. */
  works(side: Side, of = -1): void {
    const trouble = this.#troubles.get(side);
    if (trouble?.seenBy.delete(of) !== true || trouble.seenBy.size > 0) return;
    this.#troubles.delete(side);
    const seconds = Math.round((this.#shell.nowMs() - trouble.sinceMs) / 1_000);
    this.#line(
      { event: "works", side, seconds },
      paintOf(this.#shell).good(`the ${side} works again, after ${seconds} s`),
    );
  }

  /** Tells of rows in partitions that no process of this configuration takes. */
  strayed(rows: number, partitions: number): void {
    this.#line(
      { event: "strayed", rows },
      paintOf(this.#shell).caution(
        `${rows} rows wait in partitions that aren't from 0 to ${partitions - 1}: raise --num-partitions`,
      ),
    );
  }

  /** Tells what was done since the last report, and what waits; nothing if both are nothing. */
  report({ rows, oldestSeconds }: Waiting): void {
    const [done, refused] = [this.#done - this.#toldDone, this.#refused - this.#toldRefused];
    [this.#toldDone, this.#toldRefused] = [this.#done, this.#refused];
    if (done + refused + rows === 0) return;
    const oldest = Math.round(oldestSeconds * 10) / 10;
    this.#line(
      { event: "report", done, refused, waiting: rows, oldest_seconds: oldest },
      `${done} done, ${refused} set aside, ${rows} waiting${rows === 0 ? "" : `, the oldest for ${oldest} s`}`,
    );
  }

  ended(): void {
    const [done, refused] = [this.#done, this.#refused];
    this.#line(
      { event: "ended", done, refused },
      `ended: ${done} done, ${refused} set aside in all`,
    );
  }

  #line(event: object, text: string): void {
    const time = new Date(this.#shell.nowMs()).toISOString();
    this.#shell.print(this.#isJson ? printable(JSON.stringify({ time, ...event })) : text);
  }
}

interface Trouble {
  readonly sinceMs: number;
  toldMs: number;
  readonly seenBy: Set<number>;
}
