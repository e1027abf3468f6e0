import { commitMs, costsMs } from "./measured-costs.ts";
import type { Moments } from "./moments.ts";

/**
 * The thread of one object, which does one thing after the other, each for as long as it takes by the measured costs; and
 * the time during which the object can't hibernate. What an event writes becomes durable a little later, and nothing that
 * the object says leaves before that (rule O2).
 */
export class ObjectThread {
  readonly #moments: Moments;
  readonly #waiting: { readonly costMs: number; readonly work: () => void }[] = [];
  #isScheduled = false;
  /** What the event has taken so far. */
  #spentMs = 0;
  #freeAtMs = 0;
  #durableAtMs = 0;
  /** The event whose writes share a commit. */
  #event = 0;
  #committedEvent = -1;
  #holds = 0;
  #heldFromMs = 0;
  #awakeToMs = 0;
  /** The work of the thread since the last {@link reset}, ms. */
  busyMs = 0;
  /** The same for the time during which the object can't hibernate. */
  awakeMs = 0;
  commits = 0;

  constructor(moments: Moments) {
    this.#moments = moments;
  }

  /** Does work once everything that came before has been done. */
  enqueue(costMs: number, work: () => void): void {
    this.#waiting.push({ costMs, work });
    this.#schedule();
  }

  /** The event that happens now takes so much longer. */
  spend(ms: number): void {
    this.#spentMs += ms;
  }

  /** Something was written. All writes of an event share a commit. */
  write(): void {
    if (this.#committedEvent === this.#event) return;
    this.#committedEvent = this.#event;
    this.commits++;
    this.spend(costsMs.commit);
    const now = this.#moments.nowMs + this.#spentMs;
    this.#durableAtMs = Math.max(this.#durableAtMs, now + commitMs);
  }

  /** When what the object says now leaves it, ms since 1970. */
  get leavesAtMs(): number {
    return Math.max(this.#moments.nowMs + this.#spentMs, this.#durableAtMs);
  }

  /** The object can't hibernate until the returned function is called, once. */
  hold(): () => void {
    if (this.#holds++ === 0) this.#heldFromMs = this.#moments.nowMs;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      if (--this.#holds === 0)
        this.#cover(this.#heldFromMs, Math.max(this.#moments.nowMs, this.#freeAtMs));
    };
  }

  /** The memory is lost, and with it what waits. */
  forget(): void {
    this.#waiting.length = 0;
  }

  /** Begins to count anew. */
  reset(): void {
    this.busyMs = 0;
    this.awakeMs = 0;
    this.commits = 0;
    this.#awakeToMs = this.#moments.nowMs;
    this.#heldFromMs = this.#moments.nowMs;
  }

  /** Counts what is held until now. */
  endCount(): void {
    if (this.#holds === 0) return;
    this.#cover(this.#heldFromMs, this.#moments.nowMs);
    this.#heldFromMs = this.#moments.nowMs;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    this.#moments.at(this.#freeAtMs, () => {
      // What the work enqueues waits until the thread is free.
      this.#next();
      this.#isScheduled = false;
      this.#schedule();
    });
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    const { nowMs } = this.#moments;
    this.#event++;
    this.#spentMs = next.costMs;
    next.work();
    this.#freeAtMs = nowMs + this.#spentMs;
    this.busyMs += this.#spentMs;
    if (this.#holds === 0) this.#cover(nowMs, this.#freeAtMs);
    this.#spentMs = 0;
  }

  #cover(fromMs: number, toMs: number): void {
    this.awakeMs += Math.max(0, toMs - Math.max(fromMs, this.#awakeToMs));
    this.#awakeToMs = Math.max(this.#awakeToMs, toMs);
  }
}
