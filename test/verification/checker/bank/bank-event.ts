/**
 * What happens to a bank in a channel with code (the rules PC): transfers and promises are asked for, and somebody reads all
 * accounts in one call. An account says which movements it has had (`bank/account.ts`), so the events tell the rest.
 */
export type BankEvent = BankOpened | TransferEvent | PromiseEvent | StatementRead;

interface Common {
  /** µs since some fixed moment, as in `HistoryEvent`. */
  readonly time: number;
  readonly process: string;
  readonly channel: string;
}

/** The first event of a bank. */
interface BankOpened extends Common {
  readonly type: "info";
  readonly f: "bank";
  /** The names of all its accounts. */
  readonly accounts: readonly string[];
}

/**
 * Somebody asks for a transfer (invoke), and is told that it was made (ok), that it wasn't (fail), or never learns the outcome
 * (info). Repeats with an idempotency key belong to the same transfer.
 */
export interface TransferEvent extends Common {
  readonly type: "invoke" | "ok" | "fail" | "info";
  readonly f: "transfer";
  /** Unique in the history. */
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly amount: number;
  /** In the answer: what was left on the account that has paid. */
  readonly left?: number;
}

/** The same for an interest that is to be paid later. */
export interface PromiseEvent extends Common {
  readonly type: "invoke" | "ok" | "fail" | "info";
  readonly f: "promise";
  /** Unique in the history. */
  readonly id: string;
  readonly account: string;
}

/** Somebody has read all accounts. */
export interface StatementRead extends Common {
  readonly type: "ok";
  readonly f: "statement";
  /** When that was asked for, µs. */
  readonly askedTime: number;
  /** The texts of the accounts that have moved. */
  readonly accounts: readonly string[];
  /** The promises that were asked about, and those of them that weren't paid yet. */
  readonly promises: readonly string[];
  readonly pending: readonly string[];
  /** Whether every promise has to be paid by now. */
  readonly isLast?: boolean;
}
