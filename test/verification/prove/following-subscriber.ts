import type { MapSubscription, Subscription } from "centrifuge";
import type { RecordedClient } from "./clients/recorded-client.ts";
import type { Subscriber } from "./clients/subscriber.ts";

/** A subscriber that uses the official client, follows its channels from its start to its end, and does nothing else. */
export abstract class FollowingSubscriber implements Subscriber {
  readonly process: string;
  readonly isPublishing = false;
  protected abstract readonly client: RecordedClient;
  protected abstract readonly followed: readonly Followed[];

  constructor(process: string) {
    this.process = process;
  }

  get subscribed(): number {
    return this.followed.filter(({ isAttached }) => isAttached).length;
  }

  get wanted(): number {
    return this.followed.length;
  }

  start(): void {
    for (const { subscription } of this.followed) subscription.subscribe();
    this.client.client.connect();
  }

  tick(): void {
    // It does nothing by itself.
  }

  settle(): void {
    // It never leaves.
  }

  stop(): void {
    this.client.stop();
  }
}

/** One of its channels. */
interface Followed {
  readonly subscription: Subscription | MapSubscription;
  /** Whether the subscription is in force. */
  readonly isAttached: boolean;
}
