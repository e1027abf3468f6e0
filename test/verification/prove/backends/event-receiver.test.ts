import { createHmac } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { microseconds } from "../history/clock.ts";
import { recordedHistory } from "../history/recorded-history.ts";
import { EventReceiver } from "./event-receiver.ts";

const secret = "a secret";
const history = recordedHistory();
let receiver: EventReceiver;
beforeEach(async () => {
  receiver = await EventReceiver.start(secret, 1);
  receiver.recordTo(history().recorder);
});
afterEach(() => receiver.close());

const event = { object: "channel/own:a", number: 7, time: 1, first: true, type: "publication" };

/** Tells as the server does. @param seconds the time of the signature */
async function tell(events: readonly object[], seconds = Date.now() / 1_000): Promise<number> {
  const text = JSON.stringify({ events });
  const time = Math.floor(seconds);
  const signature = createHmac("sha256", secret).update(`id.${time}.${text}`).digest("base64");
  const headers = {
    "webhook-id": "id",
    "webhook-timestamp": String(time),
    "webhook-signature": `v1,${signature}`,
  };
  const { status } = await fetch(receiver.target, { method: "POST", headers, body: text });
  return status;
}

describe("the receiver of events", () => {
  it("records what it takes, with the values of publications", async () => {
    receiver.settle();
    const published = { ...event, channel: "own:a", offset: 3, epoch: "e", data: "v....." };
    const gap = { object: "home/7", number: 9, time: 1, type: "gap", from: 8, to: 9 };
    expect(await tell([published, gap])).toBeLessThan(300);
    const common = { process: "events", type: "ok", f: "event" };
    expect(await history().events()).toEqual([
      {
        ...common,
        time: expect.any(Number),
        object: "channel/own:a",
        number: 7,
        event: "publication",
        first: true,
        channel: "own:a",
        offset: 3,
        epoch: "e",
        value: "v",
      },
      {
        ...common,
        time: expect.any(Number),
        object: "home/7",
        number: 9,
        event: "gap",
        from: 8,
        to: 9,
      },
    ]);
    expect([...receiver.last]).toEqual([
      ["channel/own:a", 7],
      ["home/7", 9],
    ]);
  });

  it("records when members of audiences were judged, by the history's clock", async () => {
    receiver.settle();
    const told = { object: "channel/read:a", channel: "read:a", user: "ann", epoch: "e" };
    const unseen = { ...told, type: "unseen", number: 7, from: 2, to: 4, count: 3, since_ms: 1 };
    const before = microseconds();
    await tell([{ ...unseen, time: Date.now() - 2_000 }]);
    const [recorded] = await history().events();
    expect(recorded).toMatchObject({ ...told, event: "unseen", from: 2, to: 4, count: 3 });
    const { at } = Object(recorded);
    expect(at).toBeGreaterThan(before - 2_050_000);
    expect(at).toBeLessThan(microseconds() - 1_950_000);
  });

  it("records nothing that it refuses, and some events whose answer it loses", async () => {
    let taken = 0;
    let refused = 0;
    let lost = 0;
    for (let number = 1; number <= 100; number++) {
      const status = await tell([{ ...event, number }]).catch(() => 0);
      if (status === 0) lost++;
      else if (status < 300) taken++;
      else refused++;
    }
    expect(lost).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
    expect(await history().events()).toHaveLength(taken + lost);
  });

  it("takes nothing while it fails", async () => {
    const over = Promise.withResolvers<undefined>();
    const failing = receiver.breakUntil("failing", over.promise);
    expect(await tell([event])).toBeGreaterThanOrEqual(429);
    over.resolve(undefined);
    await failing;
    receiver.settle();
    expect(await receiver.breakUntil("gone", Promise.resolve())).toBe(false);
    expect(await history().events()).toEqual([]);
  });

  it("reports a signature of another time, until the server's clock is ahead", async () => {
    const hourAhead = Date.now() / 1_000 + 3_600;
    await tell([event], hourAhead);
    expect(receiver.failures).toEqual(["a request wasn't signed"]);
    receiver.ignoreTimes();
    await tell([event], hourAhead);
    expect(receiver.failures).toHaveLength(1);
  });
});
