import { limits } from "../limits.ts";
import type { Platform, Timer } from "./platform.ts";

/**
 * The two ways in which an object acts later. An alarm wakes an object that hibernates and costs a row; a timer costs
 * nothing and keeps the object awake.
 */

/**
 * The one alarm of an object. Setting it costs a row (rule H14), so it is set to the earliest time that was asked for,
 * and written only if that time becomes earlier.
 */
export class AlarmSchedule {
  readonly #platform: AlarmPlatform;
  /**
   * The time of the alarm, ms since 1970; Infinity if none is set; undefined if it isn't known: before a new instance has
   * read it, and after it couldn't be set.
   */
  #setForMs: number | undefined;
  /** How often the alarm has rung, or couldn't be set: a time that was read before that may be wrong. */
  #changes = 0;

  constructor(platform: AlarmPlatform) {
    this.#platform = platform;
  }

  /** Takes the time for which the alarm is set. After this, {@link atMost} sets it in the event that asks for it. */
  readonly known = (setForMs: number): void => {
    // It may have been set since it was read, and the time that was read must not overwrite that.
    this.#setForMs ??= setForMs;
  };

  /** Whether an alarm is set, as far as is known. */
  get pending(): boolean {
    return this.#setForMs !== Number.POSITIVE_INFINITY;
  }

  /** Whether an alarm is set for that time or earlier, so that {@link atMost} has nothing to do. */
  covers(dueMs: number): boolean {
    return (
      dueMs === Number.POSITIVE_INFINITY ||
      (this.#setForMs !== undefined && this.#setForMs <= dueMs)
    );
  }

  /** Sets the alarm for that time unless an earlier one is set. Infinity sets none. */
  atMost(dueMs: number): void {
    if (this.covers(dueMs)) return;
    if (this.#setForMs === undefined) {
      const changes = this.#changes;
      this.#platform.readAlarm((setForMs) => {
        if (changes === this.#changes) this.known(setForMs);
        this.atMost(dueMs);
      });
      return;
    }
    // The platform refuses dates beyond 2189, and a token may name any date. An alarm that comes too early does no
    // harm.
    const setForMs = Math.min(dueMs, latestMs);
    this.#setForMs = setForMs;
    this.#platform.setAlarm(setForMs, () => {
      // The one before may have failed as well, and a later one may have been set. No other event may come (rule S6).
      this.#changes++;
      this.#setForMs = undefined;
      this.#platform.after(limits.alarmRetryMs, () => this.atMost(setForMs));
    });
  }

  /** To be called when the alarm goes off: none is set then. */
  rang(): void {
    this.#changes++;
    this.#setForMs = Number.POSITIVE_INFINITY;
  }
}

type AlarmPlatform = Pick<Platform, "readAlarm" | "setAlarm" | "after">;

/** The year 2100. */
const latestMs = 4_102_444_800_000;

/**
 * One timer for the next thing to do. A timer keeps the object awake (rule S3), so it is cleared as soon as there is
 * nothing to wait for.
 */
export class NextTimer {
  readonly #platform: Pick<Platform, "after" | "nowMs">;
  readonly #work: (nowMs: number) => void;
  #timer: Timer | undefined;
  #dueAtMs = Number.POSITIVE_INFINITY;
  /** When the timer was set, ms since 1970. */
  #setAtMs = 0;

  /**
   * @param work takes the time, which is at least that for which the timer was set: where the clock was set back, it
   * stands meanwhile, and what waits would wait for it (rule S5)
   */
  constructor(platform: Pick<Platform, "after" | "nowMs">, work: (nowMs: number) => void) {
    this.#platform = platform;
    this.#work = work;
  }

  /**
   * Makes the work run in so many ms, or earlier: work that is called too early sets the timer again. Setting a new
   * timer for each publication would cost more than publishing it.
   *
   * @param waitMs undefined for never
   */
  set(waitMs: number | undefined, nowMs: number): void {
    const dueAtMs = waitMs === undefined ? Number.POSITIVE_INFINITY : nowMs + waitMs;
    // An overdue timer fires in the next turn. Were it set anew, many events would put it off for ever. A timer that was
    // set when the clock was further on counts for nothing.
    const isEarlyEnough = this.#dueAtMs <= dueAtMs && this.#setAtMs <= nowMs;
    if (waitMs !== undefined && this.#timer !== undefined && isEarlyEnough) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#dueAtMs = dueAtMs;
    this.#setAtMs = nowMs;
    if (waitMs === undefined) return;
    this.#timer = this.#platform.after(waitMs, () => {
      this.#timer = undefined;
      this.#dueAtMs = Number.POSITIVE_INFINITY;
      this.#work(Math.max(this.#platform.nowMs(), dueAtMs));
    });
  }
}
