/**
 * Decides when the next frame is sent to many subscribers (rule F2). If no frame was sent lately, the frame is sent at
 * once; to very many subscribers 1 ms later, so that other work goes before it, first of all the publisher's answer. A
 * frame sent before the last one has left would only queue behind it, so it waits for that. From then on it waits as
 * long as publications keep coming, because sending a frame takes the same time whatever the frame holds. That ends at
 * the first pause, when enough publications wait, and in any case when the wait has lasted as long as sending takes.
 */
export class BatchWindow {
  /** When the last frame has left, roughly: ms since 1970. */
  #sentByMs = Number.NEGATIVE_INFINITY;
  /** How many publications waited at the last call. */
  #waitingCount = 0;
  /** When the first waiting publication came, ms since 1970. */
  #firstAtMs = 0;
  /** When the newest waiting publication came, ms since 1970. */
  #newestAtMs = 0;

  /**
   * Says how long to wait.
   *
   * @param waitingCount publications that wait for the frame, at least one
   * @returns in how many ms to call this again; 0 to send now
   */
  waitMs(waitingCount: number, subscriberCount: number, nowMs: number): number {
    const costMs = subscriberCount * costPerSubscriberMs;
    if (subscriberCount <= immediateSubscribersMax) return 0;
    // A clock that was set back must not delay the frame: the last frame leaves no later than one sent now would.
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

  /** Notes that a frame is sent now. */
  sent(subscriberCount: number, nowMs: number): void {
    this.#sentByMs = nowMs + subscriberCount * costPerSubscriberMs;
    this.#waitingCount = 0;
  }
}

/**
 * To so many subscribers a frame is sent within a millisecond, which isn't worth a timer: every frame is sent at once.
 */
export const immediateSubscribersMax = 39;
/**
 * Measured on workerd: sending a frame takes the object's thread about 25 µs for each socket, nearly all in native
 * code.
 */
const costPerSubscriberMs = 0.025;
/** When so many publications share a frame, sending it takes less time for each than publishing took. */
const enoughCount = 64;
/**
 * By this share sending may take longer than measured, on a slower machine. While the runtime sends, the clock stands.
 */
const lateShare = 0.5;
/** From this cost on, with 500 subscribers, other work waits noticeably long behind the frame. */
const headStartCostMs = 12.5;
/** People would see a longer wait. */
const collectMsMax = 25;
/** Publications that share a commit come together, so this is longer than a commit takes on a local disk. */
const pauseMs = 3;
