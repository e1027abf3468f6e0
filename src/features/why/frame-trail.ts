import type { SentFrame } from "./trail.ts";
import type { BatchFrames } from "../../hub/batch-frames.ts";
import type { FrameObserver } from "../../hub/hub.ts";
import { RowRing } from "./row-ring.ts";

/**
 * The last frames with publications that the hubs of one object have sent, in memory: when, and to how many subscribers
 * (rule Y9). Nothing reads it until somebody asks.
 */
export class FrameTrail implements FrameObserver {
  readonly #clock: Clock;
  readonly #rows: RowRing;
  readonly #channels: string[] = [];

  /** @param framesMax how many frames are remembered */
  constructor(clock: Clock, framesMax: number) {
    this.#clock = clock;
    this.#rows = new RowRing(columns.count, framesMax);
  }

  begun(channel: string, batch: BatchFrames): number {
    const row = this.#rows.append();
    this.#channels[this.#rows.slot(row)] = channel;
    this.#rows.set(row, columns.first, batch.firstOffset);
    this.#rows.set(row, columns.last, batch.lastOffset);
    this.#rows.set(row, columns.publications, batch.publications);
    this.#rows.set(row, columns.begunAtMs, this.#clock.nowMs());
    return row;
  }

  sent(row: number, batch: BatchFrames, isOver: boolean): void {
    const rows = this.#rows;
    rows.set(row, columns.sent, batch.sent);
    rows.set(row, columns.filtered, batch.filtered);
    rows.set(row, columns.leftOut, batch.leftOut);
    rows.set(row, columns.slow, batch.slow);
    if (isOver) rows.set(row, columns.sentAtMs, this.#clock.nowMs());
  }

  /** The newest frame of a channel with the publication at this offset. */
  find(channel: string, offset: number): SentFrame | undefined {
    const rows = this.#rows;
    for (let row = rows.next - 1; row >= rows.first; row--) {
      if (this.#channels[rows.slot(row)] !== channel) continue;
      if (offset < rows.get(row, columns.first) || offset > rows.get(row, columns.last)) continue;
      const sentAtMs = rows.get(row, columns.sentAtMs);
      const filtered = rows.get(row, columns.filtered);
      return {
        publications: rows.get(row, columns.publications),
        begunAtMs: rows.get(row, columns.begunAtMs),
        ...(sentAtMs === 0 ? {} : { sentAtMs }),
        subscribers: rows.get(row, columns.sent) - filtered,
        filtered,
        leftOut: rows.get(row, columns.leftOut),
        slow: rows.get(row, columns.slow),
      };
    }
    return undefined;
  }

  /** Since when no frame was forgotten, ms since 1970; undefined if none was. */
  get sinceMs(): number | undefined {
    return this.#rows.oldest(columns.begunAtMs);
  }
}

/** Says what time it is. */
export interface Clock {
  /** Ms since 1970. */
  nowMs(): number;
}

const columns = {
  first: 0,
  last: 1,
  publications: 2,
  begunAtMs: 3,
  sentAtMs: 4,
  sent: 5,
  filtered: 6,
  leftOut: 7,
  slow: 8,
  count: 9,
} as const;
