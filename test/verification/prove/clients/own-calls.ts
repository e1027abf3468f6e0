import type { Random } from "../../../support/random.ts";
import type { ClientRecorder } from "./client-recorder.ts";
import { valueIn } from "./value.ts";

/** The calls (`rpc`) of one client, one at a time; a backend answers them. */
export class OwnCalls {
  readonly #process: string;
  readonly #everyMs: number;
  readonly #random: Random;
  readonly #recorder: ClientRecorder;
  #dueAtMs: number | undefined;
  #isOver = false;
  #count = 0;
  #underWay: string | undefined;

  /** @param everyMs the mean time between two calls */
  constructor(process: string, everyMs: number, random: Random, recorder: ClientRecorder) {
    this.#process = process;
    this.#everyMs = everyMs;
    this.#random = random;
    this.#recorder = recorder;
  }

  isDue(nowMs: number): boolean {
    this.#dueAtMs ??= nowMs + this.#random.next() * this.#everyMs;
    return !this.#isOver && this.#underWay === undefined && nowMs >= this.#dueAtMs;
  }

  /** Begins the next call and gives its value. */
  begin(nowMs: number): string {
    this.#dueAtMs = nowMs + this.#random.next() * 2 * this.#everyMs;
    this.#underWay = `${this.#process}-call-${++this.#count}`;
    return this.#underWay;
  }

  /** The call was answered with a result. @param data undefined if the reply has none */
  answer(data: unknown, time: number): void {
    const value = this.#underWay ?? "";
    this.#underWay = undefined;
    const result = data === undefined ? "" : valueIn(data);
    this.#recorder.record({ time, process: this.#process, type: "ok", f: "call", value, result });
  }

  /** The call was refused, or won't be answered any more. */
  lose(): void {
    this.#underWay = undefined;
  }

  /** Stops calling. */
  stop(): void {
    this.#isOver = true;
  }
}
