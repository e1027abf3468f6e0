import type { Random } from "../../../support/random.ts";
import type { HistoryEvent } from "../../checker/history-event.ts";
import {
  interestText,
  type Promised,
  type Transfer,
  type TransferResult,
  transferText,
} from "../../bank/bank.ts";
import { microseconds } from "../history/clock.ts";
import { bankAccounts } from "./bank-scenario.ts";

/** What takes the events of a history. */
interface EventRecorder {
  record(event: HistoryEvent): void;
}

/** A transfer or a promise that somebody asks a bank for, drawn at random, and what the history says of it. */
export class BankAsk {
  readonly channel: string;
  readonly procedure: "transfer" | "promise";
  readonly args: Transfer | Promised;
  /** The events about it, without their types and times. */
  readonly #told: Told;
  readonly #publish: Publish | undefined;
  readonly #recorder: EventRecorder;

  constructor(
    asked: { readonly id: string; readonly process: string; readonly channel: string },
    random: Random,
    recorder: EventRecorder,
  ) {
    const { id, process, channel } = asked;
    this.channel = channel;
    this.#recorder = recorder;
    const publish = channel.startsWith("vault:")
      ? ({ process, f: "publish", channel } as const)
      : undefined;
    const account = random.pick(bankAccounts);
    if (random.chance(0.75)) {
      const to = random.pick(bankAccounts.filter((other) => other !== account));
      // Some are so large that the account may lack the money.
      const amount = random.chance(0.8) ? random.between(1, 9) : random.between(60, 130);
      const transfer = { id, from: account, to, amount };
      this.procedure = "transfer";
      this.args = transfer;
      this.#told = { process, f: "transfer", channel, ...transfer };
      this.#publish = publish && { ...publish, value: transferText(id, account, to) };
    } else {
      this.procedure = "promise";
      this.args = { id, account, afterMs: random.between(0, longestPromiseMs) };
      this.#told = { process, f: "promise", channel, id, account };
      this.#publish = publish && { ...publish, value: interestText(id, account) };
    }
    if (this.#publish !== undefined) this.#record({ ...this.#publish, type: "invoke" });
    // A promise publishes whenever its time has come.
    if (this.procedure === "promise") this.#published("info");
    this.#record({ ...this.#told, type: "invoke" });
  }

  get id(): string {
    return this.args.id;
  }

  /** It was answered that it was made. */
  made(result: unknown): void {
    if (this.#told.f === "promise") {
      this.#record({ ...this.#told, type: "ok" });
      return;
    }
    const { left, offset }: TransferResult = Object(result);
    if (this.#publish !== undefined)
      this.#record({ ...this.#publish, type: "ok", offset: offset + 1 });
    this.#record({ ...this.#told, type: "ok", left });
  }

  /** It surely wasn't made (fail), or its outcome is unknown (info). */
  ended(type: "fail" | "info"): void {
    if (this.procedure === "transfer") this.#published(type);
    this.#record({ ...this.#told, type });
  }

  #published(type: "fail" | "info"): void {
    if (this.#publish !== undefined) this.#record({ ...this.#publish, type });
  }

  #record(event: Untimed<HistoryEvent>): void {
    this.#recorder.record({ ...event, time: microseconds() });
  }
}

type Told =
  | ({ readonly process: string; readonly f: "transfer"; readonly channel: string } & Transfer)
  | ({ readonly process: string; readonly f: "promise"; readonly channel: string } & Omit<
      Promised,
      "afterMs"
    >);

interface Publish {
  readonly process: string;
  readonly f: "publish";
  readonly channel: string;
  readonly value: string;
}

type Untimed<Each> = Each extends HistoryEvent ? Omit<Each, "time"> : never;

/** Shorter than everything takes to settle. */
const longestPromiseMs = 6_000;

/** How long somebody repeats what has no outcome: much shorter than a bank remembers results. */
export const repeatsForMs = 100_000;
