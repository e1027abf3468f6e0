import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import type { RelayReply } from "../../../src/contract/relay-request.ts";
import { json } from "../api/channel-config.ts";
import { at, following, read, said } from "./support/followed-channel.ts";
import type { RecordingSubscription } from "./support/recording-subscription.ts";
import { GatewayFixture } from "./support/gateway-fixture.ts";

describe("the memory of a gateway", () => {
  it("[G7] takes no more clients, and then no more subscriptions, when it holds too much", () => {
    const fixture = new GatewayFixture();
    const subscribers: RecordingSubscription[] = [];
    // More channels than fit, however little each takes: none takes less than 1 KiB.
    while (!fixture.gateway.nearlyFull && subscribers.length < limits.gatewayHeldBytesMax / 1_024) {
      subscribers.push(fixture.subscribed(`news${subscribers.length}`));
    }
    expect(fixture.gateway.nearlyFull).toBe(true);
    const refusal = { outcome: "failed", error: errorCodes.tooManyRequests };
    while (
      !isRefused(subscribers.at(-1)) &&
      subscribers.length < limits.gatewayHeldBytesMax / 1_024
    ) {
      subscribers.push(fixture.subscribed(`news${subscribers.length}`));
    }
    expect(subscribers.at(-1)?.answers).toEqual([refusal]);
    const { channelCount } = fixture.gateway;
    expect(channelCount).toBe(subscribers.length - 1);
    for (const { subscription } of subscribers) fixture.gateway.unsubscribe(subscription);
    expect([fixture.gateway.channelCount, fixture.gateway.nearlyFull]).toEqual([0, false]);
    expect(fixture.subscribed("sport").answers.map(({ outcome }) => outcome)).toEqual([
      "subscribed",
    ]);
  });

  it("[G7] counts every subscriber of a channel", () => {
    const fixture = new GatewayFixture();
    const subscribers = Array.from({ length: 60_000 }, () => fixture.subscribed("news"));
    expect(fixture.gateway.nearlyFull).toBe(true);
    for (const { subscription } of subscribers.slice(0, 30_000))
      fixture.gateway.unsubscribe(subscription);
    expect(fixture.gateway.nearlyFull).toBe(false);
  });

  it("[G7] counts the texts that clients and their tokens choose, for as long as it holds them", () => {
    const chanInfo = json(`"${"x".repeat(1_000_000)}"`);
    const enough = limits.gatewayHeldBytesMax / 2 / 2_000_000 + 1;
    const fixture = new GatewayFixture();
    const subscribers = Array.from({ length: enough }, (_, index) =>
      fixture.subscribed(`news${index % 3}`, { info: { chanInfo } }),
    );
    expect(fixture.gateway.nearlyFull).toBe(true);
    const [one, another, third] = subscribers;
    if (one === undefined || another === undefined || third === undefined) throw new Error("few");
    fixture.gateway.unsubscribe(one.subscription);
    fixture.gateway.unsubscribe(one.subscription);
    expect(fixture.gateway.nearlyFull).toBe(false);
    // Subscriptions that were refused or lost their state aren't held any more either.
    fixture.subscribe("more", { info: { chanInfo } });
    expect(fixture.gateway.nearlyFull).toBe(true);
    fixture.port.answer({ outcome: "failed", error: errorCodes.internal });
    expect(fixture.gateway.nearlyFull).toBe(false);
    fixture.subscribe("more", { info: { chanInfo } });
    expect(fixture.gateway.nearlyFull).toBe(true);
    fixture.take("news1", [said("1")], at(1), 2);
    expect(fixture.gateway.nearlyFull).toBe(false);
  });

  it("[G7] counts the data that a connection's subscriptions share once, and channels' names", () => {
    const fixture = new GatewayFixture();
    const connInfo = json(`"${"x".repeat(8_000)}"`);
    const info = { client: "one", connInfo };
    const subscribers = Array.from({ length: 3_000 }, () => fixture.subscribed("news", { info }));
    expect(fixture.gateway.nearlyFull).toBe(false);
    for (const { subscription } of subscribers) fixture.gateway.unsubscribe(subscription);
    for (let index = 0; index < 3_000; index++) {
      fixture.subscribed("news", { info: { connInfo, client: `${index}` } });
    }
    expect(fixture.gateway.nearlyFull).toBe(true);
    const long = new GatewayFixture();
    const named = Array.from({ length: 1_000 }, (_, index) =>
      long.subscribed(`${index}${"x".repeat(12_000)}`),
    );
    expect(long.gateway.nearlyFull).toBe(true);
    for (const { subscription } of named) long.gateway.unsubscribe(subscription);
    long.subscribed("news");
    expect(long.gateway.nearlyFull).toBe(false);
  });

  it("[B1] drops the oldest replay buffers, and reads again", () => {
    const fixture = new GatewayFixture();
    const data = json(`"${"x".repeat(900_000)}"`);
    const large: RelayReply = {
      outcome: "recovered",
      publications: [{ data, offset: 5 }],
      position: at(5),
    };
    const count = Math.ceil(limits.replayBudgetBytesMax / 900_000);
    for (let index = 0; index < count; index++) {
      fixture.subscribe(`news${index}`, {}, at(4));
      fixture.port.answer(following(at(5)), large);
    }
    const calls = fixture.port.calls.length;
    fixture.subscribe(`news${count - 1}`, {}, at(4));
    expect(fixture.port.calls).toHaveLength(calls);
    fixture.subscribe("news0", {}, at(4));
    expect(fixture.port.calls).toHaveLength(calls + 1);
  });

  it("[B1] counts replay buffers only while it holds them", () => {
    const fixture = new GatewayFixture();
    const data = json(`"${"x".repeat(900_000)}"`);
    const large: RelayReply = {
      outcome: "recovered",
      publications: [{ data, offset: 5 }],
      position: at(5),
    };
    for (let index = 0; index < 40; index++) {
      const subscriber = fixture.subscribe(`news${index}`, {}, at(4));
      fixture.port.answer(following(at(5)), large);
      if (index < 39) fixture.gateway.unsubscribe(subscriber.subscription);
    }
    fixture.subscribe("news39", {}, at(4));
    expect(fixture.port.open).toBe(0);
  });

  it("[B1] drops replay buffers in time, also of idle channels", () => {
    const fixture = new GatewayFixture();
    fixture.subscribe("news", {}, at(4));
    fixture.port.answer(following(at(5)), read([5], at(5)));
    fixture.nowMs += 1;
    fixture.settle();
    fixture.nowMs += limits.replayBufferMs;
    fixture.settle();
    // The clock is set back: released memory doesn't come back.
    fixture.nowMs -= limits.replayBufferMs;
    fixture.subscribe("news", {}, at(4));
    expect(fixture.port.requests).toEqual([{ method: "recover", since: at(4) }]);
  });
});

function isRefused(subscriber: RecordingSubscription | undefined): boolean {
  return subscriber?.answers.some((answer) => answer.outcome === "failed") === true;
}
