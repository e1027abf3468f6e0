import type { Payload } from "../../src/protocol/payload.ts";
import type { StreamPosition } from "../../src/protocol/publication.ts";

/** A publication that is kept. */
export interface Kept {
  readonly offset: number;
  readonly data: Payload;
}

/** Where a channel stands, and what it keeps. */
export interface Stream {
  readonly epoch: string;
  readonly top: number;
  readonly publications: readonly Kept[];
  readonly timeMs: number;
  readonly version: bigint;
  readonly versionEpoch: string;
}

/** A publish that may be repeated. */
export interface Key {
  readonly timeMs: number;
  /** Absent without history. */
  readonly position?: StreamPosition;
}

/** All that a channel remembers. It is never changed, only replaced: whoever holds an old one can go back to it. */
export interface ModelState {
  readonly stream: Stream | undefined;
  readonly keys: ReadonlyMap<string, Key>;
}

/** What a command comes to. */
export interface ModelAnswer {
  readonly outcome: string;
  readonly position?: StreamPosition;
  readonly publications?: readonly Kept[];
}
