import { Records } from "../../../support/records.ts";
import {
  type Account,
  accountOf,
  interestPaid,
  type Movement,
  newAccount,
  startBalance,
} from "../../bank/account.ts";
import type { Complain, Violations } from "../violations.ts";
import type { BankEvent, PromiseEvent, StatementRead, TransferEvent } from "./bank-event.ts";

/**
 * Checks what was done with banks: no transfer counts twice or half, each promise is paid once, and nothing that was answered is
 * lost (rules PC1, PC4 and PC7).
 */
export class Banks {
  readonly #violations: Violations;
  readonly #banks = new Records(newBank);
  readonly #counts = { transfers: 0, promises: 0, statements: 0 };

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  /** How many transfers and promises were asked for, and how many statements were compared. */
  get counts(): BankCounts {
    return this.#counts;
  }

  take(event: BankEvent): void {
    const bank = this.#banks.of(event.channel);
    const complain: Complain = this.#violations.on(event.channel);
    switch (event.f) {
      case "bank":
        bank.names = event.accounts;
        return;
      case "transfer": {
        const { id, from, to, amount, type } = event;
        if (type === "invoke") this.#counts.transfers++;
        const legs = [leg(from, id, -amount), leg(to, id, amount)];
        noteOutcome(bank, event, { legs, isPromise: false }, complain);
        return;
      }
      case "promise": {
        const { id, account, type } = event;
        if (type === "invoke") this.#counts.promises++;
        noteOutcome(
          bank,
          event,
          { legs: [leg(account, id, interestPaid)], isPromise: true },
          complain,
        );
        return;
      }
      case "statement":
        this.#counts.statements++;
        new Reading(bank, event, complain).check();
    }
  }

  /** Compares the answers with the accounts as they were read. No event may follow. */
  finish(time: number): void {
    for (const [channel, bank] of this.#banks)
      checkAnswers(bank, time, this.#violations.on(channel));
  }
}

/** What was checked of banks. */
export interface BankCounts {
  readonly transfers: number;
  readonly promises: number;
  readonly statements: number;
}

/** What is known of a bank. */
interface Bank {
  names: readonly string[];
  readonly asked: Map<string, Asked>;
  /** The longest list of movements that was read of each account. */
  readonly ledger: Map<string, readonly Movement[]>;
  /** When the last statement was answered, µs. */
  readTime: number;
}

/** What somebody has asked for. */
interface Asked {
  readonly legs: readonly Leg[];
  readonly isPromise: boolean;
  outcome: "open" | "made" | "refused" | "unknown";
  /** When it was answered that it was made, µs. */
  madeTime?: number;
  left?: number;
}

/** What a transfer or a promise does to one account. */
interface Leg extends Movement {
  readonly account: string;
}

function newBank(): Bank {
  return { names: [], asked: new Map(), ledger: new Map(), readTime: Number.NEGATIVE_INFINITY };
}

function leg(account: string, id: string, by: number): Leg {
  return { account, id, by };
}

function noteOutcome(
  bank: Bank,
  event: TransferEvent | PromiseEvent,
  what: Pick<Asked, "legs" | "isPromise">,
  complain: Complain,
): void {
  const { id, type, time, process } = event;
  const known = bank.asked.get(id);
  if (type === "invoke") {
    if (known === undefined) bank.asked.set(id, { ...what, outcome: "open" });
    return;
  }
  if (known === undefined) return;
  const isMade = known.outcome === "made";
  if (type === "info") {
    if (known.outcome === "open") known.outcome = "unknown";
  } else if (type === "fail") {
    if (isMade) complain("mistold", process, time, `${id} was made and then refused`);
    else known.outcome = "refused";
    if (isRead(bank, id)) complain("resurrected", process, time, `${id} was made, and refused`);
  } else {
    if (known.outcome === "refused")
      complain("mistold", process, time, `${id} was refused and then made`);
    const left = event.f === "transfer" ? event.left : undefined;
    if (isMade && left !== known.left)
      complain("mistold", process, time, `${id} was answered with ${known.left} and ${left} left`);
    known.outcome = "made";
    known.madeTime ??= time;
    if (left !== undefined) known.left ??= left;
  }
}

function isRead({ ledger }: Bank, id: string): boolean {
  return [...ledger.values()].some((movements) => movements.some((move) => move.id === id));
}

/** What is left after a transfer is what the account had then. */
function checkAnswers({ asked, ledger }: Bank, time: number, complain: Complain): void {
  for (const [id, { legs, left }] of asked) {
    const [paid] = legs;
    const movements = ledger.get(paid?.account ?? "") ?? [];
    const index = movements.findIndex((move) => move.id === id);
    if (left === undefined || index < 0) continue;
    const had = balanceOf(movements.slice(0, index + 1));
    if (had === left) continue;
    complain("mistold", "", time, `${id} was answered with ${left} left, and ${had} was`);
  }
}

function balanceOf(movements: readonly Movement[]): number {
  return movements.reduce((sum, { by }) => sum + by, startBalance);
}

/** One statement, compared with everything that is known. */
class Reading {
  readonly #bank: Bank;
  readonly #event: StatementRead;
  readonly #say: Complain;
  readonly #accounts: ReadonlyMap<string, Account>;
  readonly #legs: ReadonlyMap<string, readonly Leg[]>;

  constructor(bank: Bank, event: StatementRead, complain: Complain) {
    this.#bank = bank;
    this.#event = event;
    this.#say = complain;
    const accounts = event.accounts.map((text) => accountOf(text));
    this.#accounts = new Map(accounts.map((account) => [account.name, account]));
    const legs = accounts.flatMap(({ name, movements }) =>
      movements.map(({ id, by }) => leg(name, id, by)),
    );
    this.#legs = Map.groupBy(legs, ({ id }) => id);
  }

  check(): void {
    const { names } = this.#bank;
    for (const name of this.#accounts.keys())
      if (!names.includes(name)) this.#complain("invented", `nobody has opened ${name}`);
    for (const name of names) this.#checkAccount(this.#accounts.get(name) ?? newAccount(name));
    for (const [id, legs] of this.#legs) this.#checkLegs(id, legs);
    for (const [id, asked] of this.#bank.asked) this.#checkAsked(id, asked);
    this.#checkSum();
    this.#bank.readTime = Math.max(this.#bank.readTime, this.#event.time);
  }

  #checkAccount({ name, balance, movements }: Account): void {
    if (balance !== balanceOf(movements) || balance < 0)
      this.#complain("miscounted", `${name} has ${balance} after ${movements.length} movements`);
    const { ledger, readTime } = this.#bank;
    const known = ledger.get(name) ?? [];
    const [shorter, longer] =
      movements.length < known.length ? [movements, known] : [known, movements];
    const isSame = shorter.every(({ id, by }, index) => {
      const other = longer[index];
      return other?.id === id && other.by === by;
    });
    const isOlder = movements.length < known.length && readTime <= this.#event.askedTime;
    if (!isSame || isOlder)
      this.#complain("forgotten", `${name} had ${shown(known)}, and has ${shown(movements)}`);
    ledger.set(name, longer);
  }

  /** Everything that was asked for happens once, and as a whole. */
  #checkLegs(id: string, legs: readonly Leg[]): void {
    const asked = this.#bank.asked.get(id);
    if (asked === undefined) {
      this.#complain("invented", `nobody has asked for ${shownLegs(legs)}`);
      return;
    }
    if (asked.outcome === "refused")
      this.#complain("resurrected", `${shownLegs(legs)} was made although it was refused`);
    if (shownLegs(legs) === shownLegs(asked.legs)) return;
    const { length } = asked.legs;
    const kind = legs.length > length ? "doubled" : legs.length < length ? "lost" : "diverged";
    this.#complain(kind, `${shownLegs(asked.legs)} was asked for, and made is ${shownLegs(legs)}`);
  }

  /** What was answered before the statement was asked for is in it. */
  #checkAsked(id: string, { isPromise, madeTime }: Asked): void {
    const { askedTime, promises, pending, isLast = false } = this.#event;
    const isThere = this.#legs.has(id);
    if (!isPromise) {
      const isDue = madeTime !== undefined && madeTime <= askedTime;
      if (isDue && !isThere) this.#complain("lost", `${id} was answered, and isn't there`);
      return;
    }
    const isPending = pending.includes(id);
    if (isThere && isPending) this.#complain("doubled", `${id} is paid, and would be paid again`);
    if (isThere || madeTime === undefined) return;
    const isKnown = promises.includes(id) && madeTime <= askedTime;
    if (isLast || (isKnown && !isPending))
      this.#complain("lost", `${id} was promised, and isn't paid`);
  }

  #checkSum(): void {
    let sum = 0;
    for (const name of this.#bank.names) sum += this.#accounts.get(name)?.balance ?? startBalance;
    let should = this.#bank.names.length * startBalance;
    for (const id of this.#legs.keys())
      if (this.#bank.asked.get(id)?.isPromise === true) should += interestPaid;
    if (sum !== should) this.#complain("miscounted", `the bank has ${sum}, and should ${should}`);
  }

  #complain(kind: Parameters<Complain>[0], text: string): void {
    const { process, time } = this.#event;
    this.#say(kind, process, time, text);
  }
}

function shownLegs(legs: readonly Leg[]): string {
  return legs
    .map(({ account, id, by }) => `${account} ${id}:${by}`)
    .sort()
    .join(", ");
}

function shown(movements: readonly Movement[]): string {
  return movements.map(({ id, by }) => `${id}:${by}`).join(" ");
}
