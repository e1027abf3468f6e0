import type { HistoryEvent } from "../../checker/history-event.ts";

/** A fault and its duration, µs. */
export interface TimelineFault {
  readonly kind: string;
  readonly target: string;
  readonly from: number;
  readonly to: number;
}

/** A run over time: the data of its chart. Takes the same events as the checker. */
export class RunTimeline {
  /** Publications delivered in each second. */
  readonly deliveries: number[] = [];
  readonly faults: TimelineFault[] = [];
  /** Channels with deliveries. */
  readonly channels = new Set<string>();
  readonly #open = new Map<string, number>();
  #from: number | undefined;

  /** When the history begins, µs. */
  get from(): number {
    return this.#from ?? 0;
  }

  take(event: HistoryEvent): void {
    this.#from ??= event.time;
    if (event.f === "deliver") {
      const second = Math.floor((event.time - this.#from) / 1_000_000);
      while (this.deliveries.length <= second) this.deliveries.push(0);
      this.channels.add(event.channel);
      this.deliveries[second] = (this.deliveries[second] ?? 0) + 1;
    } else if (event.f === "fault") this.#takeFault(event);
  }

  /** Each fault has a unique name, which connects its end with its beginning. */
  #takeFault(event: Extract<HistoryEvent, { readonly f: "fault" }>): void {
    const { process, type, kind, target, time } = event;
    if (type === "invoke") {
      this.#open.set(process, time);
      return;
    }
    this.faults.push({ kind, target, from: this.#open.get(process) ?? time, to: time });
    this.#open.delete(process);
  }
}
