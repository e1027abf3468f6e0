import type { Payload } from "../../src/protocol/payload.ts";
import type { StreamPosition } from "../../src/protocol/publication.ts";

/** A publication that is kept. */
export interface Kept {
  readonly offset: number;
  readonly data: Payload;
}

/** A channel's position and its kept publications. */
export interface Stream {
  readonly epoch: string;
  readonly top: number;
  readonly publications: readonly Kept[];
  readonly timeMs: number;
  readonly version: bigint;
  readonly versionEpoch: string;
}

/** A publish whose key is remembered. */
export interface Key {
  readonly timeMs: number;
  /** Absent without history. */
  readonly position?: StreamPosition;
}

/** The state of a channel. It is never changed, only replaced, so an older state can be restored. */
export interface ModelState {
  readonly stream: Stream | undefined;
  readonly keys: ReadonlyMap<string, Key>;
}

/** The outcome of a command. */
export interface ModelAnswer {
  readonly outcome: string;
  readonly position?: StreamPosition;
  readonly publications?: readonly Kept[];
}
