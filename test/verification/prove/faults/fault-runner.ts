import { setTimeout as pause } from "node:timers/promises";
import type { HistoryEvent } from "../../checker/history-event.ts";
import { Random } from "../../../support/random.ts";
import { microseconds } from "../history/clock.ts";
import type { FaultMaker } from "./fault-maker.ts";
import { type FaultKind, faultKinds } from "./fault-kind.ts";
import { FaultSchedule } from "./fault-schedule.ts";

/** Injects faults by their schedule, in parallel, until it is stopped. */
export class FaultRunner {
  readonly #maker: FaultMaker;
  readonly #record: (event: HistoryEvent) => void;
  readonly #seed: number;
  readonly #schedule: FaultSchedule;
  readonly #underWay = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #failures: unknown[] = [];
  #numbered = 0;

  /** @param rates per minute */
  constructor(
    maker: FaultMaker,
    rates: ReadonlyMap<FaultKind, number>,
    seed: number,
    record: (event: HistoryEvent) => void,
  ) {
    this.#maker = maker;
    this.#record = record;
    this.#seed = seed;
    this.#schedule = new FaultSchedule(rates, (kind) => this.#randomOf(kind, 0));
  }

  /**
   * Resolves when it was stopped and all faults that have begun are over. Rejects with the error of a fault that couldn't be injected.
   */
  async run(): Promise<void> {
    const beganMs = performance.now();
    for (let due = this.#schedule.next(); due !== undefined; due = this.#schedule.next()) {
      const waitMs = due.atMs - (performance.now() - beganMs);
      if (!(await this.#wait(waitMs))) break;
      const made = this.#make(due.kind).catch((error: unknown) => {
        this.#failures.push(error);
        this.stop();
      });
      this.#underWay.add(made);
      void made.then(() => this.#underWay.delete(made));
    }
    await Promise.all(this.#underWay);
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  stop(): void {
    this.#stopping.abort();
    this.#maker.stop();
  }

  async #make(kind: FaultKind): Promise<void> {
    const number = ++this.#numbered;
    const process = `fault-${number}`;
    const fault = { process, f: "fault", kind } as const;
    this.#record({ ...fault, type: "invoke", target: "", time: microseconds() });
    const made = await this.#maker.make(kind, this.#randomOf(kind, number));
    // A fault that found nothing to break doesn't count.
    if (made.outcome === "missed") return;
    this.#record({ ...fault, type: "info", target: made.target, time: microseconds() });
  }

  /** @returns whether the runner is still running */
  async #wait(ms: number): Promise<boolean> {
    const { signal } = this.#stopping;
    try {
      await pause(Math.max(ms, 0), undefined, { signal });
      return true;
    } catch {
      return false; // The only error is the one of stopping.
    }
  }

  /** Each fault has its own generator, so that one fault doesn't change the choices of later ones. */
  #randomOf(kind: FaultKind, number: number): Random {
    const index = faultKinds.findIndex((each) => each.kind === kind);
    return new Random((this.#seed % 1_000_003) * 2_003 + index + number * faultKinds.length);
  }
}
