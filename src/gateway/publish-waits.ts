import type { Subscription } from "../session/subscription.ts";
import type { Reached } from "./cursor.ts";

/** A publisher that hears of its publication as a subscriber first (rule O4). */
export interface PublishWait {
  readonly subscription: Subscription;
  /** Where its publication is among the channel's entries. */
  readonly instance: number;
  readonly sequence: number;
  /** It is answered then in any case, ms since 1970: nothing hangs (rule B4). */
  readonly dueAtMs: number;
  readonly answer: () => void;
}

/** The publishers whose publication a gateway has not taken yet. */
export class PublishWaits {
  readonly #waits = new Set<PublishWait>();

  get size(): number {
    return this.#waits.size;
  }

  add(wait: PublishWait): void {
    this.#waits.add(wait);
  }

  /**
   * Answers those whose publication is with the subscribers.
   *
   * @returns whether there were any
   */
  release(reached: Reached): boolean {
    return this.#answer((wait) => isReached(wait, reached));
  }

  /** Answers those whose subscription has ended: it will hear of nothing any more. */
  releaseOf(subscription: Subscription): void {
    this.#answer((wait) => wait.subscription === subscription);
  }

  releaseAll(): void {
    this.#answer(() => true);
  }

  /**
   * Answers those who have waited long enough.
   *
   * @returns in how many ms the next one has; undefined when nobody waits
   */
  expire(nowMs: number): number | undefined {
    this.#answer(({ dueAtMs }) => nowMs >= dueAtMs);
    let waitMs: number | undefined;
    for (const { dueAtMs } of this.#waits) {
      waitMs = Math.min(waitMs ?? Number.POSITIVE_INFINITY, dueAtMs - nowMs);
    }
    return waitMs;
  }

  /** Takes out whoever is answered before answering: an answer may make others wait. */
  #answer(ready: (wait: PublishWait) => boolean): boolean {
    const answered = [...this.#waits].filter(ready);
    for (const wait of answered) this.#waits.delete(wait);
    for (const { answer } of answered) answer();
    return answered.length > 0;
  }
}

/** A later instance begins after everything that an earlier one told. */
function isReached(
  { instance, sequence }: { readonly instance: number; readonly sequence: number },
  reached: Reached,
): boolean {
  if (reached.instance !== instance) return reached.instance > instance;
  return reached.sequence >= sequence;
}
