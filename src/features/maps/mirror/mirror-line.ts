import { dueMoment } from "../../../moment.ts";
import { mapLimits } from "../limits.ts";
import type { MirrorToldReply } from "./mirror-map.ts";

/**
 * The changes that the object of a source still has to report to one of its mirrors (rules Z27 and Z37). One call is in
 * flight, and changes that happen meanwhile share the next call. Of each key, only the last change waits. A mirror that
 * nobody looks at isn't called until its object asks for a list. A call that fails is repeated a few times and then
 * dropped, because the mirror's object will ask for a list anyway.
 */
export class MirrorLine<Change> {
  readonly #keyOf: (change: Change) => string;
  /** When to call again after a call that failed, ms since 1970; Infinity if none did. */
  #retryAtMs = Number.POSITIVE_INFINITY;
  /** How often the mirror's object has asked. */
  #asks = 0;
  /** Whether somebody looks at the mirror. A fresh instance finds out with its first call. */
  #isHeard = true;
  #isCalling = false;
  /** Whether to call even if no change waits: the mirror's object needs a new list. */
  #isRenewed = false;
  #failures = 0;
  #waiting = new Map<string, Change>();

  /** @param keyOf what a change is of: a later one takes its place */
  constructor(keyOf: (change: Change) => string) {
    this.#keyOf = keyOf;
  }

  /** Whether somebody looks at the mirror, as far as it is known. If not, nothing has to be reported. */
  get isHeard(): boolean {
    return this.#isHeard;
  }

  tell(change: Change): void {
    if (!this.#isHeard) return;
    const key = this.#keyOf(change);
    const isKnown = this.#waiting.delete(key);
    if (!isKnown && this.#waiting.size >= mapLimits.mirrorToldWaitingMax) return;
    this.#waiting.set(key, change);
  }

  /** The waiting changes mean nothing any more: the mirror's object is called, so that it asks for a new list. */
  renew(): void {
    this.#waiting.clear();
    this.#isRenewed = this.#isHeard;
  }

  /** The mirror's object asks for a list: from now on changes are reported to it. */
  asked(): void {
    this.#asks++;
    this.#isHeard = true;
  }

  /** When {@link next} is to be called again because of a call that failed, ms since 1970; Infinity if none did. */
  dueAtMs(nowMs: number): number {
    return dueMoment(this.#retryAtMs, mapLimits.mirrorTellRetryMs, nowMs);
  }

  /** The call to make now; undefined for none. Report its outcome to {@link answered}, once. */
  next(nowMs: number): MirrorTelling<Change> | undefined {
    const isLater = this.#retryAtMs !== Number.POSITIVE_INFINITY && this.dueAtMs(nowMs) > nowMs;
    const isNothing = this.#waiting.size === 0 && !this.#isRenewed;
    if (this.#isCalling || isLater || isNothing) return undefined;
    this.#retryAtMs = Number.POSITIVE_INFINITY;
    this.#isCalling = true;
    const changes: Change[] = [];
    for (const [key, change] of this.#waiting) {
      if (changes.length >= mapLimits.mirrorToldMax) break;
      changes.push(change);
      this.#waiting.delete(key);
    }
    const isRenewal = this.#isRenewed;
    this.#isRenewed = false;
    return { changes, asks: this.#asks, isRenewal };
  }

  /** @param outcome "failed" if it is unknown whether the mirror's object took it */
  answered(
    { changes, asks, isRenewal }: MirrorTelling<Change>,
    outcome: MirrorToldReply["outcome"] | "failed",
    nowMs: number,
  ): void {
    this.#isCalling = false;
    switch (outcome) {
      case "taken":
        this.#failures = 0;
        return;
      case "left":
        this.#failures = 0;
        // The mirror's object may have said so before it asked.
        if (asks !== this.#asks) return;
        this.#isHeard = false;
        this.#isRenewed = false;
        this.#waiting.clear();
        return;
      case "busy":
      case "failed":
        this.#failures++;
        if (this.#failures >= mapLimits.mirrorTellTriesMax) this.#failures = 0;
        else if (isRenewal) this.#isRenewed = true;
        // What was renewed meanwhile needs no earlier changes.
        else if (!this.#isRenewed) this.#putBack(changes);
        if (this.#waiting.size > 0 || this.#isRenewed)
          this.#retryAtMs = nowMs + mapLimits.mirrorTellRetryMs;
    }
  }

  /** Puts changes back before all others, except for keys with a newer change that waits. */
  #putBack(changes: readonly Change[]): void {
    const newer = this.#waiting;
    this.#waiting = new Map();
    for (const change of changes) {
      const key = this.#keyOf(change);
      if (!newer.has(key)) this.#waiting.set(key, change);
    }
    for (const [key, change] of newer) this.#waiting.set(key, change);
  }
}

/** A call to make to the object of a mirror. */
export interface MirrorTelling<Change> {
  /** In the order in which they happened, one for each key. */
  readonly changes: readonly Change[];
  /** How often the mirror's object had asked by then. */
  readonly asks: number;
  /** Whether the mirror's object needs a new list. */
  readonly isRenewal: boolean;
}
