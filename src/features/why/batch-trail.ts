import type { BatchObserver } from "../../gateway/batch-order.ts";
import type { RelayBatch } from "../../contract/relay-batch.ts";
import type { TakenPublication } from "./trail.ts";
import type { Clock } from "./frame-trail.ts";
import { RowRing } from "./row-ring.ts";
import { trailLimits } from "./limits.ts";

/**
 * The last publications with offsets that a gateway took, of all its channels, in memory: by a call of the channel's
 * object, or by reading what it had missed (rule Y1).
 */
export class BatchTrail implements BatchObserver {
  readonly #clock: Clock;
  readonly #rows = new RowRing(columns.count, trailLimits.trailBatchesMax);
  readonly #channels: string[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  took({ channel, entries }: RelayBatch): void {
    let [first, last] = [0, 0];
    for (const entry of entries) {
      if (entry.type !== "publication" || entry.publication.offset === 0) continue;
      last = entry.publication.offset;
      if (first === 0) first = last;
    }
    if (first > 0) this.#note(channel, first, last, false);
  }

  read(channel: string, first: number, last: number): void {
    if (first <= last) this.#note(channel, first, last, true);
  }

  /** When the gateway first took the publication at this offset, as far as it remembers. */
  find(channel: string, offset: number): TakenPublication | undefined {
    const rows = this.#rows;
    for (let row = rows.first; row < rows.next; row++) {
      if (this.#channels[rows.slot(row)] !== channel) continue;
      if (offset < rows.get(row, columns.first) || offset > rows.get(row, columns.last)) continue;
      const atMs = rows.get(row, columns.atMs);
      return rows.get(row, columns.wasRead) === 1 ? { atMs, read: true } : { atMs };
    }
    return undefined;
  }

  /** Since when nothing was forgotten, ms since 1970; undefined if nothing was. */
  get sinceMs(): number | undefined {
    return this.#rows.oldest(columns.atMs);
  }

  #note(channel: string, first: number, last: number, wasRead: boolean): void {
    const rows = this.#rows;
    const row = rows.append();
    this.#channels[rows.slot(row)] = channel;
    rows.set(row, columns.first, first);
    rows.set(row, columns.last, last);
    rows.set(row, columns.atMs, this.#clock.nowMs());
    rows.set(row, columns.wasRead, wasRead ? 1 : 0);
  }
}

const columns = { first: 0, last: 1, atMs: 2, wasRead: 3, count: 4 } as const;
