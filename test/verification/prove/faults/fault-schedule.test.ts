import { describe, expect, it } from "vitest";
import { Random } from "../../../support/random.ts";
import type { FaultKind } from "./fault-kind.ts";
import { FaultSchedule } from "./fault-schedule.ts";

const randomOf = (kind: FaultKind): Random => new Random(kind.length);

function take(schedule: FaultSchedule, count: number) {
  return Array.from({ length: count }, () => {
    const next = schedule.next();
    if (next === undefined) throw new Error("no fault is made");
    return next;
  });
}

describe("the schedule of faults", () => {
  it("is the same for the same generator, and in order", () => {
    const rates = new Map<FaultKind, number>([
      ["kill", 8],
      ["cut", 20],
      ["evict", 16],
    ]);
    const first = take(new FaultSchedule(rates, randomOf), 500);
    expect(take(new FaultSchedule(rates, randomOf), 500)).toEqual(first);
    const times = first.map(({ atMs }) => atMs);
    expect(times).toEqual([...times].sort((left, right) => left - right));
  });

  it("has each kind about as often as its rate says", () => {
    const rates = new Map<FaultKind, number>([
      ["kill", 10],
      ["evict", 30],
    ]);
    const hour = take(new FaultSchedule(rates, randomOf), 4_000).filter(
      ({ atMs }) => atMs < 3_600_000,
    );
    const kills = hour.filter(({ kind }) => kind === "kill").length;
    expect(kills).toBeGreaterThan(540);
    expect(kills).toBeLessThan(740);
    expect(hour.length - kills).toBeGreaterThan(1_700);
  });

  it("doesn't move a kind when another one is left out", () => {
    const both = new FaultSchedule(
      new Map<FaultKind, number>([
        ["kill", 8],
        ["cut", 20],
      ]),
      randomOf,
    );
    const alone = new FaultSchedule(new Map([["kill", 8]]), randomOf);
    const kills = take(both, 300).filter(({ kind }) => kind === "kill");
    expect(take(alone, kills.length)).toEqual(kills);
  });

  it("has outages in storms, with calm between them", () => {
    const outages = take(new FaultSchedule(new Map([["kill", 20]]), randomOf), 500);
    const lastMs = outages.at(-1)?.atMs ?? 0;
    expect(outages.filter(({ atMs }) => atMs % 45_000 >= 20_000)).toEqual([]);
    expect(outages.length / (lastMs / 60_000)).toBeGreaterThan(17);
    expect(outages.length / (lastMs / 60_000)).toBeLessThan(24);
  });

  it("is empty without rates", () => {
    expect(new FaultSchedule(new Map(), randomOf).next()).toBeUndefined();
  });
});
