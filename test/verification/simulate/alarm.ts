import type { Timeline, Timer } from "./timeline.ts";

/** The time of an alarm, on two clocks. */
export interface AlarmTime {
  /** By the clock of the alarm's object. */
  readonly dueMs: number;
  /** By the world's clock. */
  readonly atMs: number;
}

/** The one alarm of an object. It outlives the object's memory. The owner makes it as durable as the rows. */
export class Alarm {
  readonly #timeline: Timeline;
  readonly #run: () => void;
  #time: AlarmTime | undefined;
  #timer: Timer | undefined;

  constructor(timeline: Timeline, ring: () => void) {
    this.#timeline = timeline;
    this.#run = ring;
  }

  get time(): AlarmTime | undefined {
    return this.#time;
  }

  /** Whether the alarm runs by then anyway. */
  covers(dueMs: number): boolean {
    return dueMs >= (this.#time?.dueMs ?? Number.POSITIVE_INFINITY);
  }

  /** @param nowMs by the object's clock, as `dueMs` */
  set(dueMs: number, nowMs: number): void {
    this.restore({ dueMs, atMs: this.#timeline.nowMs + Math.max(dueMs - nowMs, 1) });
  }

  /** Sets the alarm to a time that was read before; undefined clears it. */
  restore(time: AlarmTime | undefined): void {
    this.#timer?.cancel();
    this.#time = time;
    if (time === undefined) return;
    const waitMs = Math.max(time.atMs - this.#timeline.nowMs, 1);
    this.#timer = this.#timeline.after(waitMs, this.#run);
  }
}
