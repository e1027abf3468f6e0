import { Records } from "../../../support/records.ts";
import type { AppendAsked } from "./growth-event.ts";

/** A text as its producer sent it, and what is known of how much of it is there. */
export class SentText {
  readonly key: string;
  /** What was sent so far. */
  sent = "";
  /** The append that isn't answered yet. */
  asked: AppendAsked | undefined;
  /** The length that was acknowledged last, and the epoch of the map then. */
  acknowledged: { readonly length: number; readonly epoch: string } | undefined;
  /** What was acknowledged before the producer was told of a shorter text, until the next append is acknowledged. */
  takenBack: { readonly length: number; readonly epoch: string } | undefined;
  /** The length of the whole text, once its end was acknowledged. */
  finalLength: number | undefined;
  /** When the producer asked to remove the key, and when that was acknowledged, µs. */
  removalAsked: number | undefined;
  removed: number | undefined;
  /** From which time on which length was known to be durable: both grow. */
  readonly #durable: { readonly time: number; readonly length: number }[] = [];

  constructor(key: string) {
    this.key = key;
  }

  /** Somebody was told of a durable text of this length. */
  isDurable(length: number, time: number): void {
    if (length > this.durableAt(time)) this.#durable.push({ time, length });
  }

  /** The length that was known to be durable at a time; 0 if none was. */
  durableAt(time: number): number {
    return this.#durable.findLast((known) => known.time <= time)?.length ?? 0;
  }
}

/** What a client shows. */
export class ShownTexts {
  readonly process: string;
  /** By key. */
  readonly texts = new Map<string, string>();
  isAttached = false;
  /** Whether the client is told of text that isn't durable yet. */
  deltas = false;
  epoch = "";
  offset = 0;
  /** The offset up to which changes are recovered: not all of them are sent (rule Z42). */
  recoversTo = 0;
  /** When the texts were compared last, µs. */
  seenTime = 0;

  constructor(process: string) {
    this.process = process;
  }
}

/** The length of a text after a change; undefined if the change removed it. */
export interface TextChange {
  readonly key: string;
  readonly length: number | undefined;
}

/** The lengths of the texts that a client showed when it had all changes up to an offset. */
export interface SeenTexts {
  readonly process: string;
  readonly time: number;
  readonly epoch: string;
  readonly offset: number;
  readonly lengths: ReadonlyMap<string, number>;
}

/** Everything that was observed of one map with texts that grow. */
export class GrowthRecord {
  readonly name: string;
  readonly texts = new Records((key) => new SentText(key));
  readonly clients = new Records((process) => new ShownTexts(process));
  /** What changed at each offset, by epoch, as far as somebody was told. */
  readonly epochs = new Records(() => new Map<number, TextChange>());
  readonly seen: SeenTexts[] = [];
  /** What is stored in the end. */
  last: { readonly epoch: string; readonly texts: ReadonlyMap<string, string> } | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Keeps what a client shows, to be compared when all changes are known. */
  see({ process, epoch, offset, texts }: ShownTexts, time: number): void {
    const lengths = new Map([...texts].map(([key, text]) => [key, text.length]));
    this.epochs.of(epoch);
    this.seen.push({ process, time, epoch, offset, lengths });
  }
}
