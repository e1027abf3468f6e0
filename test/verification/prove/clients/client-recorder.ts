import type { HistoryEvent } from "../../checker/history-event.ts";
import type { Recorder } from "../history/recorder.ts";

/** Records the events of a process's clients until it is ended. */
export class ClientRecorder {
  readonly #recorder: Recorder;
  /** How many publications were delivered. */
  deliveries = 0;
  /** Failures that no server may cause and no history can hold, in sentences. */
  readonly failures: string[] = [];
  #isOver = false;

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  record(event: HistoryEvent): void {
    if (!this.#isOver) this.#recorder.record(event);
  }

  /** A publication was delivered. */
  deliver(process: string, time: number, channel: string, value: string, offset?: number): void {
    if (this.#isOver) return;
    this.deliveries++;
    this.#recorder.record(
      offset === undefined
        ? { time, process, type: "ok", f: "deliver", channel, value }
        : { time, process, type: "ok", f: "deliver", channel, value, offset },
    );
  }

  /** A client's connection has ended. */
  disconnect(process: string, time: number, client: string): void {
    this.record({ time, process, type: "info", f: "disconnect", client });
  }

  fail(process: string, what: string): void {
    if (!this.#isOver) this.failures.push(`${process} ${what}`);
  }

  /** Stops recording. Resolves when all recorded events are on disk. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#recorder.end();
  }
}
