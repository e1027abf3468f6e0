import type { HistoryEvent, UntimedEvent } from "../checker/history-event.ts";
import type { Timeline } from "./timeline.ts";

/** Records events for the checker, with strictly increasing times in µs. */
export class EventLog {
  readonly events: HistoryEvent[] = [];
  readonly #timeline: Timeline;
  #lastUs = 0;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  note(event: UntimedEvent): void {
    this.#lastUs = Math.max(this.#lastUs + 1, this.#timeline.nowMs * 1_000);
    this.events.push({ ...event, time: this.#lastUs });
  }
}
