import type { StreamPosition } from "../../src/protocol/publication.ts";

/** One publication, as the channel's object carried it out. */
export interface Entry {
  /** A text that is nobody else's. */
  readonly data: string;
  /** Which life of the channel's object it was. */
  readonly incarnation: number;
  /** Absent without history. */
  readonly position?: StreamPosition;
}

/** An entry, and where it stands among its channel's. */
export interface Found extends Entry {
  readonly index: number;
}

/** What was published in truth, in order, and what anybody found to be otherwise. */
export class PublicationLog {
  readonly complaints: string[] = [];
  readonly #channels = new Map<string, Found[]>();
  readonly #byData = new Map<string, Found>();

  complain(complaint: string): void {
    this.complaints.push(complaint);
  }

  /** A channel's object has published something. */
  publish(channel: string, entry: Entry): void {
    const { data } = entry;
    if (this.#byData.has(data)) this.complain(`${data} was published twice to ${channel}`);
    const entries = this.#channels.get(channel) ?? [];
    const found = { ...entry, index: entries.length };
    entries.push(found);
    this.#channels.set(channel, entries);
    this.#byData.set(data, found);
  }

  /** The newest entries were undone before anybody had heard of them. */
  undo(channel: string, count: number): void {
    for (const { data } of this.#channels.get(channel)?.splice(count) ?? []) {
      this.#byData.delete(data);
    }
  }

  find(data: string): Found | undefined {
    return this.#byData.get(data);
  }

  /** How many publications a channel has had. */
  count(channel: string): number {
    return this.#channels.get(channel)?.length ?? 0;
  }

  /** The newest publication of a channel. */
  last(channel: string): Found | undefined {
    return this.#channels.get(channel)?.at(-1);
  }

  /** Whether an entry is the first of its life, on its channel. */
  isFirstOfIncarnation(channel: string, { index, incarnation }: Found): boolean {
    return this.#channels.get(channel)?.[index - 1]?.incarnation !== incarnation;
  }
}
