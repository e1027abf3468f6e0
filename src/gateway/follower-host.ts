import type { ClientConfig } from "../config/config.ts";
import type { Follower } from "./follower.ts";
import type { HeldSubscriptions } from "./memory.ts";
import type { Asked } from "./channel-client.ts";

/** What all followers of a gateway share. */
export interface FollowerHost {
  readonly client: ClientConfig;
  /** Counts the subscribers here, and those about to be. */
  readonly held: HeldSubscriptions;
  /** Asks a channel's object, in order. */
  ask(channel: string, asked: readonly Asked[]): void;
  /** Called at the end of whatever happened to a follower: it may be idle now, or have something to settle. */
  changed(follower: Follower): void;
}
