import type { Payload } from "../../../src/protocol/payload.ts";
import type { StreamPosition } from "../../../src/protocol/publication.ts";

/** A publication that is kept. */
export interface Kept {
  /** The key that was changed, on a map. */
  readonly key?: string;
  readonly offset: number;
  readonly data: Payload;
  /** The user whose client has published it; absent for a backend. */
  readonly publisher?: string;
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
  /** The keys of a map; absent on other channels. */
  readonly entries?: ReadonlyMap<string, ModelEntry>;
  /** The last mark of each user; absent where nobody has marked anything. */
  readonly marks?: ReadonlyMap<string, ModelMark>;
  /** Where each user has become a member of the audience. */
  readonly members?: ReadonlyMap<string, ModelMark>;
  /** What the code of the channel keeps; absent where there is none, or nothing was called. */
  readonly code?: CodeState;
  /** What an ephemeral map has written down; "out" once it was taken out, undefined if it never wrote anything. */
  readonly checkpoint?: Pick<ModelState, "stream" | "entries"> | "out" | undefined;
}

/** How far a user has read, in the epoch in which the user marked last. */
export interface ModelMark {
  readonly epoch: string;
  readonly read: number;
}

/** A key of a map. */
export interface ModelEntry {
  /** Undefined if the key was removed, and its version is remembered. */
  readonly data: Payload | undefined;
  /** Of the last change. */
  readonly offset: number;
  readonly timeMs: number;
  readonly version: bigint;
  readonly versionEpoch: string;
  /** When a key of a presence map ends, ms since 1970; absent: it doesn't. */
  readonly endsMs?: number;
}

/** What the code of a channel keeps. */
export interface CodeState {
  /** The values as JSON. */
  readonly keys: ReadonlyMap<string, string>;
  readonly timers: ReadonlyMap<string, ModelTimer>;
  /** The first result of each idempotency key. */
  readonly results: ReadonlyMap<string, { readonly text: string; readonly timeMs: number }>;
}

/** A timer of a channel's code. */
export interface ModelTimer {
  readonly atMs: number;
  readonly setMs: number;
  readonly procedure: string;
  /** As JSON. */
  readonly args: string | undefined;
}

/** The outcome of a command. */
export interface ModelAnswer {
  readonly outcome: string;
  readonly position?: StreamPosition;
  readonly publications?: readonly Kept[];
}
