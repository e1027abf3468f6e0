import { channel, type ProcedureContext } from "../../../src/features/procedures/definition.ts";
import { accountOf, accountText, interestPaid, moved, newAccount } from "./account.ts";

/** A transfer between two accounts. */
export interface Transfer {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly amount: number;
}

/** Interest that the bank pays once, after a time. */
export interface Promised {
  readonly id: string;
  readonly account: string;
  readonly afterMs: number;
}

/** What the bank answers to a transfer. */
export interface TransferResult {
  /** What is left on the account that has paid. */
  readonly left: number;
  /** The offset of the newest publication before the transfer. */
  readonly offset: number;
}

/** All accounts that have moved, and those of some promises that aren't paid yet. */
export interface Statement {
  readonly accounts: readonly string[];
  readonly pending: readonly string[];
}

/**
 * A bank in the order of a channel: its accounts are keys, and a timer pays each interest. It does its work clumsily, so that
 * what isn't all or nothing shows: it takes the money before it looks whether that was there.
 *
 * @param publishes whether it publishes what it does; in a map the keys say it
 */
export function bank(publishes: boolean) {
  return channel({
    clients: ["transfer", "promise", "statement", "fail"],
    procedures: {
      transfer(ctx, { id, from, to, amount }: Transfer): TransferResult {
        const left = move(ctx, from, id, -amount);
        if (left < 0) ctx.reject(insufficient, `${from} lacks ${-left}`);
        move(ctx, to, id, amount);
        if (publishes) ctx.publish(transferText(id, from, to));
        return { left, offset: ctx.offset };
      },
      promise(ctx, { id, account, afterMs }: Promised) {
        ctx.at(timerOf(id), ctx.nowMs + afterMs, "interest", { id, account });
        return { promised: id };
      },
      interest(ctx, { id, account }: Omit<Promised, "afterMs">) {
        move(ctx, account, id, interestPaid);
        if (publishes) ctx.publish(interestText(id, account));
      },
      statement(ctx, { promises }: { readonly promises: readonly string[] }): Statement {
        return {
          accounts: [...ctx.keys()].map((name) => ctx.get<string>(name) ?? ""),
          pending: promises.filter((id) => ctx.timer(timerOf(id)) !== undefined),
        };
      },
      /** Does half of a transfer, and throws. */
      fail(ctx, { id, from }: Pick<Transfer, "id" | "from">) {
        move(ctx, from, id, -1);
        if (publishes) ctx.publish(transferText(id, from, ""));
        ctx.at(timerOf(id), ctx.nowMs, "interest", { id, account: from });
        throw new Error(plannedFailure);
      },
    },
  });
}

/** The code of a transfer from an account that hasn't enough. */
export const insufficient = 1_001;

/** The message of what `fail` throws. */
export const plannedFailure = "the bank fails as it was told";

/** What a transfer publishes. */
export function transferText(id: string, from: string, to: string): string {
  return `${id} ${from}>${to}`;
}

/** What an interest publishes. */
export function interestText(id: string, account: string): string {
  return `${id} >${account}`;
}

function timerOf(id: string): string {
  return `interest ${id}`;
}

/** Changes an account. @returns its balance after that */
function move(ctx: ProcedureContext, name: string, id: string, by: number): number {
  const text = ctx.get<string>(name);
  const account = moved(text === undefined ? newAccount(name) : accountOf(text), id, by);
  ctx.set(name, accountText(account));
  return account.balance;
}
