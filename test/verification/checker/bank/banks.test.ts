import { describe, expect, it } from "vitest";
import { accountOf, accountText, moved, newAccount } from "../../bank/account.ts";
import { Violations } from "../violations.ts";
import type { BankEvent } from "./bank-event.ts";
import { Banks } from "./banks.ts";

const channel = "bank:b";

describe("the text of an account", () => {
  it("says all its movements", () => {
    const account = moved(moved(newAccount("a1"), "t1", -5), "i1", 1);
    expect(accountText(account)).toBe("a1 96 t1:-5 i1:1");
    expect(accountOf(accountText(account))).toEqual(account);
    expect(() => accountOf("a1 96 t1")).toThrow("is no account");
  });
});

/** A transfer of 5 from a1 to a2 and an interest for a1, each of which was answered. */
const asked: readonly Told[] = [
  { type: "info", f: "bank", accounts: ["a1", "a2"] },
  { type: "invoke", f: "transfer", id: "t1", from: "a1", to: "a2", amount: 5 },
  { type: "ok", f: "transfer", id: "t1", from: "a1", to: "a2", amount: 5, left: 95 },
  { type: "invoke", f: "promise", id: "i1", account: "a1" },
  { type: "ok", f: "promise", id: "i1", account: "a1" },
];

const refused: readonly Told[] = [
  { type: "info", f: "bank", accounts: ["a1", "a2"] },
  { type: "invoke", f: "transfer", id: "t1", from: "a1", to: "a2", amount: 500 },
  { type: "fail", f: "transfer", id: "t1", from: "a1", to: "a2", amount: 500 },
];

describe("a bank", () => {
  it("[PC1] is right if everything was made once", () => {
    expect(kindsOf(asked, [["a1 95 t1:-5", "a2 105 t1:5"], ["i1"]])).toEqual([]);
    expect(kindsOf(asked, [["a1 96 t1:-5 i1:1", "a2 105 t1:5"]])).toEqual([]);
    expect(kindsOf(refused, [[]])).toEqual([]);
  });

  it.each<[string, readonly Told[], readonly Read[], readonly string[]]>([
    ["counts half", asked, [[["a1 96 t1:-5 i1:1"]]], ["lost", "miscounted"]],
    ["counts twice", asked, [[["a1 91 t1:-5 i1:1 t1:-5", "a2 110 t1:5 t1:5"]]], ["doubled"]],
    [
      "counts without having been asked for",
      asked,
      [[["a1 101 t9:1"], ["i1"]]],
      ["invented", "lost", "miscounted"],
    ],
    ["was answered, and is lost", asked, [[["a1 101 i1:1"]]], ["lost"]],
    [
      "was refused, and counts",
      refused,
      [[["a1 -400 t1:-500", "a2 600 t1:500"]]],
      ["miscounted", "resurrected"],
    ],
    ["isn't paid, and has no timer", asked, [[["a1 95 t1:-5", "a2 105 t1:5"]]], ["lost"]],
    [
      "is paid, and has a timer yet",
      asked,
      [[["a1 96 t1:-5 i1:1", "a2 105 t1:5"], ["i1"]]],
      ["doubled"],
    ],
    [
      "is paid twice",
      asked,
      [[["a1 97 t1:-5 i1:1 i1:1", "a2 105 t1:5"]]],
      ["doubled", "miscounted"],
    ],
    [
      "is gone later",
      asked,
      [[["a1 96 t1:-5 i1:1", "a2 105 t1:5"]], [["a1 95 t1:-5", "a2 105 t1:5"], ["i1"]]],
      ["forgotten"],
    ],
    ["was answered wrongly", asked, [[["a1 96 i1:1 t1:-5", "a2 105 t1:5"]]], ["mistold"]],
  ])("[PC1] [PC4] [PC7] is wrong if something %s", (_, events, reads, kinds) => {
    expect(kindsOf(events, ...reads)).toEqual(kinds);
  });

  it("[PC7] is wrong in the end if a promise is still pending", () => {
    const read = [["a1 95 t1:-5", "a2 105 t1:5"], ["i1"]] as const;
    expect(kindsOf(asked, [...read, true])).toEqual(["lost"]);
  });

  it("[PC4] is wrong if a repeat is answered otherwise", () => {
    const again = {
      type: "ok",
      f: "transfer",
      id: "t1",
      from: "a1",
      to: "a2",
      amount: 5,
      left: 90,
    } as const;
    expect(kindsOf([...asked, again])).toEqual(["mistold"]);
  });
});

/** The kinds of the complaints about these events, and statements after them. */
function kindsOf(events: readonly Told[], ...reads: readonly Read[]): readonly string[] {
  const violations = new Violations();
  const banks = new Banks(violations);
  let time = 0;
  for (const event of events) banks.take({ ...event, channel, process: "c1", time: ++time });
  for (const [accounts, pending = [], isLast = false] of reads) {
    const askedTime = ++time;
    const read = { accounts, promises: ["i1"], pending, askedTime, isLast } as const;
    const told = { ...read, type: "ok", f: "statement" } as const;
    banks.take({ ...told, channel, process: "c1", time: ++time });
  }
  banks.finish(++time);
  return [...violations.counts.keys()].sort();
}

/** The accounts, the promises that are pending, and whether all must be paid. */
type Read = readonly [accounts: readonly string[], pending?: readonly string[], isLast?: boolean];

/** An event without what all have. */
type Told = Unplaced<BankEvent>;

type Unplaced<Event> = Event extends BankEvent
  ? Omit<Event, "channel" | "process" | "time">
  : never;
