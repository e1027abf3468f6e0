import type { ReceivedPublication, Subscriber } from "./client-subscription.ts";
import { type MapResult, PagedSubscription } from "./paged-subscription.ts";

/**
 * One client's subscriptions to a map whose keys come from the server alone: it reads pages of the keys, then what has
 * changed since, and then it is told of each change. It always begins anew.
 */
export abstract class MirrorSubscription extends PagedSubscription {
  /** When the subscription became live, ms since 1970. */
  beganAtMs = Number.POSITIVE_INFINITY;
  readonly #now: () => number;

  /** @param type the number of the type of subscription */
  constructor(channel: string, type: number, subscriber: Subscriber) {
    super(channel, type, subscriber);
    this.#now = () => subscriber.context.timeline.nowMs;
  }

  /** Forgets all keys. */
  protected abstract clear(): void;

  protected abstract has(key: string): boolean;

  /** Takes a key, or its removal. */
  protected abstract change(entry: ReceivedPublication): void;

  protected override begins(): void {
    this.clear();
  }

  protected override takePage({ state = [], publications = [] }: MapResult): void {
    for (const entry of state) {
      if (this.has(entry.key ?? "")) this.complain(`was sent ${entry.key} twice`);
      this.change(entry);
    }
    for (const change of publications) this.change(change);
  }

  protected override live({ recoverable = false }: MapResult): void {
    this.beganAtMs = this.#now();
    if (recoverable) this.complain("was told that it can recover");
  }

  override take(publication: ReceivedPublication): void {
    if (this.leaving > 0) return;
    if (this.state === "on") this.change(publication);
    else this.complain(`was told of ${publication.key} while ${this.state}`);
  }

  override end(): void {
    super.end();
    this.beganAtMs = Number.POSITIVE_INFINITY;
  }
}
