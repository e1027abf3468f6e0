import { limits } from "../../src/limits.ts";
import { elapsed } from "../../src/moment.ts";

/**
 * Lets a bounded number of upgrades in at a time, so that thousands of clients which come at once don't keep this
 * isolate from everything else (rule F14). The others wait in their order, at little cost. If that takes too long, they
 * are answered that they have to come later.
 *
 * A request that is cancelled runs no further, and so never leaves. Its place is free again after `limits.upgradeVisitMs`.
 */
export class Door {
  readonly #inside = new Set<Visit>();
  readonly #waiting: WaitingUpgrade[] = [];

  /** @returns the visit, which has to {@link leave}; undefined if the client has to come later */
  async enter(): Promise<Visit | undefined> {
    this.#next();
    if (this.#waiting.length === 0 && this.#findRoom()) return this.#letIn();
    if (this.#waiting.length >= limits.upgradesWaitingMax) return undefined;
    const entered = Promise.withResolvers<Visit | undefined>();
    const waiting: WaitingUpgrade = { sinceMs: Date.now(), end: entered.resolve };
    this.#waiting.push(waiting);
    // A timer belongs to its request, so each has its own.
    const timer = setTimeout(() => this.#next(), limits.arrivalWaitMs);
    const visit = await entered.promise;
    clearTimeout(timer);
    return visit;
  }

  /** To be called when the upgrade costs this isolate nothing more for now; calls after the first do nothing. */
  leave(visit: Visit): void {
    if (this.#inside.delete(visit)) this.#next();
  }

  #letIn(): Visit {
    const visit = { sinceMs: Date.now() };
    this.#inside.add(visit);
    return visit;
  }

  /** Lets in as many upgrades as there is room for, and refuses those that have waited for too long. */
  #next(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const isLate = elapsed(first.sinceMs, limits.arrivalWaitMs, Date.now());
      if (!isLate && !this.#findRoom()) return;
      this.#waiting.shift();
      first.end(isLate ? undefined : this.#letIn());
    }
  }

  /** Whether there is a place, or one of which the upgrade has counted for long enough: that is given up. */
  #findRoom(): boolean {
    if (this.#inside.size < limits.upgradesAtOnce) return true;
    const [oldest] = this.#inside;
    if (oldest === undefined || !elapsed(oldest.sinceMs, limits.upgradeVisitMs, Date.now()))
      return false;
    this.#inside.delete(oldest);
    return true;
  }
}

/** An upgrade that was let in. */
export interface Visit {
  /** ms since 1970. */
  readonly sinceMs: number;
}

interface WaitingUpgrade {
  readonly sinceMs: number;
  /** Takes undefined if it has waited for too long. */
  readonly end: (visit: Visit | undefined) => void;
}
