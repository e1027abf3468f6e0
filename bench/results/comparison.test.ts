import { describe, expect, it } from "vitest";
import { bestOf, comparisonsOf } from "./comparison.ts";
import { finding } from "./finding.ts";

const point = (findings: Parameters<typeof comparisonsOf>[0]) =>
  comparisonsOf(findings)[0]?.points[0]?.systems ?? [];

describe("findings side by side", () => {
  it("compares Dormouse's medians with the limit's and the best other server's", () => {
    const systems = point([
      finding("partyserver", [50]),
      finding("ws", [100, 90, 5_000]),
      finding("durable-limit", [400]),
      finding("limit", [600]),
      finding("channel", [300, 360, 100]),
      finding("channel-no-history", [300]),
    ]);
    expect(systems.map(({ system }) => system)).toEqual([
      "channel",
      "channel-no-history",
      "limit",
      "durable-limit",
      "ws",
      "partyserver",
    ]);
    expect(systems[0]).toEqual({
      system: "channel",
      point: "4 publishers",
      spread: { median: 300, least: 100, most: 360 },
      toLimit: 0.75,
      toOthers: 3,
      toPeers: {},
      limitedByLoad: false,
    });
    // Without history nothing is written, and the bare program is the limit.
    expect(systems[1]).toMatchObject({ toLimit: 0.5 });
  });

  it("compares with each peer, which comes last", () => {
    const systems = point([
      finding("peer:b", [50]),
      finding("peer:a", [20]),
      finding("peer:0", [0]),
      finding("ws", [10]),
      finding("gateway", [100]),
    ]);
    expect(systems.map(({ system, toPeers }) => ({ system, toPeers }))).toEqual([
      { system: "gateway", toPeers: { "peer:a": 5, "peer:b": 2 } },
      ...(["ws", "peer:0", "peer:a", "peer:b"] as const).map((system) => ({ system, toPeers: {} })),
    ]);
    // A peer isn't one of the other servers that each run has.
    expect(systems[0]?.toOthers).toBe(10);
  });

  it("compares with the lowest other server where lower is better", () => {
    const latency = { measure: "p99", unit: "ms", better: "lower" } as const;
    const systems = point([
      finding("gateway", [12], latency),
      finding("ws", [4], latency),
      finding("socket.io", [6], latency),
    ]);
    expect(systems[0]?.toOthers).toBe(3);
  });

  it("compares only Dormouse, and only with measured systems", () => {
    const systems = point([finding("channel", [1]), finding("ws", [2]), finding("null", [3])]);
    expect(systems.map(({ toLimit }) => toLimit)).toEqual([undefined, undefined, undefined]);
    expect(systems.map(({ toOthers }) => toOthers)).toEqual([0.5, undefined, undefined]);
    expect(
      point([finding("channel", [1]), finding("durable-limit", [0])])[0]?.toLimit,
    ).toBeUndefined();
  });

  it("compares only findings of the same measure at the same point", () => {
    const comparisons = comparisonsOf([
      finding("channel", [1]),
      finding("durable-limit", [2], { point: "64 publishers" }),
      finding("durable-limit", [2], { measure: "frames a second" }),
    ]);
    expect(comparisons.map(({ measure }) => measure)).toEqual([
      "deliveries a second",
      "frames a second",
    ]);
    expect(comparisons[0]?.points.map((each) => each.point)).toEqual([
      "4 publishers",
      "64 publishers",
    ]);
    expect(comparisons[0]?.points[0]?.systems[0]?.toLimit).toBeUndefined();
  });

  it("compares at the same value even if one system's point has a remark", () => {
    const at = { axis: "%", value: 50 };
    const systems = point([
      finding("channel", [1], { at, point: "50 %" }),
      finding("durable-limit", [2], { at, point: "50 %, fell behind" }),
    ]);
    expect(systems[0]?.toLimit).toBe(0.5);
    expect(systems.map((each) => each.point)).toEqual(["50 %", "50 %, fell behind"]);
  });

  it("keeps the mark of a load-bound figure", () => {
    const systems = point([finding("ws", [1], { limitedByLoad: true }), finding("limit", [1])]);
    expect(systems.map(({ limitedByLoad }) => limitedByLoad)).toEqual([false, true]);
  });

  it("has no best of no systems", () => {
    expect(bestOf([finding("channel", [1])], ["ws"])).toBeUndefined();
  });
});
