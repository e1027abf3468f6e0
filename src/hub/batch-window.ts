/**
 * When the next frame may go (rule F2). In quiet times at once; but to very many a moment later, so that what else waits goes
 * before it, first of all the publisher's answer. Otherwise a frame that went before the last one is out would only
 * queue behind it; and from then on it pays to wait while publications keep coming: a frame costs the runtime the same whatever
 * is in it. That ends with the first pause, when enough wait, and in any case when as much time was spent as sending takes.
 */
export class BatchWindow {
  /** When the last frame has left, roughly. */
  #sentByMs = Number.NEGATIVE_INFINITY;
  #waitingCount = 0;
  /** When the first of those that wait came. */
  #firstAtMs = 0;
  /** When the newest of those that wait came. */
  #newestAtMs = 0;

  /**
   * @param waitingCount publications that wait for the frame, at least one
   * @returns in how many ms to ask again; 0 to send now
   */
  waitMs(waitingCount: number, recipientCount: number, nowMs: number): number {
    const costMs = recipientCount * costPerSubscriberMs;
    if (recipientCount <= immediateSubscribersMax) return 0;
    // A clock that was set back must not make anybody wait: the last frame never leaves later than one that went now.
    this.#sentByMs = Math.min(this.#sentByMs, nowMs + costMs);
    const endsAtMs = this.#sentByMs + costMs * lateShare + Math.min(costMs, collectMsMax);
    if (this.#waitingCount === 0 || this.#firstAtMs > nowMs) this.#firstAtMs = nowMs;
    if (waitingCount !== this.#waitingCount || this.#newestAtMs > nowMs) {
      this.#waitingCount = waitingCount;
      this.#newestAtMs = nowMs;
    }
    if (nowMs >= endsAtMs) {
      const headStartMs = costMs < headStartCostMs ? 0 : 1;
      return Math.max(0, this.#firstAtMs + headStartMs - nowMs);
    }
    if (nowMs < this.#sentByMs) return this.#sentByMs - nowMs;
    if (waitingCount >= enoughCount) return 0;
    const pauseEndsAtMs = Math.max(this.#newestAtMs, this.#sentByMs) + pauseMs;
    return Math.max(0, Math.min(pauseEndsAtMs, endsAtMs) - nowMs);
  }

  /** A frame goes now. */
  sent(recipientCount: number, nowMs: number): void {
    this.#sentByMs = nowMs + recipientCount * costPerSubscriberMs;
    this.#waitingCount = 0;
  }
}

/** To so many a frame is sent within a millisecond, which isn't worth a timer: nobody waits, and no window is needed. */
export const immediateSubscribersMax = 39;
/** Measured on workerd: sending a frame takes the object's thread about 25 µs a socket, nearly all of it native work. */
const costPerSubscriberMs = 0.025;
/** Shared by so many, a frame costs each of them less than it takes to be published. */
const enoughCount = 64;
/** By so much of it sending may take longer than that, on a slower machine. Until it is over no time passes here. */
const lateShare = 0.5;
/** To so many that what comes behind the frame waits longer than anybody would notice: 500 listeners. */
const headStartCostMs = 12.5;
/** Longer would be seen by people. */
const collectMsMax = 25;
/** Publications that share a commit come together; so this is longer than a commit takes on a disk of one's own. */
const pauseMs = 3;
