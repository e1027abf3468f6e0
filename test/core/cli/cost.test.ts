import { describe, expect, it } from "vitest";
import { estimate, type Workload } from "../../../cli/cost/estimate.ts";
import { recordedShell } from "./recorded-shell.ts";

const nothing: Workload = {
  users: 0,
  online: 0,
  messagesPerDay: 0,
  subscribers: 0,
  connectsPerUserAndDay: 0,
  messagesPerRequest: 1,
  sockets: "gateway",
  channels: 1,
  keepAlive: "json",
  historySize: 100,
  payloadBytes: 200,
  hasHomes: true,
};

function quantities(workload: Partial<Workload>): readonly number[] {
  return estimate({ ...nothing, ...workload }).lines.map(({ quantity }) => quantity);
}

describe("dormouse cost", () => {
  it("is the monthly fee for nothing", () => {
    expect(estimate({ ...nothing, historySize: 0 }).dollars).toBe(5);
  });

  it("counts a million messages a month as docs/performance/cost.md does", () => {
    // A million messages at once to one subscriber on a gateway: requests, calls, 20 ms awake, a row. In a channel that
    // never rests they share their alarms.
    const one = {
      messagesPerDay: 1e6 / 30,
      channels: 1e-9,
      online: 1,
      subscribers: 1,
      keepAlive: "client",
    } as const;
    const [worker, cpuMs, requests, gigabyteSeconds, written, read] = quantities(one);
    expect(worker).toBeCloseTo(1e6);
    expect(cpuMs).toBeCloseTo(390_000);
    expect(requests).toBeCloseTo(2e6);
    expect(gigabyteSeconds).toBeCloseTo((0.02 + 4.25e-6) * 0.125 * 1e6);
    expect(written).toBeCloseTo(1e6);
    expect(read).toBeCloseTo(1e6);
  });

  it("counts the alarms of a channel that rests between its messages, where gateways are called", () => {
    const many = { messagesPerDay: 1e6 / 30, online: 1, subscribers: 1, channels: 1e9 } as const;
    const resting = { ...many, keepAlive: "client" } as const;
    const [, , requests, , written] = quantities(resting);
    expect([requests, written]).toEqual([expect.closeTo(3e6, 0), expect.closeTo(3e6, 0)]);
    const half = quantities({ ...resting, channels: 1e6 / 30 / (86_400 / 8) });
    expect(half[4]).toBeCloseTo(2e6, 0);
    for (const without of [{ historySize: 0 }, { sockets: "channel" }] as const)
      expect(quantities({ ...resting, ...without })[2]).toBeLessThan(2.1e6);
  });

  it("counts a million idle connections as docs/performance/cost.md does", () => {
    const { lines, dollarsIfAnsweredMessagesAreBilled } = estimate({ ...nothing, online: 1e6 });
    const [, , requests, gigabyteSeconds, written] = lines;
    expect(requests?.quantity).toBeCloseTo(200 * 103_680);
    expect((gigabyteSeconds?.quantity ?? 0) * 12.5e-6).toBeCloseTo(0.688, 2);
    expect(written?.quantity).toBeCloseTo(200 * 103_680);
    expect(dollarsIfAnsweredMessagesAreBilled).toBeCloseTo(777.6);
  });

  it("counts connects with the calls of users' homes, and none without homes", () => {
    const connects = { users: 10, connectsPerUserAndDay: 1 };
    expect(quantities(connects).slice(0, 5)).toEqual([300, 117, 600, 0.75, 10]);
    expect(quantities({ ...connects, hasHomes: false })[2]).toBe(300);
  });

  it("takes off what Workers Paid includes", () => {
    const rows = estimate({ ...nothing, messagesPerDay: 60e6 / 30 }).lines[4];
    expect(rows?.included).toBe(50e6);
    expect(rows?.dollars).toBeCloseTo(10);
  });

  it("wakes an object for each channel, and bills what binary clients answer", () => {
    const sockets = { online: 100, sockets: "channel", channels: 10 } as const;
    expect(quantities(sockets)[2]).toBeCloseTo(10 * 103_680);
    expect(quantities({ ...sockets, keepAlive: "binary" })[2]).toBeCloseTo(
      10 * 103_680 + (100 * 103_680) / 20,
    );
    expect(quantities({ ...sockets, keepAlive: "client" })[2]).toBe(0);
  });

  it("prints a line for each line of the bill", async () => {
    const run = recordedShell();
    const { code, printed } = await run(["cost", "--users", "10_000", "--messages", "100000"]);
    expect(code).toBe(0);
    expect(printed).toContain("10,000 users, 1,000 of them online");
    expect(printed).toMatch(/^Worker requests +4\.20 M +10\.00 M +\$0\.00$/m);
    expect(printed).toMatch(/^total +\$6\.17$/m);
    expect((await run(["cost", "--users", "1"])).code).toBe(2);
  });

  it("names all missing options at once", async () => {
    const { code, noted } = await recordedShell()(["cost"]);
    expect([code, noted]).toEqual([
      2,
      "missing: --users (in the month) and --messages (published a day), for example dormouse cost --users 10000 --messages 100000",
    ]);
    expect((await recordedShell()(["cost", "--users", "1"])).noted).not.toContain("--users (");
  });
});
