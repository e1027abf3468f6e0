import { errorCodes } from "../../../../src/protocol/codes.ts";
import { limits } from "../../../../src/limits.ts";
import {
  insufficient,
  type Promised,
  type Statement,
  type Transfer,
  type TransferResult,
} from "../../bank/bank.ts";
import { type BankAsk, ToldAsk } from "../../checker/bank/told-ask.ts";
import { replyTimeoutMs } from "../client-publishes.ts";
import type { WorldContext } from "../world-context.ts";
import { isVault } from "./bank-kinds.ts";

/** A call of a bank's code. */
export interface BankCall {
  readonly procedure: "transfer" | "promise" | "statement" | "fail";
  readonly args: object;
  /** "" for none. */
  readonly idempotencyKey: string;
}

/** The answer to a call; undefined if nobody knows what became of it. */
type BankAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly temporary?: boolean } }
  | undefined;

/** Who asks. */
export interface Asker {
  readonly name: string;
  /** The name in the checker's history. */
  readonly process: (channel: string) => string;
  readonly backoffMs: () => number;
  /** Calls once. Without a connection nothing happens. */
  readonly call: (channel: string, call: BankCall, answered: (answer: BankAnswer) => void) => void;
}

/** How somebody asks. */
export interface AskTraits {
  /** Whether it is repeated with its idempotency key until its outcome is known. */
  readonly keyed: boolean;
  /** How often it is repeated after it was answered. */
  readonly repeats?: number;
}

/**
 * Asks banks, and tells the checker what it was answered. What has an idempotency key is repeated until its outcome is known, and
 * sometimes once more: the first result is answered again then.
 */
export class BankAsker {
  readonly #who: Asker;
  readonly #context: WorldContext;
  #asked = 0;

  constructor(who: Asker, context: WorldContext) {
    this.#who = who;
    this.#context = context;
  }

  /** @param prompt takes the result of the first answer, unless that is late */
  transfer(
    channel: string,
    traits: Omit<Transfer, "id"> & AskTraits,
    prompt?: (result: TransferResult) => void,
  ): void {
    const { from, to, amount } = traits;
    const args = { id: this.#newId(), from, to, amount };
    const told = this.#toldAsk(channel, { procedure: "transfer", args });
    this.#ask<TransferResult>(channel, this.#callOf("transfer", args, traits), traits, {
      made: (result, isPrompt) => {
        // What was published isn't sent before an answer that took too long (rule B4).
        told.made(result, !isPrompt);
        if (isPrompt) prompt?.(result);
      },
      refused: (type) => told.ended(type),
    });
  }

  promise(channel: string, traits: Omit<Promised, "id"> & AskTraits): void {
    const { account, afterMs } = traits;
    const args = { id: this.#newId(), account, afterMs };
    const told = this.#toldAsk(channel, { procedure: "promise", args });
    this.#ask(channel, this.#callOf("promise", args, traits), traits, {
      made: (result) => {
        told.made(result);
        this.#context.banks.promised.of(channel).add(args.id);
      },
      refused: (type) => told.ended(type),
    });
  }

  /** Reads all accounts. @param isLast whether every promise has to be paid by now */
  read(channel: string, isLast = false): void {
    const { eventLog, banks, timeline } = this.#context;
    const promises = [...banks.promised.of(channel)];
    const askedTime = timeline.nowMs * 1_000;
    const process = this.#who.process(channel);
    const once = { keyed: false };
    this.#ask<Statement>(channel, this.#callOf("statement", { promises }, once), once, {
      made: ({ accounts, pending }) => {
        const read = { accounts, promises, pending, askedTime, isLast };
        eventLog.note({ process, type: "ok", f: "statement", channel, ...read });
      },
      refused: () => undefined,
    });
  }

  /** Has the bank throw in the middle of a transfer, of which nothing may be left. */
  fail(channel: string, from: string): void {
    const once = { keyed: false };
    const id = this.#newId();
    this.#ask(channel, this.#callOf("fail", { id, from }, once), once, {
      made: () => this.#complain(`${id} was answered although the bank has failed`),
      refused: () => undefined,
    });
  }

  #toldAsk(channel: string, ask: BankAsk): ToldAsk {
    const asking = { process: this.#who.process(channel), channel, publishes: isVault(channel) };
    return new ToldAsk(asking, ask, (event) => this.#context.eventLog.note(event));
  }

  #newId(): string {
    return `${this.#who.name}-${++this.#asked}`;
  }

  #callOf(procedure: BankCall["procedure"], args: object, { keyed }: AskTraits): BankCall {
    return { procedure, args, idempotencyKey: keyed ? `${procedure} ${this.#asked}` : "" };
  }

  #ask<Result>(
    channel: string,
    call: BankCall,
    { keyed, repeats = 0 }: AskTraits,
    outcome: Outcome<Result>,
  ): void {
    const { banks, timeline } = this.#context;
    const begunMs = timeline.nowMs;
    let attempts = 0;
    let repeatsLeft = repeats;
    let isOpen = true;
    banks.pending++;
    const close = (): boolean => {
      const wasOpen = isOpen;
      if (wasOpen) banks.pending--;
      isOpen = false;
      return wasOpen;
    };
    const attempt = (): void => {
      attempts++;
      const sentMs = timeline.nowMs;
      this.#who.call(channel, call, (answer) => take(answer, timeline.nowMs - sentMs));
      timeline.after(replyTimeoutMs + this.#who.backoffMs(), () => {
        if (isOpen) again();
      });
    };
    const again = (): void => {
      if (keyed && timeline.nowMs - begunMs < repeatsForMs) attempt();
      else if (close()) outcome.refused("info");
    };
    const take = (answer: BankAnswer, tookMs: number): void => {
      if (answer === undefined) return;
      if ("error" in answer) {
        const isSure = attempts === 1 && answer.error.code === insufficient;
        if (!mayRefuse(answer.error, call))
          this.#complain(`${call.procedure} of ${channel} was answered ${answer.error.code}`);
        if (isSure && close()) outcome.refused("fail");
        else if (!keyed && close()) outcome.refused("info");
        return;
      }
      const isFirst = close();
      const result: Result = JSON.parse(JSON.stringify(answer.result));
      outcome.made(result, isFirst && tookMs < replyTimeoutMs);
      if (repeatsLeft-- > 0) timeline.after(this.#who.backoffMs(), attempt);
    };
    attempt();
  }

  #complain(what: string): void {
    this.#context.publicationLog.complain(`${this.#who.name}: ${what}`);
  }
}

/** What becomes of a call. */
interface Outcome<Result> {
  /** It was made. @param isPrompt whether that was answered for the first time, and soon */
  made(result: Result, isPrompt: boolean): void;
  /** It wasn't made (fail), or nobody knows (info). */
  refused(type: "fail" | "info"): void;
}

/** Shorter than a bank remembers results, by more than a call may be late and clocks may be wrong. */
const repeatsForMs = limits.idempotencyMs - 100_000;

function mayRefuse(
  { code, temporary }: { readonly code: number; readonly temporary?: boolean },
  { procedure }: BankCall,
): boolean {
  if (code === insufficient) return procedure === "transfer";
  return temporary === true || code === errorCodes.internal.code;
}
