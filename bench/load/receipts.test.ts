import { describe, expect, it } from "vitest";
import { DeliveryCount } from "./delivery-count.ts";
import { FailureSignal } from "./failure-signal.ts";
import { Receipts, SocketReceipts } from "./receipts.ts";

const frameOf = (delivery: number): Buffer => Buffer.from(`receipt ${delivery} `);

/** Two sockets to which so many deliveries are to come. */
function sockets(expected: number) {
  const failure = new FailureSignal();
  const deliveries = new DeliveryCount();
  deliveries.expect(expected);
  const all = new Receipts(deliveries, failure);
  return {
    failure,
    all,
    one: new SocketReceipts(frameOf, all),
    other: new SocketReceipts(frameOf, all),
  };
}

describe("receipts", () => {
  it("are one frame for each delivery", () => {
    expect(sockets(3).one.sent(3).toString()).toBe("receipt 1 receipt 2 receipt 3 ");
  });

  it("are awaited until few enough are missing, whichever socket got the answers", async () => {
    const { all, one, other } = sockets(3);
    const reached: number[] = [];
    const waits = [2, 1, 0].map((most) => all.missingAtMost(most).then(() => reached.push(most)));
    one.sent(2);
    other.sent(1);
    other.answer(1);
    await waits[0];
    expect(reached).toEqual([2]);
    one.answer(2);
    await Promise.all(waits);
    expect(reached).toEqual([2, 1, 0]);
    expect(all.answered).toBe(3);
    expect(all.latenciesMs.every((latency) => latency >= 0)).toBe(true);
  });

  it("fail when more are answered than deliveries were to come", () => {
    const { failure, one } = sockets(1);
    one.sent(2);
    one.answer(2);
    expect(failure.isRaised).toBe(true);
  });
});
