import {
  interestText,
  type Promised,
  type Transfer,
  type TransferResult,
  transferText,
} from "../../bank/bank.ts";
import type { UntimedEvent } from "../history-event.ts";

/** A call by which somebody asks a bank for something. */
export type BankAsk =
  | { readonly procedure: "transfer"; readonly args: Transfer }
  | { readonly procedure: "promise"; readonly args: Promised };

/** The one who asks, by the name in the history, and the bank. */
interface Asking {
  readonly process: string;
  readonly channel: string;
  /** Whether the bank publishes what it does. */
  readonly publishes: boolean;
}

/** A transfer or a promise that somebody asks a bank for, which tells a history what becomes of it. */
export class ToldAsk {
  readonly channel: string;
  readonly procedure: BankAsk["procedure"];
  readonly args: BankAsk["args"];
  /** The events about it, without their types and times. */
  readonly #told: Told;
  readonly #publish: Publish | undefined;
  readonly #note: (event: UntimedEvent) => void;

  /** @param note adds an event to the history, with its time */
  constructor(
    { process, channel, publishes }: Asking,
    { procedure, args }: BankAsk,
    note: (event: UntimedEvent) => void,
  ) {
    this.channel = channel;
    this.procedure = procedure;
    this.args = args;
    this.#note = note;
    const { id } = args;
    let value: string;
    if (procedure === "transfer") {
      this.#told = { process, f: "transfer", channel, ...args };
      value = transferText(id, args.from, args.to);
    } else {
      const { account } = args;
      this.#told = { process, f: "promise", channel, id, account };
      value = interestText(id, account);
    }
    this.#publish = publishes ? { process, f: "publish", channel, value } : undefined;
    this.#published("invoke");
    // A promise publishes whenever its time has come.
    if (procedure === "promise") this.#published("info");
    note({ ...this.#told, type: "invoke" });
  }

  get id(): string {
    return this.args.id;
  }

  /**
   * It was answered that it was made.
   *
   * @param isLate whether what a transfer has published may not be sent before this answer
   */
  made(result: unknown, isLate = false): void {
    if (this.#told.f === "promise") {
      this.#note({ ...this.#told, type: "ok" });
      return;
    }
    const { left, offset }: TransferResult = Object(result);
    if (isLate) this.#published("info");
    else if (this.#publish !== undefined)
      this.#note({ ...this.#publish, type: "ok", offset: offset + 1 });
    this.#note({ ...this.#told, type: "ok", left });
  }

  /** It surely wasn't made (fail), or its outcome is unknown (info). */
  ended(type: "fail" | "info"): void {
    if (this.procedure === "transfer") this.#published(type);
    this.#note({ ...this.#told, type });
  }

  #published(type: "invoke" | "fail" | "info"): void {
    if (this.#publish !== undefined) this.#note({ ...this.#publish, type });
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
