import type { Happening } from "../../checker/happening.ts";

/** A fault while it lasted, µs. */
export interface CourseFault {
  readonly kind: string;
  readonly target: string;
  readonly from: number;
  readonly to: number;
}

/** How a run went over time: what a picture of it is drawn from. It takes the same happenings as the checker. */
export class Course {
  /** Publications heard in each second. */
  readonly deliveries: number[] = [];
  readonly faults: CourseFault[] = [];
  /** Where anybody heard anything. */
  readonly channels = new Set<string>();
  readonly #open = new Map<string, number>();
  #from: number | undefined;

  /** When the history begins, µs. */
  get from(): number {
    return this.#from ?? 0;
  }

  take(happening: Happening): void {
    this.#from ??= happening.time;
    if (happening.f === "deliver") {
      const second = Math.floor((happening.time - this.#from) / 1_000_000);
      while (this.deliveries.length <= second) this.deliveries.push(0);
      this.channels.add(happening.channel);
      this.deliveries[second] = (this.deliveries[second] ?? 0) + 1;
    } else if (happening.f === "fault") this.#takeFault(happening);
  }

  /** Each fault has a name of its own, by which its end finds its beginning. */
  #takeFault(happening: Extract<Happening, { readonly f: "fault" }>): void {
    const { process, type, kind, target, time } = happening;
    if (type === "invoke") {
      this.#open.set(process, time);
      return;
    }
    this.faults.push({ kind, target, from: this.#open.get(process) ?? time, to: time });
    this.#open.delete(process);
  }
}
