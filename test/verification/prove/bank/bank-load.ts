import { setTimeout as pause } from "node:timers/promises";
import { insufficient, type Statement } from "../../bank/bank.ts";
import { BackendLoad } from "../backend-load.ts";
import type { BackendAddress } from "../clients/backend-call.ts";
import { microseconds } from "../history/clock.ts";
import type { Recorder } from "../history/recorder.ts";
import type { Random } from "../../../support/random.ts";
import { Records } from "../../../support/records.ts";
import { askBank, repeatsForMs } from "./bank-ask.ts";
import { bankAccounts } from "./bank-scenario.ts";

/**
 * A backend that asks banks for transfers and promises, each of which it repeats with its idempotency key until it knows the
 * outcome, and that reads all accounts now and then.
 */
export class BankLoad extends BackendLoad {
  readonly #banks: readonly string[];
  /** Promises that were acknowledged, by bank. */
  readonly #promised = new Records((_bank): string[] => []);
  #asked = 0;

  constructor(
    backend: BackendAddress,
    banks: readonly string[],
    random: Random,
    recorder: Recorder,
  ) {
    super(backend, random, recorder);
    this.#banks = banks;
  }

  /** Says which banks there are, and asks each for something, so that its stream is stored before the first client comes. */
  async prepare(): Promise<void> {
    for (const channel of this.#banks) {
      const opened = { process, type: "info", f: "bank", channel, accounts: bankAccounts } as const;
      this.recorder.record({ ...opened, time: microseconds() });
      await this.#ask(channel);
    }
  }

  protected override loops(): readonly Promise<void>[] {
    return this.#banks.flatMap((channel) => [
      this.steadily(100, 500, () => this.#ask(channel)),
      this.steadily(2_000, 6_000, () => this.#read(channel, false)),
    ]);
  }

  /** Reads all accounts once everything has settled: every promise is paid by then. */
  async read(): Promise<void> {
    for (const channel of this.#banks) {
      for (let attempt = 1; !(await this.#read(channel, true)); attempt++) {
        if (attempt > attemptsMax) throw new Error(`${channel} couldn't be read`);
        await pause(attempt * 100);
      }
    }
    this.throwFailures();
  }

  async #ask(channel: string): Promise<void> {
    if (this.#asked >= asksMax) return;
    const id = `teller-${++this.#asked}`;
    const ask = askBank({ id, process, channel }, this.random, this.recorder);
    const command = { channel, procedure: ask.procedure, args: ask.args, idempotency_key: id };
    const called = await this.calls.repeat("call", command, this.random, repeatsForMs);
    switch (called.outcome) {
      case "result": {
        const { data }: { readonly data?: unknown } = called.result;
        ask.made(data);
        if (ask.procedure === "promise") this.#promised.of(channel).push(id);
        return;
      }
      case "wrong":
        if (called.code !== insufficient)
          this.failures.push(`${ask.procedure} of ${channel}: ${called.problem}`);
        // An earlier attempt may be carried out yet.
        ask.ended(called.wasLost ? "info" : "fail");
        return;
      case "lost":
        ask.ended("info");
        return;
      case "refused":
        ask.ended("fail");
    }
  }

  /** @returns whether they were read */
  async #read(channel: string, isLast: boolean): Promise<boolean> {
    const promises = [...this.#promised.of(channel)];
    const askedTime = microseconds();
    const command = { channel, procedure: "statement", args: { promises } };
    const called = await this.calls.call("call", command);
    if (called.outcome === "wrong")
      this.failures.push(`statement of ${channel}: ${called.problem}`);
    if (called.outcome !== "result") return false;
    const { data }: { readonly data?: Statement } = called.result;
    const { accounts = [], pending = [] } = data ?? {};
    const read = { accounts, promises, pending, askedTime, isLast };
    const told = { process, type: "ok", f: "statement", channel, ...read } as const;
    this.recorder.record({ ...told, time: microseconds() });
    return true;
  }
}

const process = "teller";

/** An account has all its movements in its text. */
const asksMax = 600;

/** Enough for a server that is being restarted. */
const attemptsMax = 10;
