import { describe, expect, it } from "vitest";
import { limits } from "../../../src/limits.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import type { RelayReply } from "../../../src/contract/relay-request.ts";
import { json } from "../api/channel-config.ts";
import { at, following, read, said } from "./followed-channel.ts";
import type { Listener } from "./recording-subscription.ts";
import { Scene } from "./gateway-fixture.ts";

describe("what a gateway holds", () => {
  it("[G7] takes no more clients, and then no more subscriptions, when it holds too much", () => {
    const scene = new Scene();
    const listeners: Listener[] = [];
    // More channels than fit, however little each takes: none takes less than 1 KiB.
    while (!scene.gateway.nearlyFull && listeners.length < limits.gatewayHeldBytesMax / 1_024) {
      listeners.push(scene.listener(`news${listeners.length}`));
    }
    expect(scene.gateway.nearlyFull).toBe(true);
    const refusal = { outcome: "failed", error: errorCodes.tooManyRequests };
    while (!isRefused(listeners.at(-1)) && listeners.length < limits.gatewayHeldBytesMax / 1_024) {
      listeners.push(scene.listener(`news${listeners.length}`));
    }
    expect(listeners.at(-1)?.answers).toEqual([refusal]);
    const { channelCount } = scene.gateway;
    expect(channelCount).toBe(listeners.length - 1);
    for (const { subscription } of listeners) scene.gateway.unsubscribe(subscription);
    expect([scene.gateway.channelCount, scene.gateway.nearlyFull]).toEqual([0, false]);
    expect(scene.listener("sport").answers.map(({ outcome }) => outcome)).toEqual(["subscribed"]);
  });

  it("[G7] counts everybody who subscribes to one channel", () => {
    const scene = new Scene();
    const listeners = Array.from({ length: 60_000 }, () => scene.listener("news"));
    expect(scene.gateway.nearlyFull).toBe(true);
    for (const { subscription } of listeners.slice(0, 30_000))
      scene.gateway.unsubscribe(subscription);
    expect(scene.gateway.nearlyFull).toBe(false);
  });

  it("[G7] counts the texts that clients and their tokens choose, for as long as it holds them", () => {
    const chanInfo = json(`"${"x".repeat(1_000_000)}"`);
    const enough = limits.gatewayHeldBytesMax / 2 / 2_000_000 + 1;
    const scene = new Scene();
    const listeners = Array.from({ length: enough }, (_, index) =>
      scene.listener(`news${index % 3}`, { info: { chanInfo } }),
    );
    expect(scene.gateway.nearlyFull).toBe(true);
    const [one, another, third] = listeners;
    if (one === undefined || another === undefined || third === undefined) throw new Error("few");
    scene.gateway.unsubscribe(one.subscription);
    scene.gateway.unsubscribe(one.subscription);
    expect(scene.gateway.nearlyFull).toBe(false);
    // Those who are refused, or told that they lost the stream, aren't held any more either.
    scene.join("more", { info: { chanInfo } });
    expect(scene.gateway.nearlyFull).toBe(true);
    scene.port.answer({ outcome: "error", error: errorCodes.internal });
    expect(scene.gateway.nearlyFull).toBe(false);
    scene.join("more", { info: { chanInfo } });
    expect(scene.gateway.nearlyFull).toBe(true);
    scene.take("news1", [said("1")], at(1), 2);
    expect(scene.gateway.nearlyFull).toBe(false);
  });

  it("[G7] counts what a connection's subscriptions share once, and channels' names", () => {
    const scene = new Scene();
    const connInfo = json(`"${"x".repeat(8_000)}"`);
    const info = { client: "one", connInfo };
    const listeners = Array.from({ length: 3_000 }, () => scene.listener("news", { info }));
    expect(scene.gateway.nearlyFull).toBe(false);
    for (const { subscription } of listeners) scene.gateway.unsubscribe(subscription);
    for (let index = 0; index < 3_000; index++) {
      scene.listener("news", { info: { connInfo, client: `${index}` } });
    }
    expect(scene.gateway.nearlyFull).toBe(true);
    const long = new Scene();
    const named = Array.from({ length: 1_000 }, (_, index) =>
      long.listener(`${index}${"x".repeat(12_000)}`),
    );
    expect(long.gateway.nearlyFull).toBe(true);
    for (const { subscription } of named) long.gateway.unsubscribe(subscription);
    long.listener("news");
    expect(long.gateway.nearlyFull).toBe(false);
  });

  it("[B1] lets go of the oldest of what it holds for those who recover, and reads again", () => {
    const scene = new Scene();
    const data = json(`"${"x".repeat(900_000)}"`);
    const large: RelayReply = {
      outcome: "recovered",
      publications: [{ data, offset: 5 }],
      position: at(5),
    };
    const count = Math.ceil(limits.replayBudgetBytesMax / 900_000);
    for (let index = 0; index < count; index++) {
      scene.join(`news${index}`, {}, at(4));
      scene.port.answer(following(at(5)), large);
    }
    const calls = scene.port.calls.length;
    scene.join(`news${count - 1}`, {}, at(4));
    expect(scene.port.calls).toHaveLength(calls);
    scene.join("news0", {}, at(4));
    expect(scene.port.calls).toHaveLength(calls + 1);
  });

  it("[B1] counts what it holds for those who recover only while it does", () => {
    const scene = new Scene();
    const data = json(`"${"x".repeat(900_000)}"`);
    const large: RelayReply = {
      outcome: "recovered",
      publications: [{ data, offset: 5 }],
      position: at(5),
    };
    for (let index = 0; index < 40; index++) {
      const listener = scene.join(`news${index}`, {}, at(4));
      scene.port.answer(following(at(5)), large);
      if (index < 39) scene.gateway.unsubscribe(listener.subscription);
    }
    scene.join("news39", {}, at(4));
    expect(scene.port.open).toBe(0);
  });

  it("[B1] lets go in time of what it holds, also for channels on which nothing happens", () => {
    const scene = new Scene();
    scene.join("news", {}, at(4));
    scene.port.answer(following(at(5)), read([5], at(5)));
    scene.nowMs += 1;
    scene.settle();
    scene.nowMs += limits.replayBufferMs;
    scene.settle();
    // The clock is set back: what was let go of doesn't come again.
    scene.nowMs -= limits.replayBufferMs;
    scene.join("news", {}, at(4));
    expect(scene.port.questions).toEqual([{ method: "recover", since: at(4) }]);
  });
});

function isRefused(listener: Listener | undefined): boolean {
  return listener?.answers.some((answer) => answer.outcome === "failed") === true;
}
