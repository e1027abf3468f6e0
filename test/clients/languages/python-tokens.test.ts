import { type TestContext, afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { pythonCodecs } from "../../support/environments/python-codecs.ts";
import { PythonEnvironment } from "../../support/environments/python-environment.ts";
import type { PythonEvent, PythonScript } from "../../support/environments/python-script.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { secondsFromNow, signToken } from "../../support/test-tokens.ts";

const config = {
  client: { expired_close_delay: "1s", expired_sub_close_delay: "1s" },
  channel: {
    without_namespace: { allow_subscribe_for_client: true, history_size: 10, history_ttl: "5m" },
  },
};

let python: PythonEnvironment;
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config });
  python = await PythonEnvironment.open();
}, 300_000);
afterAll(() => server.close());

// They wait for tokens to end, and so they wait together.
vi.setConfig({ maxConcurrency: 12 });

describe.concurrent.each(pythonCodecs)("[$rule] in $codec", ({ codec, protobuf }) => {
  /** A client that asks for its tokens. */
  const startSubscriber = (test: TestContext, options: object): PythonScript =>
    python.run(test, "listen", { address: server.gatewayAddress(), protobuf, ...options });

  it("[C5] a Python client that renews its connection's token in time stays connected", async (test) => {
    const channel = `renewed-connection-${codec}`;
    const subscriber = startSubscriber(test, { subscriptions: [{ channel }] });
    for (const nth of [1, 2, 3]) {
      await subscriber.next("token wanted", nth);
      const end = nth === 3 ? {} : { exp: secondsFromNow(3) };
      subscriber.sendLine(signToken({ sub: "alice", ...end }));
    }
    await receivedAfterwards(subscriber, channel);
    const events = await subscriber.finish();
    // It wants a third one only if the second was believed.
    expect(kindsOf(events)).toEqual([
      "subscribing",
      "connecting",
      "token wanted",
      "connected",
      "subscribed",
      "token wanted",
      "token wanted",
      "publication",
      "subscribing",
      "disconnected",
    ]);
  });

  it("[C5] [A4] a Python client that renews a subscription's token in time stays subscribed", async (test) => {
    const channel = `$renewed-${codec}`;
    const subscriber = startSubscriber(test, {
      token: signToken({ sub: "alice" }),
      subscriptions: [{ channel, asks: true }],
    });
    for (const nth of [1, 2, 3]) {
      expect(await subscriber.next("token wanted", nth)).toMatchObject({ channel });
      const end = nth === 3 ? {} : { exp: secondsFromNow(3) };
      subscriber.sendLine(signToken({ sub: "alice", channel, ...end }));
    }
    await receivedAfterwards(subscriber, channel);
    const events = await subscriber.finish();
    expect(kindsOf(events)).toEqual([
      "subscribing",
      "connecting",
      "connected",
      "token wanted",
      "subscribed",
      "token wanted",
      "token wanted",
      "publication",
      "subscribing",
      "disconnected",
    ]);
  });

  it("[C7] a Python client that renews its token with that of another user is disconnected for good with 3500", async (test) => {
    const subscriber = startSubscriber(test, {});
    await subscriber.next("token wanted");
    subscriber.sendLine(signToken({ sub: "alice", exp: secondsFromNow(4) }));
    await subscriber.next("token wanted", 2);
    subscriber.sendLine(signToken({ sub: "bob" }));
    expect(await subscriber.ended()).toMatchObject([
      { event: "connecting", code: 0 },
      { event: "token wanted" },
      { event: "connected" },
      { event: "token wanted" },
      { event: "disconnected", code: 3500, reason: "invalid token" },
    ]);
  });

  it("[C5] a Python client that doesn't renew its connection's token is closed 3005", async (test) => {
    const expiring = python.run(test, "expire", { address: server.gatewayAddress(), protobuf });
    await expiring.next("token wanted");
    expiring.sendLine(signToken({ sub: "alice", exp: secondsFromNow(4) }));
    expect(await expiring.ended()).toMatchObject([
      { event: "token wanted" },
      { event: "connecting", code: 0 },
      { event: "connected" },
      { event: "connecting", code: 3005, reason: "connection expired" },
      { event: "error", reply: 109 },
      { event: "error" }, // The client's own: it has nowhere to get another token from.
      { event: "disconnected", code: 1, reason: "unauthorized" },
    ]);
  });

  it("[C5] a Python client that doesn't renew a subscription's token loses the subscription with 2501", async (test) => {
    const channel = `$expiring-${codec}`;
    const token = signToken({ sub: "alice" });
    const options = { address: server.gatewayAddress(), token, channel, protobuf };
    const expiring = python.run(test, "expire", options);
    await expiring.next("token wanted");
    expiring.sendLine(signToken({ sub: "alice", channel, exp: secondsFromNow(4) }));
    const events = await expiring.ended();
    expect(events.filter(({ event }) => event !== "join")).toMatchObject([
      { event: "token wanted" },
      { event: "connecting", code: 0 },
      { event: "connected" },
      { event: "subscribing", code: 0 },
      { event: "subscribed" },
      { event: "subscribing", code: 2501, reason: "subscription expired" },
      { event: "subscription error" }, // The client's own, as above.
      { event: "unsubscribed", code: 1, reason: "unauthorized" },
      { event: "disconnected", code: 0 },
    ]);
  });

  it("[C3] a Python client whose token has ended is answered 109, asks for another and connects", async (test) => {
    const subscriber = startSubscriber(test, {});
    await subscriber.next("token wanted");
    subscriber.sendLine(signToken({ sub: "alice", exp: secondsFromNow(-60) }));
    await subscriber.next("token wanted", 2);
    subscriber.sendLine(signToken({ sub: "alice" }));
    await subscriber.next("connected");
    expect(await subscriber.finish()).toMatchObject([
      { event: "connecting", code: 0 },
      { event: "token wanted" },
      { event: "error", reply: 109 },
      { event: "token wanted" },
      { event: "connected" },
      { event: "disconnected", code: 0 },
    ]);
  });
});

/** Publishes, and waits until the subscriber has received the publication. */
async function receivedAfterwards(subscriber: PythonScript, channel: string): Promise<void> {
  await server.backend.publish(channel, 1);
  await subscriber.next("publication");
}

function kindsOf(events: readonly PythonEvent[]): readonly string[] {
  return events.map(({ event }) => event);
}
