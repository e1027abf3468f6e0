import type { ChannelConfig, Config } from "../../config/config.ts";
import type { SessionIdentity } from "../../contract/session-snapshot.ts";
import type { RefusedCommand } from "../decision.ts";
import type { Subscriptions } from "../subscriptions.ts";

/**
 * Channels of a type are for clients with a right on another channel, their base, in addition to the right to subscribe to
 * them. A feature brings it with the type.
 */
export interface Dependence {
  /** The channel that depends on this one; undefined if none does. */
  dependentOf(channel: string, config: ChannelConfig): string | undefined;
  /** The channel that this one depends on; undefined if the name stands for none. */
  baseOf(channel: string, config: ChannelConfig): string | undefined;
  /** Why the client may not subscribe to this channel, or not any more; undefined if it may. */
  refuse(client: DependentClient, channel: string): RefusedCommand | undefined;
}

/** A client, as far as its rights on channels depend on it. */
export interface DependentClient {
  readonly user: string;
  readonly identity: SessionIdentity;
  readonly subscriptions: Subscriptions;
  readonly context: { readonly config: Config };
}
