import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { SdkClient, SdkSubscription } from "../../support/sockets/sdk-client.ts";
import { forgeries, secondsFromNow, signToken } from "../../support/test-tokens.ts";
import { wires } from "../../support/sockets/wire.ts";
import { WiredServer } from "../../support/servers/wired-server.ts";

// Most of these tests wait: for pings, for ends of tokens, for presence to end.
vi.setConfig({ maxConcurrency: 24 });

let server: WiredServer;

beforeAll(async () => {
  server = await WiredServer.start();
});
afterAll(() => server.close());

/**
 * Gives tokens that end soon, each later than the one before, because a busy machine may take longer to connect. One that is
 * in use it doesn't renew when it is asked to, once. From then on they last.
 */
function forgetfulTokens(claims: object, inUse: () => boolean) {
  let forgot = false;
  let lastsSeconds = 1;
  return () => {
    if (!forgot && inUse()) {
      forgot = true;
      return new Promise<string>(() => undefined);
    }
    lastsSeconds = forgot ? 60 : 2 * lastsSeconds;
    return Promise.resolve(signToken({ ...claims, exp: secondsFromNow(lastsSeconds) }));
  };
}

describe.concurrent.each(wires)("[T1] [$rule] over $name", (wire) => {
  it("[C3] [C5] a client that doesn't renew its token is closed 3005, and asks for another when the old one is refused", async (test) => {
    const channel = `expiry-${wire.name}`;
    const client: SdkClient = server.open(test, wire, channel, {
      token: signToken({ sub: "alice", exp: secondsFromNow(-10) }),
      getToken: forgetfulTokens({ sub: "alice" }, () => client.connected.all.length > 0),
    });
    const subscription = await client.subscribed(channel);
    expect(client.errors.all[0]).toMatchObject({ error: { code: 109 } });
    await client.connected.count(2);
    expect(client.connecting.all.some(({ code }) => code === 3005)).toBe(true);
    await server.backend.publish(channel, "here again");
    await subscription.publications.count(1);
    expect(wire.received(subscription)).toEqual(["here again"]);
  });

  it("[C5] a client that renews its token in time stays", async (test) => {
    const channel = `refresh-${wire.name}`;
    let end = 0;
    let lastsSeconds = 3;
    let renewals = 0;
    const client: SdkClient = server.open(test, wire, channel, {
      token: "",
      getToken: () => {
        const isRenewal = client?.connected.all.length > 0;
        if (isRenewal) renewals++;
        // Long enough to connect, the next time if it isn't.
        else end = secondsFromNow((lastsSeconds *= 2));
        const exp = isRenewal ? secondsFromNow(60) : end;
        return Promise.resolve(signToken({ sub: "alice", exp }));
      },
    });
    const subscription = await client.subscribed(channel);
    // Its end, and the delay after which it would be closed.
    await pause(end * 1_000 + 4_000 - Date.now());
    await server.backend.publish(channel, "still here");
    await subscription.publications.count(1);
    expect(renewals).toBe(1);
    expect(client.reconnects).toBe(0);
  });

  it("[C5] a subscription without a renewed token ends with the push 2501, and begins again with another token", async (test) => {
    const channel = `$expiry-${wire.name}`;
    const client = server.open(test, wire, channel);
    const subscription: SdkSubscription = client.subscribe(channel, {
      getToken: forgetfulTokens(
        { sub: "alice", channel },
        () => subscription.subscribed.all.length > 0,
      ),
    });
    await subscription.subscribed.count(2);
    expect(subscription.subscribing.all[1]).toMatchObject({ code: 2501 });
    expect(subscription.errors.all.at(-1)).toMatchObject({ error: { code: 109 } });
    await server.backend.publish(channel, "here again");
    await subscription.publications.count(1);
    expect(client.reconnects).toBe(0);
  });

  it("[C3] a client with a bad token, or none, is disconnected for good", async (test) => {
    const channel = `refused-${wire.name}`;
    const forged = forgeries[0]?.forge({ sub: "alice" }) ?? "";
    for (const [token, code] of [
      [forged, 3500],
      ["", 3501],
    ] as const) {
      const client = server.open(test, wire, channel, { token });
      expect(await client.disconnected.count(1)).toMatchObject([{ code }]);
      expect(client.connected.all).toEqual([]);
      expect(client.reconnects).toBe(0);
    }
  });

  it("[A4] a subscription token of another user ends the connection for good with 3500", async (test) => {
    const channel = `$stolen-${wire.name}`;
    const client = server.open(test, wire, channel);
    const subscription = client.subscribe(channel, { token: signToken({ sub: "bob", channel }) });
    expect(await client.disconnected.count(1)).toMatchObject([
      { code: 3500, reason: "invalid token" },
    ]);
    expect(subscription.subscribed.all).toEqual([]);
  });

  it("[A1] a client gets errors for missing features and missing permissions, and stays connected", async (test) => {
    const channel = `$closed-${wire.name}`;
    const client = server.open(test, wire, channel);
    const nowhere = client.subscribe("nowhere:x");
    expect(await nowhere.unsubscribed.count(1)).toMatchObject([{ code: 102 }]);
    const closed = client.subscribe(channel);
    expect(await closed.unsubscribed.count(1)).toMatchObject([{ code: 103 }]);
    await expect(client.client.rpc("pong", wire.encode({}))).rejects.toMatchObject({ code: 108 });
    await expect(client.client.rpc("ping", wire.encode({}))).resolves.toBeDefined();
    expect(client.reconnects).toBe(0);
  });

  it("[K1] [T2] the server pings: a client that misses a ping gives up, and this one stays", async (test) => {
    const channel = `ping-${wire.name}`;
    // It would give up 7 s after a ping that isn't followed by another: a busy machine is late by seconds.
    const client = server.open(test, wire, channel, { maxServerPingDelay: 4_000 });
    const subscription = await client.subscribed(channel);
    await pause(8_500);
    await server.backend.publish(channel, "still here");
    await subscription.publications.count(1);
    expect(client.reconnects).toBe(0);
  });
});
