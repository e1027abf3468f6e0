import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { subscribePastJoin, infoJson, pushLine } from "../presence/presence-pushes.ts";
import { variants } from "../support/variant.ts";
import { secondsFromNow, token } from "../support/sign-token.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(variants)("a subscription with a token, on $name", (variant) => {
  it("[C5] ends with push 2501 after its token's end and the delay, and its leave is announced", async () => {
    const channel = newChannel("room");
    const bob = await subscribePastJoin(variant, channel, "bob");
    const ada = await variant.connect(channel, "ada", {}, "?keepalive=client");
    await variant.betweenSteps(channel);
    const exp = secondsFromNow(10);
    ada.send({ id: 2, subscribe: { channel, token: await token({ sub: "ada", channel, exp }) } });
    expect(await ada.line()).toMatch(/^\{"id":2,"subscribe":\{"expires":true,"ttl":(10|[5-9]),/);
    await ada.line();
    await bob.line(); // Ada's join
    await variant.betweenSteps(channel);
    await variant.runAlarmAt(channel, (exp + 25) * 1_000 - 1);
    expect(await bob.frame()).toBe("{}");
    expect(await ada.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
    await variant.runAlarmAt(channel, (exp + 25) * 1_000);
    expect(await ada.line()).toBe(
      pushLine(channel, "unsubscribe", '{"code":2501,"reason":"subscription expired"}'),
    );
    expect(await bob.line()).toBe(pushLine(channel, "leave", infoJson("ada", ada)));
    await variant.betweenSteps(channel);
    await publish(channel, 1);
    expect(await ada.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });
});
