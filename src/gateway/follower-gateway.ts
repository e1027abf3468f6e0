import type { ClientConfig } from "../config/config.ts";
import type { HubSetup } from "../hub/hub.ts";
import type { BatchObserver } from "./batch-order.ts";
import type { PendingRequest } from "./channel-client.ts";
import type { SubscriptionMemory } from "./memory.ts";

/** The gateway as its followers see it. */
export interface FollowerGateway<Followed> {
  readonly client: ClientConfig;
  /** How the hub of a channel is set up; absent for what is usual. */
  readonly hubSetup?: (channel: string) => HubSetup;
  /** How many missed publications of a channel are too many; absent where that is the same for all channels. */
  readonly recoveryLimit?: (channel: string) => number;
  /** Whether publications of a channel get other contents after they were read; absent where none does. */
  readonly amends?: (channel: string) => boolean;
  /** Hears of what the gateway takes; absent where nobody does. */
  readonly batches?: BatchObserver;
  /** Counts the memory of subscriptions, pending ones included (rule G7). */
  readonly memory: SubscriptionMemory;
  /** Sends requests to a channel's object, in this order. */
  request(channel: string, requests: readonly PendingRequest[]): void;
  /** Called after all work of a follower: it may be idle now, or have something to settle. */
  changed(follower: Followed): void;
}
