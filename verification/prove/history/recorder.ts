import { closeSync, openSync, writeSync } from "node:fs";
import type { Delivered, HistoryEvent } from "../../checker/history-event.ts";

/**
 * Writes a history to a file, one JSON line for each happening, in large pieces. A crash loses what wasn't written yet, at most
 * one piece.
 */
export class Recorder {
  readonly #file: number;
  #unwritten = "";
  #count = 0;
  #isEnded = false;

  /** @param file its path; what it held is gone */
  constructor(file: string) {
    this.#file = openSync(file, "w");
  }

  /** How many happenings were recorded. */
  get count(): number {
    return this.#count;
  }

  /** Appends one; they must come in the order of their times. */
  record(event: HistoryEvent): void {
    if (this.#isEnded) throw new Error("the history has ended");
    this.#count++;
    this.#unwritten += `${lineOf(event)}\n`;
    if (this.#unwritten.length >= pieceLength) this.#write();
  }

  /** Writes what is left and closes the file. */
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

/** Deliveries are nearly all there is, and this is several times as fast as stringify. */
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
