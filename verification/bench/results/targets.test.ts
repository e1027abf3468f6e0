import { describe, expect, it } from "vitest";
import { judge } from "./judge.ts";
import { goals } from "./targets.ts";
import type { Finding } from "../scenarios/scenario.ts";
import type { SystemName } from "../systems/wire.ts";
import { finding } from "./finding.ts";

/** The goals that these findings cover, by their sentences. */
function judged(name: string, findings: readonly Finding[]) {
  const targets = judge(goals, [{ name, question: "?", findings }]);
  return targets.filter(({ outcome }) => outcome !== "not measured");
}

const at = (system: SystemName, value: number, axisValue: number, more: Partial<Finding> = {}) =>
  finding(system, [value], {
    point: `${axisValue}`,
    at: { axis: "something", value: axisValue },
    ...more,
  });

const rates = (channel: number, gateway: number) => [
  at("channel", channel, 64),
  at("gateway", gateway, 64),
  at("channel-no-history", 1_000, 64),
  at("gateway-no-history", 1_000, 64),
  at("limit", 1_000, 64),
  at("ws", 400, 64),
];

const count = (measure: string, value: number) => finding("channel", [value], { measure });

describe("the targets of the bench", () => {
  it("are not measured without findings", () => {
    expect(judged("fan-out", [])).toEqual([]);
    expect(new Set(goals.map(({ part }) => part))).toEqual(new Set("abcdefgh"));
  });

  it("compare fan-out with the limit, the other servers, and Dormouse without history", () => {
    expect(judged("fan-out", rates(860, 860)).map(({ outcome }) => outcome)).toEqual(
      Array(7).fill("reached"),
    );
    const missed = judged("fan-out", rates(790, 790)).filter(({ outcome }) => outcome === "missed");
    expect(missed).toHaveLength(5);
  });

  it("compare with the other servers from 4 publishers on", () => {
    const few = [at("channel", 1, 1), at("ws", 100, 1)];
    expect(judged("fan-out", few)).toEqual([]);
  });

  it("compare latency with the best other server at half load only", () => {
    const p99 = { measure: "latency under load, p99", unit: "ms", better: "lower" } as const;
    const findings = [at("channel", 5, 50, p99), at("ws", 6, 50, p99), at("socket.io", 9, 50, p99)];
    const worse = [at("channel", 50, 75, p99), at("ws", 6, 75, p99)];
    expect(judged("latency", [...findings, ...worse])[0]?.outcome).toBe("reached");
    const slower = [at("channel", 8, 50, p99), ...findings.slice(1)];
    expect(judged("latency", slower)[0]?.outcome).toBe("missed");
  });

  it.each([
    { times: [1, 1.2], outcome: "reached" },
    { times: [1, 1.3], outcome: "missed" },
  ])("rate $times ms with histories of 10 and 10,000 as $outcome", ({ times, outcome }) => {
    const measure = { measure: "time per publication, by history" };
    const findings = times.map((time, index) =>
      at("channel", time, [10, 10_000][index] ?? 0, measure),
    );
    expect(judged("growth", findings.toReversed())[0]?.outcome).toBe(outcome);
  });

  it.each([
    { most: 240, outcome: "reached" },
    { most: 500, outcome: "missed" },
  ])("rate $most ms for 8,000 subscribers as $outcome, if 1,000 take 30", ({ most, outcome }) => {
    const measure = { measure: "time per publication, by subscribers" };
    const findings = [
      at("gateway", 20, 10, measure),
      at("gateway", 30, 1_000, measure),
      at("gateway", most, 8_000, measure),
    ];
    const [target] = judged("growth", findings);
    expect(target?.outcome).toBe(outcome);
    expect(target?.figures[0]?.name).toBe("gateway from 1,000 to 8,000");
  });

  it("allow one row and nothing else on a channel socket", () => {
    const rows = count("rows written per publication", 1);
    const good = judged("counts", [rows, count("alarms set per publication", 0)]);
    expect(good.map(({ outcome }) => outcome)).toEqual(["reached", "reached"]);
    const bad = judged("counts", [rows, count("alarms set per publication", 0.01)]);
    expect(bad.map(({ outcome }) => outcome)).toEqual(["reached", "missed"]);
  });
});
