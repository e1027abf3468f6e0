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
  at("durable-limit", 1_000, 64),
  at("ws", 400, 64),
];

const outcomes = (findings: readonly Finding[]) =>
  judged("fan-out", findings).map(({ outcome }) => outcome);

const publications = (system: SystemName, value: number, point: string) =>
  finding(system, [value], { measure: "publications a second", point });

const count = (measure: string, value: number) => finding("channel", [value], { measure });

describe("the targets of the bench", () => {
  it("are not measured without findings", () => {
    expect(judged("fan-out", [])).toEqual([]);
    expect(new Set(goals.map(({ part }) => part))).toEqual(new Set("abcdefghijkl"));
  });

  it("compare fan-out with the limit, the other servers, and Dormouse without history", () => {
    expect(outcomes(rates(900, 850))).toEqual(Array(6).fill("reached"));
    // The targets of both with history are missed, and that of the ratio to the other servers.
    expect(outcomes(rates(899, 790)).filter((outcome) => outcome === "missed")).toHaveLength(3);
  });

  it("compare Dormouse without history with the program that writes nothing", () => {
    const slower = [at("channel-no-history", 890, 4), at("limit", 1_000, 4)];
    expect(judged("fan-out", [...slower, at("durable-limit", 500, 4)])).toMatchObject([
      { outcome: "missed", figures: [{ value: 0.89 }] },
    ]);
  });

  it.each([
    { channel: 85, gateway: 60, outcomes: ["reached", "reached"] },
    { channel: 84, gateway: 59, outcomes: ["missed", "missed"] },
  ])(
    "rate $channel and $gateway of 100 single publications as $outcomes",
    ({ channel, gateway, outcomes: wanted }) => {
      const findings = ["single", "batches of 100"].flatMap((point) => [
        publications("channel", point === "single" ? channel : 1, point),
        publications("gateway", point === "single" ? gateway : 1, point),
        publications("durable-limit", 100, point),
      ]);
      expect(judged("channels", findings).map(({ outcome }) => outcome)).toEqual(wanted);
    },
  );

  it.each([
    { amid: 1.2, alone: 2, p99: 10, outcomes: ["reached", "reached", "reached"] },
    { amid: 1.21, alone: 2.1, p99: 10.1, outcomes: ["missed", "missed", "missed"] },
  ])(
    "rate joins of $amid ms and $alone ms by 1 ms of Centrifugo, and $p99 ms by 10 ms, as $outcomes",
    ({ amid, alone, p99, outcomes: wanted }) => {
      const cost = { measure: "processor time of a join and leave" };
      const latency = { measure: "latency of a delivery, p99" };
      const onEmpty = { ...cost, point: "alone on an empty channel" };
      const findings = [
        at("gateway", amid, 200, cost),
        at("peer:centrifugo", 1, 200, cost),
        finding("gateway", [alone], onEmpty),
        finding("peer:centrifugo", [1], onEmpty),
        at("gateway", p99, 200, latency),
        at("peer:centrifugo", 10, 200, latency),
        // Of other paces nothing is asked.
        at("gateway", 9, 50, cost),
        at("peer:centrifugo", 1, 50, cost),
      ];
      expect(judged("churn", findings).map(({ outcome }) => outcome)).toEqual(wanted);
    },
  );

  it.each([
    { rate: 75, outcome: "reached" },
    { rate: 74, outcome: "missed" },
  ])("rate $rate connects with tokens by 100 without as $outcome", ({ rate, outcome }) => {
    const measure = "connects a second";
    const findings = [
      finding("channel", [rate], { measure, point: "a token each" }),
      finding("channel", [100], { measure, point: "no tokens" }),
    ];
    const [target] = judged("connects", findings);
    expect(target?.outcome).toBe(outcome);
  });

  it.each([
    { p99: 500, outcome: "reached" },
    { p99: 501, outcome: "missed" },
  ])("rate $p99 ms for those that stayed in a storm as $outcome", ({ p99, outcome }) => {
    const measure = "latency of those that stayed, p99";
    const [target] = judged("storm", [finding("channel", [p99], { measure, unit: "ms" })]);
    expect(target?.outcome).toBe(outcome);
  });

  it.each([
    { p99: 3, outcome: "reached" },
    { p99: 3.1, outcome: "missed" },
  ])("rate a quiet channel that is $p99 times as slow as $outcome", ({ p99, outcome }) => {
    const measure = { measure: "p99 by that alone" };
    const findings = [finding("gateway", [p99], measure), finding("ws", [100], measure)];
    expect(judged("neighbours", findings).map((target) => target.outcome)).toEqual([outcome]);
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

  it.each([
    { ratio: 0.6, outcome: "reached" },
    { ratio: 0.59, outcome: "missed" },
  ])("rate $ratio of the connects with tokens, with a hook, as $outcome", ({ ratio, outcome }) => {
    const measure = { measure: "connects a second by those with tokens" };
    expect(judged("connects", [finding("gateway", [ratio], measure)])).toMatchObject([{ outcome }]);
  });

  it("allow one row and nothing else on a channel socket", () => {
    const rows = count("rows written per publication", 1);
    const good = judged("counts", [rows, count("alarms set per publication", 0)]);
    expect(good.map(({ outcome }) => outcome)).toEqual(["reached", "reached"]);
    const bad = judged("counts", [rows, count("alarms set per publication", 0.01)]);
    expect(bad.map(({ outcome }) => outcome)).toEqual(["reached", "missed"]);
  });
});
