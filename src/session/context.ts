import type { Config } from "../config/config.ts";
import type { KnownDeltas } from "../delta/known-deltas.ts";
import type { Channels } from "./ports.ts";

/** What all sessions of an object share. */
export interface SessionContext {
  readonly config: Config;
  readonly channels: Channels;
  /** What was made for those who recovered before. */
  readonly knownDeltas: KnownDeltas;
  /** What the server calls itself to clients; never empty. */
  readonly version: string;
  /** Whether the server makes subscriptions of its own: not on a socket that was opened for one channel. */
  readonly serverSubscriptions: boolean;
  /** By what name what clients post finds this object (reference 4.3). */
  readonly node: string;
  /** The one channel that sockets here are opened for; absent where they are for any. */
  readonly channel?: string;
  /** Whether a session too large for its attachment can lie in a row (rule G2). */
  readonly storesRows: boolean;
}
