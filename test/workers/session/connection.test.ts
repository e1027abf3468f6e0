import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { version } from "../../../src/version.ts";
import { newChannel } from "../support/new-channel.ts";
import { everyVariant } from "../support/variant.ts";
import { secondsFromNow, token } from "../support/sign-token.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(everyVariant)("a connection on $name", (variant) => {
  it("[C1][W1] is answered with its ID, the version and the interval of pings", async () => {
    const channel = newChannel("room");
    const socket = await variant.open(channel);
    await variant.betweenSteps(channel);
    socket.send({ id: 1, connect: { token: await token({ sub: "ada" }), name: "js" } });
    expect(await socket.line()).toMatch(
      new RegExp(
        `^\\{"id":1,"connect":\\{"client":"[-0-9a-f]{36}","version":"${version}","ping":25,"pong":true\\}\\}$`,
      ),
    );
    await variant.betweenSteps(channel);
    expect(await socket.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });

  it("[C2] closes 3502 when no connect has come within the stale delay", async () => {
    const channel = newChannel("room");
    const openedMs = Date.now();
    const socket = await variant.open(channel);
    await variant.betweenSteps(channel);
    await variant.runAlarmAt(channel, openedMs + 9_999);
    await variant.betweenSteps(channel);
    await variant.runAlarmAt(channel, openedMs + 10_000);
    expect(await socket.closed).toStrictEqual({ code: 3502, reason: "stale" });
    await variant.betweenSteps(channel);
  });

  it("[C5] closes 3005 a while after the credentials' end, unless they were refreshed", async () => {
    const channel = newChannel("room");
    const exp = secondsFromNow(30);
    // Without pings, so that the alarm is set for the expiry.
    const [lasting, refreshed] = [
      await variant.connect(channel, "ada", { exp }, "?keepalive=client"),
      await variant.connect(channel, "bob", { exp }, "?keepalive=client"),
    ];
    await variant.betweenSteps(channel);
    const fresh = await token({ sub: "bob", exp: secondsFromNow(3_600) });
    refreshed.send({ id: 2, refresh: { token: fresh } });
    expect(await refreshed.line()).toMatch(
      /^\{"id":2,"refresh":\{"expires":true,"ttl":(3600|359\d)\}\}$/,
    );
    await variant.betweenSteps(channel);
    const endsMs = (exp + 25) * 1_000;
    await variant.runAlarmAt(channel, endsMs - 1);
    expect(await lasting.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
    await variant.runAlarmAt(channel, endsMs);
    expect(await lasting.closed).toStrictEqual({ code: 3005, reason: "connection expired" });
    expect(await refreshed.unread()).toStrictEqual([]);
    await variant.betweenSteps(channel);
  });
});
