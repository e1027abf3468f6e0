import { describe, expect, it } from "vitest";
import {
  billOf,
  deliveryUsage,
  type Idling,
  idleUsage,
  noUsage,
  type Publishing,
} from "../../../cli/cost/bill.ts";

const million = 1_000_000;

describe("Cloudflare's bill", () => {
  it.each([
    { usage: { workerRequests: million }, dollars: 0.3 },
    { usage: { objectRequests: million }, dollars: 0.15 },
    { usage: { callsBetweenObjects: million }, dollars: 0.15 },
    { usage: { incomingMessages: 20 * million }, dollars: 0.15 },
    { usage: { alarmsRung: million }, dollars: 0.15 },
    { usage: { alarmsSet: million }, dollars: 1 },
    { usage: { rowsWritten: million }, dollars: 1 },
    { usage: { rowsRead: 1_000 * million }, dollars: 1 },
    // A month of one object that never sleeps: 2,592,000 s × 0.125 GB × $12.50/M.
    { usage: { awakeSeconds: 2_592_000 }, dollars: 4.05 },
    { usage: {}, dollars: 0 },
  ])("is $$dollars for $usage", ({ usage, dollars }) => {
    expect(billOf({ ...noUsage, ...usage }).total).toBeCloseTo(dollars, 9);
  });

  it("adds up its parts", () => {
    const bill = billOf({ ...noUsage, workerRequests: million, rowsWritten: 2 * million });
    expect(bill).toMatchObject({ workerRequests: 0.3, objectRequests: 0, duration: 0, rows: 2 });
    expect(bill.total).toBeCloseTo(2.3, 9);
  });
});

const publishing: Publishing = {
  counts: {
    objectRequests: 1,
    callsBetweenObjects: 0,
    rowsWritten: 1,
    rowsRead: 0,
    alarmsSet: 0,
    alarmsRung: 0,
  },
  publicationsPerRequest: 1,
  deliveriesPerPublication: 1_000,
  secondsPerDelivery: 0,
  secondsPerPublication: 0,
};

describe("what deliveries cost", () => {
  it("is a publication's price divided by its subscribers", () => {
    // $0.30 + $0.15 + $1.00 a million publications, of which a million deliveries to 1,000 each take a thousand.
    expect(billOf(deliveryUsage(publishing, million)).total).toBeCloseTo(0.001_45, 9);
    const toOne = { ...publishing, deliveriesPerPublication: 1 };
    expect(billOf(deliveryUsage(toOne, million)).total).toBeCloseTo(1.45, 9);
  });

  it("includes the calls to gateways and the alarms", () => {
    const counts = {
      ...publishing.counts,
      callsBetweenObjects: 3,
      alarmsSet: 0.1,
      alarmsRung: 0.2,
    };
    // 1,000 publications: 3,000 calls, 100 rows and 200 requests more.
    const extra = (3_000 + 200) * 0.15e-6 + 100e-6;
    expect(billOf(deliveryUsage({ ...publishing, counts }, million)).total).toBeCloseTo(
      0.001_45 + extra,
      9,
    );
  });

  it("counts one request to the Worker for a batch", () => {
    const usage = deliveryUsage({ ...publishing, publicationsPerRequest: 100 }, million);
    expect(usage).toMatchObject({ workerRequests: 10, objectRequests: 1_000, rowsWritten: 1_000 });
  });

  it("counts the time of each delivery and of each publication", () => {
    const slow = { ...publishing, secondsPerDelivery: 30e-6, secondsPerPublication: 0.01 };
    // 30 s of sending and 1,000 × 10 ms of waiting: 40 s × 0.125 GB × $12.50/M.
    expect(deliveryUsage(slow, million).awakeSeconds).toBeCloseTo(40, 9);
    expect(billOf(deliveryUsage(slow, million)).duration).toBeCloseTo(0.000_062_5, 12);
  });
});

const idling: Idling = {
  connections: million,
  seconds: 2_592_000,
  keepAlive: "client",
  takenBy: "platform",
  answeredMessagesAreBilled: false,
  pingIntervalSeconds: 25,
  connectionsPerObject: 5_000,
  secondsPerPing: 20e-6,
};

describe("what idle connections cost", () => {
  it("is nothing if clients ping and the platform answers", () => {
    expect(billOf(idleUsage(idling)).total).toBe(0);
  });

  it("is a twentieth of a request for each ping if answered messages are billed after all", () => {
    // 103.7 G pings a month, 5.18 G requests.
    const bill = billOf(idleUsage({ ...idling, answeredMessagesAreBilled: true }));
    expect(bill.total).toBeCloseTo(777.6, 6);
    expect(bill.objectRequests).toBe(bill.total);
  });

  it("is pongs, alarms and time awake if the object pings and takes the answers", () => {
    // 200 objects × 103,680 ticks = 20.736 M alarms; 103.68 G pings × 40 µs = 4,147,200 s awake.
    const usage = idleUsage({ ...idling, keepAlive: "server", takenBy: "object" });
    expect(usage.incomingMessages).toBe(103_680 * million);
    expect(usage).toMatchObject({ alarmsSet: 20_736_000, alarmsRung: 20_736_000 });
    expect(usage.awakeSeconds).toBeCloseTo(4_147_200, 3);
    const { objectRequests, rows, duration, total } = billOf(usage);
    expect(objectRequests).toBeCloseTo(777.6 + 3.1104, 6);
    expect(rows).toBeCloseTo(20.736, 6);
    expect(duration).toBeCloseTo(6.48, 6);
    expect(total).toBeCloseTo(777.6 + 3.1104 + 20.736 + 6.48, 6);
  });

  it.each(["platform", "nobody"] as const)(
    "is alarms and half of that time if the object pings and the answers are taken by %s",
    (takenBy) => {
      const usage = idleUsage({ ...idling, keepAlive: "server", takenBy });
      expect(usage.incomingMessages).toBe(0);
      expect(billOf(usage).total).toBeCloseTo(3.1104 + 20.736 + 3.24, 6);
      const billed = idleUsage({
        ...idling,
        keepAlive: "server",
        takenBy,
        answeredMessagesAreBilled: true,
      });
      const pongs = takenBy === "platform" ? 777.6 : 0;
      expect(billOf(billed).total).toBeCloseTo(pongs + 3.1104 + 20.736 + 3.24, 6);
    },
  );

  it("is an alarm for each connection if each has an object of its own", () => {
    const usage = idleUsage({ ...idling, keepAlive: "server", connectionsPerObject: 1 });
    expect(usage.alarmsSet).toBe(103_680 * million);
  });

  it("never includes more time awake than passes", () => {
    const usage = idleUsage({ ...idling, keepAlive: "server", secondsPerPing: 1 });
    expect(usage.awakeSeconds).toBe(200 * 2_592_000);
  });

  it("grows with the time and shrinks with the interval", () => {
    const server = { ...idling, keepAlive: "server" } as const;
    const month = billOf(idleUsage(server)).total;
    expect(billOf(idleUsage({ ...server, seconds: 3_600 })).total).toBeCloseTo(month / 720, 6);
    expect(billOf(idleUsage({ ...server, pingIntervalSeconds: 50 })).total).toBeCloseTo(
      month / 2,
      6,
    );
  });
});
