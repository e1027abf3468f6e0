import type { StreamPosition } from "../../../src/protocol/publication.ts";
import type { ReceivedPublication } from "./client-subscription.ts";

/** What was removed of the histories of channels. Nothing of it is recovered once every gateway has got to know that (rule L6). */
export class Removals {
  readonly #complain: (what: string) => void;
  readonly #all: Removal[] = [];
  /** How long gateways take to get to know of a removal, at most, ms; undefined if faults may keep it from them. */
  knownAfterMs: number | undefined;

  constructor(complain: (what: string) => void) {
    this.#complain = complain;
  }

  /** The history of a channel was removed up to its top. */
  note(removal: Removal): void {
    this.#all.push(removal);
  }

  /** A client was given publications that it recovers. @param askedAtMs when it asked for them */
  check(
    who: string,
    channel: string,
    { epoch, publications = [] }: Recovered,
    askedAtMs: number,
  ): void {
    const { knownAfterMs } = this;
    if (knownAfterMs === undefined) return;
    for (const { data, offset = 0 } of publications) {
      const isRemoved = (removal: Removal): boolean =>
        removal.channel === channel &&
        removal.top.epoch === epoch &&
        offset <= removal.top.offset &&
        askedAtMs > removal.atMs + knownAfterMs;
      if (this.#all.some(isRemoved))
        this.#complain(`${who} recovered ${String(data)} of ${channel}, which was removed before`);
    }
  }
}

interface Removal {
  readonly channel: string;
  readonly top: StreamPosition;
  /** ms since 1970. */
  readonly atMs: number;
}

interface Recovered {
  readonly epoch?: string;
  readonly publications?: readonly ReceivedPublication[];
}
