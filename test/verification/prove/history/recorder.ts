import { closeSync, openSync, writeSync } from "node:fs";
import type { Delivered, HistoryEvent } from "../../checker/history-event.ts";

/** Writes a history to a file, one JSON line for each event, in large pieces. A crash loses at most one piece. */
export class Recorder {
  readonly #file: number;
  #unwritten = "";
  #count = 0;
  #isEnded = false;
  #isAbandoned = false;

  /** @param file its path; earlier content is overwritten */
  constructor(file: string) {
    this.#file = openSync(file, "w");
  }

  /** How many events were recorded. */
  get count(): number {
    return this.#count;
  }

  /** Appends an event; events must come in the order of their times. */
  record(event: HistoryEvent): void {
    if (this.#isAbandoned) return;
    if (this.#isEnded) throw new Error("the history has ended");
    this.#count++;
    this.#unwritten += `${lineOf(event)}\n`;
    if (this.#unwritten.length >= pieceLength) this.#write();
  }

  /** Records nothing from now on: the run has failed, and its calls that are still under way have no value. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  /** Writes the last piece and closes the file. */
  end(): Promise<void> {
    if (!this.#isEnded) {
      this.#isEnded = true;
      this.#write();
      closeSync(this.#file);
    }
    return Promise.resolve();
  }

  #write(): void {
    const bytes = Buffer.from(this.#unwritten);
    this.#unwritten = "";
    let written = 0;
    while (written < bytes.length) written += writeSync(this.#file, bytes, written);
  }
}

const pieceLength = 256 * 1024;

function lineOf(event: HistoryEvent): string {
  return event.f === "deliver" ? deliveryLine(event) : JSON.stringify(event);
}

/** Nearly all events are deliveries, and this is several times as fast as stringify. */
function deliveryLine({ time, process, channel, value, offset }: Delivered): string {
  const who = `"process":${quoted(process)},"channel":${quoted(channel)}`;
  const what = `"value":${quoted(value)}${offset === undefined ? "" : `,"offset":${offset}`}`;
  return `{"time":${time},"type":"ok","f":"deliver",${who},${what}}`;
}

function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Printable ASCII without quote and backslash. */
const plain = /^[ !#-[\]-~]*$/;
