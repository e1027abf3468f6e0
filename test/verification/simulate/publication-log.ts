import type { StreamPosition } from "../../../src/protocol/publication.ts";

/** One publication, as the channel object published it. */
export interface Entry {
  /** A unique text. */
  readonly data: string;
  /** The number of the channel object's incarnation. */
  readonly incarnation: number;
  /** When it was published, by the right time, ms since 1970. */
  readonly atMs: number;
  /** Absent without history. */
  readonly position?: StreamPosition;
}

/** An entry, and its index in its channel. */
export interface Found extends Entry {
  readonly index: number;
}

/** All publications in order, and all complaints about deviations. */
export class PublicationLog {
  readonly complaints: string[] = [];
  readonly #channels = new Map<string, Found[]>();
  readonly #byData = new Map<string, Found>();

  complain(complaint: string): void {
    this.complaints.push(complaint);
  }

  /** A channel object has published. */
  publish(channel: string, entry: Entry): void {
    const { data } = entry;
    if (this.#byData.has(data)) this.complain(`${data} was published twice to ${channel}`);
    const entries = this.#channels.get(channel) ?? [];
    const found = { ...entry, index: entries.length };
    entries.push(found);
    this.#channels.set(channel, entries);
    this.#byData.set(data, found);
  }

  /** The newest entries were undone before any delivery. */
  undo(channel: string, count: number): void {
    for (const { data } of this.#channels.get(channel)?.splice(count) ?? []) {
      this.#byData.delete(data);
    }
  }

  find(data: string): Found | undefined {
    return this.#byData.get(data);
  }

  /** The publications of a channel, in order. */
  list(channel: string): readonly Found[] {
    return this.#channels.get(channel) ?? [];
  }

  /** How many publications a channel has had. */
  count(channel: string): number {
    return this.#channels.get(channel)?.length ?? 0;
  }

  /** The newest publication of a channel. */
  last(channel: string): Found | undefined {
    return this.#channels.get(channel)?.at(-1);
  }

  /** Whether an entry is the first of its incarnation on its channel. */
  isFirstOfIncarnation(channel: string, { index, incarnation }: Found): boolean {
    return this.#channels.get(channel)?.[index - 1]?.incarnation !== incarnation;
  }
}
