import { expect, it } from "vitest";
import { Violations } from "../violations.ts";
import type { ChangeEvent } from "./change-event.ts";
import { Changes } from "./changes.ts";

/** The violations of events, which come 10 µs after one another. */
function violationsOf(...events: readonly object[]): readonly string[] {
  const violations = new Violations();
  const changes = new Changes(violations);
  for (const [index, event] of events.entries()) {
    const common = { process: "c1", type: "ok", channel: "edit:a", time: 10 * index };
    const whole: ChangeEvent = Object({ ...common, ...event });
    changes.take(whole);
  }
  return violations.list.map(({ kind, text }) => `${kind}: ${text}`);
}

const asked = (change: string, more: object): object => ({
  type: "invoke",
  f: "change",
  change,
  ...more,
});
const done = (change: string, offset: number, more: object = {}): object => ({
  f: "change",
  change,
  offset,
  ...more,
});
const said = [asked("1", { method: "publish", value: "old" }), done("1", 1)];
const edited = [
  asked("2", { method: "edit", target: 1, value: "new" }),
  done("2", 2, { version: 2 }),
];
const follow = (ask: number): object => ({ f: "change-follow", asked: ask, epoch: "e", offset: 0 });
const show = (offset: number, value: string, version?: number): object => ({
  f: "change-show",
  offset,
  value,
  ...(version !== undefined && { version }),
});

it("[ED11] a text that was replaced may come to who asked before, and to nobody else", () => {
  expect(violationsOf(...said, follow(20), ...edited, show(1, "old", 1))).toEqual([]);
  expect(violationsOf(...said, ...edited, follow(40), show(1, "old", 2))).toEqual([
    "resurrected: got old at 1, which was gone before",
  ]);
  const rows = [{ offset: 1, value: "old", version: 2 }];
  expect(violationsOf(...said, ...edited, { f: "change-read", asked: 40, rows })).toHaveLength(1);
  expect(violationsOf(...said, ...edited, { f: "change-read", asked: 20, rows })).toEqual([]);
});

it.each(["delete", "erase"])("[ED3] [ED14] the same after a change of the kind %s", (method) => {
  const gone = [asked("3", { method, target: 1 }), done("3", 3)];
  const rows = [{ offset: 1, value: "new", version: 2 }];
  const read = { f: "change-read", asked: 60, rows };
  expect(violationsOf(...said, ...edited, ...gone, read)).toEqual([
    "resurrected: got new at 1, which was gone before",
  ]);
});

it("[ED6] versions only grow", () => {
  expect(violationsOf(...said, ...edited, follow(40), show(1, "new", 1))).toEqual([
    "regressed: got version 1 of 1 after 2",
  ]);
  expect(violationsOf(...said, ...edited, follow(40), show(1, "new", 2))).toEqual([]);
});

it("[ED2] a subscriber gets each offset once, and in order", () => {
  expect(violationsOf(follow(0), show(1, "a"), show(1, "a"), show(3, "c"))).toEqual([
    "doubled: was shown 1 after 1",
    "hole: was shown 3 after 1",
  ]);
  const left = { type: "info", f: "change-leave" };
  expect(violationsOf(follow(0), show(1, "a"), left, show(2, "b"))).toEqual([
    "stray: was shown 2 without being subscribed",
  ]);
});
