import type { Timeline, Timer } from "./timeline.ts";

/** When an alarm rings. */
export interface AlarmTime {
  /** By the clock of its object. */
  readonly dueMs: number;
  /** By the world's. */
  readonly atMs: number;
}

/** The one alarm of an object. It outlives the object's memory; that it is as durable as the rows is its owner's doing. */
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

  /** Whether it rings by then anyway. */
  covers(dueMs: number): boolean {
    return dueMs >= (this.#time?.dueMs ?? Number.POSITIVE_INFINITY);
  }

  /** @param nowMs by the object's clock, as `dueMs` */
  set(dueMs: number, nowMs: number): void {
    this.restore({ dueMs, atMs: this.#timeline.nowMs + Math.max(dueMs - nowMs, 1) });
  }

  /** Undefined: it doesn't ring. */
  restore(time: AlarmTime | undefined): void {
    this.#timer?.cancel();
    this.#time = time;
    if (time === undefined) return;
    const waitMs = Math.max(time.atMs - this.#timeline.nowMs, 1);
    this.#timer = this.#timeline.after(waitMs, this.#run);
  }
}
