import type { HistoryEvent } from "../../checker/history-event.ts";
import type { Recorder } from "../history/recorder.ts";

/** Writes down what the clients of a process see, until it is told that it is over. */
export class ClientRecorder {
  readonly #recorder: Recorder;
  /** How many publications were heard. */
  deliveries = 0;
  /** What no server may do and no history can say, in sentences. */
  readonly failures: string[] = [];
  #isOver = false;

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  record(event: HistoryEvent): void {
    if (!this.#isOver) this.#recorder.record(event);
  }

  /** A publication was heard. */
  deliver(process: string, time: number, channel: string, value: string, offset?: number): void {
    if (this.#isOver) return;
    this.deliveries++;
    this.#recorder.record(
      offset === undefined
        ? { time, process, type: "ok", f: "deliver", channel, value }
        : { time, process, type: "ok", f: "deliver", channel, value, offset },
    );
  }

  fail(process: string, what: string): void {
    if (!this.#isOver) this.failures.push(`${process} ${what}`);
  }

  /** Nothing that happens from here on is recorded. Resolves when all that was is on disk. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#recorder.end();
  }
}
