/**
 * An object has one alarm, and setting it costs a row. This keeps it at the earliest time anybody asked for and writes
 * only when that gets earlier.
 */
export class AlarmSchedule {
  readonly #storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">;
  /** The alarm that is set, ms since 1970; Infinity for none; undefined while a fresh instance doesn't know. */
  #setForMs: number | undefined;

  constructor(storage: Pick<DurableObjectStorage, "getAlarm" | "setAlarm">) {
    this.#storage = storage;
  }

  /** Finds out which alarm is set, so that from then on {@link atMost} sets one in the stretch in which it is called. */
  async read(): Promise<void> {
    const setForMs = (await this.#storage.getAlarm()) ?? Number.POSITIVE_INFINITY;
    // Another call may have set an alarm since this one asked: what was read must not hide it.
    this.#setForMs ??= setForMs;
  }

  /** Whether the object is already sure to wake by then: then {@link atMost} has nothing to do. */
  covers(dueMs: number): boolean {
    return (
      dueMs === Number.POSITIVE_INFINITY ||
      (this.#setForMs !== undefined && this.#setForMs <= dueMs)
    );
  }

  /** Makes sure the object wakes by then. Infinity asks for nothing. */
  async atMost(dueMs: number): Promise<void> {
    if (this.covers(dueMs)) return;
    if (this.#setForMs === undefined) await this.read();
    if (this.covers(dueMs)) return;
    // Whatever a token says, the platform takes no date beyond 2189; an alarm that comes early finds nothing to do.
    const setForMs = Math.min(dueMs, latestMs);
    const before = this.#setForMs;
    this.#setForMs = setForMs;
    try {
      await this.#storage.setAlarm(setForMs);
    } catch (error) {
      this.#setForMs = before;
      throw error;
    }
  }

  /** The alarm went off: none is set now. */
  rang(): void {
    this.#setForMs = Number.POSITIVE_INFINITY;
  }
}

/** The year 2100. */
const latestMs = 4_102_444_800_000;

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
