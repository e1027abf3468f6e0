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
   * Does the work in so many ms, and at no other time.
   *
   * @param waitMs undefined: never
   */
  set(waitMs: number | undefined, nowMs: number): void {
    const dueAtMs = waitMs === undefined ? Number.POSITIVE_INFINITY : nowMs + waitMs;
    if (dueAtMs === this.#dueAtMs) return;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#dueAtMs = dueAtMs;
    this.#timer =
      waitMs === undefined
        ? undefined
        : setTimeout(() => {
            this.#timer = undefined;
            this.#dueAtMs = Number.POSITIVE_INFINITY;
            this.#work();
          }, waitMs);
  }
}
