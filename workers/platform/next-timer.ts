/**
 * One timer for what is to be done next. While it waits the object can't fall asleep, so it is given up when there is
 * nothing to wait for any more.
 */
export class NextTimer {
  readonly #work: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #dueAtMs = Number.POSITIVE_INFINITY;

  constructor(work: () => void) {
    this.#work = work;
  }

  /**
   * Does the work in so many ms or earlier: whoever is asked too early says again when. To set a timer anew for each
   * publication would cost more than to publish it.
   *
   * @param waitMs undefined: never
   */
  set(waitMs: number | undefined, nowMs: number): void {
    const dueAtMs = waitMs === undefined ? Number.POSITIVE_INFINITY : nowMs + waitMs;
    const isEarlyEnough = this.#dueAtMs <= dueAtMs && this.#dueAtMs >= nowMs;
    if (waitMs !== undefined && this.#timer !== undefined && isEarlyEnough) return;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#dueAtMs = dueAtMs;
    if (waitMs === undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#dueAtMs = Number.POSITIVE_INFINITY;
      this.#work();
    }, waitMs);
  }
}
