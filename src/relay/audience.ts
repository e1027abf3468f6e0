import type { ClientConfig } from "../config/config.ts";
import { Hub } from "../hub/hub.ts";
import type { Codec } from "../protocol/codec.ts";
import type { Subscription } from "../session/subscription.ts";
import type { RelayEntry } from "./batch.ts";
import { Keeper } from "./keeper.ts";
import { type PublishWait, PublishWaits } from "./publish-waits.ts";
import { isBeyond, type Reached, reachedOf } from "./reached.ts";

/** A gateway's own subscribers to one channel: who they are, what they are sent, and what they note and wait for. */
export class Audience {
  readonly #hub: Hub;
  readonly #subscriptions = new Set<Subscription>();
  readonly #keeper = new Keeper();
  readonly #waits = new PublishWaits();

  constructor(channel: string, codec: Codec, client: ClientConfig) {
    this.#hub = new Hub(channel, codec, client.queueMaxSizeBytes);
  }

  get subscriptions(): ReadonlySet<Subscription> {
    return this.#subscriptions;
  }

  /** Whether {@link settle} has something to do. */
  get unsettled(): boolean {
    return this.#hub.collecting || this.#waits.size > 0;
  }

  /** Whether their sockets hold more than memory bears (rule B3). */
  overloaded(nowMs: number): boolean {
    return this.#hub.overloaded(nowMs);
  }

  /** From here on the subscription gets everything. */
  add(subscription: Subscription): void {
    this.#subscriptions.add(subscription);
    this.#hub.add(subscription);
  }

  /**
   * Takes up a subscription that slept.
   *
   * @returns where the gateway stands, if this one noted that and knows better than those before it
   */
  restore(subscription: Subscription, reached: Reached | undefined): Reached | undefined {
    this.add(subscription);
    const { kept } = subscription;
    if (kept === undefined || (reached !== undefined && !isBeyond(kept, reached))) return reached;
    const noted = reachedOf(kept);
    this.#keeper.restored(subscription, noted);
    return noted;
  }

  remove(subscription: Subscription): void {
    if (!this.#subscriptions.delete(subscription)) return;
    this.#hub.remove(subscription);
    this.#keeper.left(subscription);
    this.#waits.releaseOf(subscription);
  }

  /** Something is missing and can't be had (rule L3): everybody is told, and isn't a subscriber any more. */
  lose(): void {
    const lost = [...this.#subscriptions];
    this.#subscriptions.clear();
    this.#keeper.clear();
    for (const subscription of lost) this.#hub.remove(subscription);
    for (const subscription of lost) subscription.lost();
    // Their publications are among what they lost: that they were published they hear after that (rule O4).
    this.#waits.releaseAll();
  }

  /** Sends, or collects, what the channel told. */
  deliver(entry: RelayEntry): void {
    switch (entry.type) {
      case "publication":
        this.#hub.publish(entry.publication);
        return;
      case "join":
      case "leave":
        this.#hub.announce(entry.type, entry.info);
        return;
      case "sole":
        this.#hub.sole(entry.user, entry.client);
        return;
      case "removed":
      // Nobody is told.
    }
  }

  /** Notes how far the gateway is, where it survives sleep. */
  keep(reached: Reached): void {
    this.#keeper.keep(reached, this.#subscriptions);
  }

  /** Answers a publisher once {@link release} says that its publication is here; at once, if it isn't a subscriber. */
  awaitPublication(wait: PublishWait): void {
    if (this.#subscriptions.has(wait.subscription)) this.#waits.add(wait);
    else wait.answer();
  }

  /** @returns whether somebody's publication is with the subscribers now, and was answered */
  release(reached: Reached): boolean {
    return this.#waits.release(reached);
  }

  /** Whether publications are being collected; then the subscription's `flushed` is called once they went out. */
  awaitFlush(subscription: Subscription): boolean {
    if (!this.#hub.collecting) return false;
    this.#hub.callAfterFlush(subscription);
    return true;
  }

  /**
   * Sends what was collected, and answers those who waited too long.
   *
   * @returns in how many ms this must be called again; undefined when there is nothing to wait for
   */
  settle(nowMs: number): number | undefined {
    const hubMs = this.#hub.settle(nowMs);
    const waitsMs = this.#waits.expire(nowMs);
    if (hubMs === undefined || waitsMs === undefined) return hubMs ?? waitsMs;
    return Math.min(hubMs, waitsMs);
  }
}
