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

  it("[C7] is closed by a sub_refresh that isn't good or isn't its own", async () => {
    const channel = newChannel("closed");
    const claims = { sub: "ada", channel };
    for (const [refresh, code] of [
      [await token({ ...claims, exp: secondsFromNow(-1) }), 3006],
      [await token({ ...claims, sub: "eve" }), 3500],
      [await token({ ...claims, channel: "closed:other" }), 3500],
      [await token(claims, "another secret"), 3500],
    ] as const) {
      const socket = await variant.connect(channel, "ada");
      const exp = secondsFromNow(60);
      await socket.ask({ id: 2, subscribe: { channel, token: await token({ ...claims, exp }) } });
      await variant.betweenSteps(channel);
      socket.send({ id: 3, sub_refresh: { channel, token: refresh } });
      expect((await socket.closed).code).toBe(code);
      expect(await socket.rest()).toStrictEqual([]);
      await variant.betweenSteps(channel);
    }
  });

  it("[C5] is kept beyond its token's end by a sub_refresh, and not when it has none", async () => {
    const channel = newChannel("closed");
    const exp = secondsFromNow(10);
    const claims = { sub: "ada", channel };
    const [first, second] = [
      await token({ ...claims, exp }),
      await token({ ...claims, exp: exp + 3_600 }),
    ];
    const socket = await variant.connect(channel, "ada");
    await variant.betweenSteps(channel);
    socket.send({ id: 3, sub_refresh: { channel, token: second } });
    expect(await socket.line()).toContain('"code":103');
    await socket.ask({ id: 2, subscribe: { channel, token: first } });
    await variant.betweenSteps(channel);
    socket.send({ id: 3, sub_refresh: { channel } });
    expect(await socket.line()).toContain('"code":107');
    await variant.betweenSteps(channel);
    socket.send({ id: 4, sub_refresh: { channel, token: second } });
    expect(await socket.line()).toMatch(
      /^\{"id":4,"sub_refresh":\{"expires":true,"ttl":36[01]\d\}\}$/,
    );
    await variant.betweenSteps(channel);
    await variant.runAlarmAt(channel, (exp + 25) * 1_000);
    expect(await socket.frame()).toBe("{}");
    expect(await socket.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });
});
