import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../support/sockets/endpoint.ts";
import { pythonCodecs } from "../../support/environments/python-codecs.ts";
import { PythonEnvironment } from "../../support/environments/python-environment.ts";
import { pythonSubscriber } from "../../support/environments/python-subscriber.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { forgeries, signToken } from "../../support/test-tokens.ts";

const config = {
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      allow_publish_for_client: true,
      allow_history_for_client: true,
      allow_presence_for_client: true,
      presence: true,
      join_leave: true,
      history_size: 100,
      history_ttl: "5m",
      force_recovery: true,
    },
    namespaces: [
      { name: "plain", allow_subscribe_for_client: true },
      { name: "closed", presence: true, history_size: 10, history_ttl: "5m" },
    ],
  },
};

let python: PythonEnvironment;
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config });
  python = await PythonEnvironment.open();
}, 300_000);
afterAll(() => server.close());

/** A client of the user that has subscribed on a gateway. */
function subscribed(
  test: TestContext,
  user: string,
  channels: readonly string[],
  protobuf: boolean,
) {
  return pythonSubscriber(test, python, server, { user, channels, protobuf });
}

describe.each(pythonCodecs)("[$rule] in $codec", ({ codec, protobuf }) => {
  describe.each(endpoints)("on a $name's socket", ({ name, address }) => {
    it("[W1] [O4] [O5] [P1] the Python client subscribes, publishes, reads, sees who is there and leaves", async (test) => {
      const channel = `journey-${name}-${codec}`;
      const data = ["<b>&é\u2028", { nested: [1, 2.5, null, true] }, 3];
      const info = { role: "admin" };
      const journey = python.run(test, "journey", {
        address: address(server, channel),
        token: signToken({ sub: "alice", info }),
        channel,
        data,
        protobuf,
      });
      const events = await journey.ended();
      const client = journey.allOf("connected")[0]?.client ?? "";
      const { epoch } = await server.backend.history(channel);
      const me = { client, user: "alice", conn_info: info, chan_info: null };
      const kept = data.map((one, index) => ({
        offset: index + 1,
        data: one,
        info: me,
        tags: {},
        delta: false,
      }));
      expect(events).toEqual([
        { event: "subscribing", channel, code: 0, reason: "subscribe called" },
        { event: "connecting", code: 0, reason: "connect called" },
        { event: "connected", client, version: expect.stringMatching(/./), data: null },
        {
          event: "subscribed",
          channel,
          recoverable: true,
          positioned: true,
          stream_position: { offset: 0, epoch },
          was_recovering: false,
          recovered: false,
          data: null,
        },
        { event: "join", channel, ...me },
        ...kept.flatMap((publication) => [
          { event: "publication", channel, ...publication },
          { event: "published" },
        ]),
        { event: "history", publications: [], offset: 3, epoch },
        { event: "history", publications: kept.slice(1), offset: 3, epoch },
        { event: "history", publications: kept.slice(2), offset: 3, epoch },
        { event: "presence", clients: { [client]: me } },
        { event: "presence stats", num_clients: 1, num_users: 1 },
        { event: "unsubscribed", channel, code: 0, reason: "unsubscribe called" },
        { event: "presence", clients: {} },
        { event: "disconnected", code: 0, reason: "disconnect called" },
      ]);
    });
  });

  it("[O3] [O1] two Python clients hear several channels over one socket each, every publication once and in order", async (test) => {
    const channels = ["a", "b", "c"].map((name) => `several-${name}-${codec}`);
    const subscribers = await Promise.all(
      ["alice", "bob"].map((user) => subscribed(test, user, channels, protobuf)),
    );
    for (let number = 1; number <= 10; number++) {
      for (const channel of channels) await server.backend.publish(channel, number);
    }
    for (const subscriber of subscribers) {
      await subscriber.next("publication", 30);
      await subscriber.finish();
      const received = subscriber.allOf("publication");
      expect(received).toHaveLength(30);
      for (const name of channels) {
        const onThis = received.filter(({ channel }) => channel === name);
        expect(onThis.map(({ offset }) => offset)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        expect(onThis.map(({ data }) => data)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      }
    }
  });

  it("[O5] [P2] a Python client hears who comes and who goes, once each", async (test) => {
    const channel = `coming-and-going-${codec}`;
    const alice = await subscribed(test, "alice", [channel], protobuf);
    await alice.next("join");
    const bob = await subscribed(test, "bob", [channel], protobuf);
    const joined = await alice.next("join", 2);
    await bob.finish();
    const left = await alice.next("leave");
    await alice.finish();
    const [client] = bob.allOf("connected").map((one) => one.client);
    const who = { channel, user: "bob", client, conn_info: { name: "bob" }, chan_info: null };
    expect(joined).toEqual({ event: "join", ...who });
    expect(left).toEqual({ event: "leave", ...who });
    expect(alice.allOf("join")).toHaveLength(2);
    expect(alice.allOf("leave")).toHaveLength(1);
  });

  it("[C3] [A2] a Python client with a token that nobody signed is disconnected for good with 3500", async (test) => {
    const [forgery] = forgeries;
    const subscriber = python.run(test, "listen", {
      address: server.gatewayAddress(),
      token: forgery?.forge({ sub: "alice" }),
      protobuf,
    });
    expect(await subscriber.ended()).toMatchObject([
      { event: "connecting" },
      { event: "disconnected", code: 3500, reason: "invalid token" },
    ]);
  });

  it("[A4] a subscription token of another user disconnects a Python client for good with 3500", async (test) => {
    const channel = "$secret";
    const subscriber = python.run(test, "listen", {
      address: server.gatewayAddress(),
      token: signToken({ sub: "alice" }),
      subscriptions: [{ channel, token: signToken({ sub: "bob", channel }) }],
      protobuf,
    });
    const events = await subscriber.ended();
    expect(events.at(-1)).toEqual({ event: "disconnected", code: 3500, reason: "invalid token" });
    expect(subscriber.allOf("subscribed")).toEqual([]);
  });

  it("[A1] a Python client is told what it may not, and what there isn't, and stays connected", async (test) => {
    const expected = [
      { method: "subscribe", channel: "nowhere:x", code: 102 },
      { method: "subscribe", channel: "closed:x", code: 103 },
      { method: "subscribe", channel: "$secret", code: 103 },
      { method: "subscribe", channel: "plain:x", code: 0 },
      { method: "publish", channel: "nowhere:x", code: 102 },
      { method: "publish", channel: "plain:x", code: 103 },
      { method: "history", channel: "nowhere:x", code: 102 },
      { method: "history", channel: "plain:x", code: 108 },
      { method: "history", channel: "closed:x", code: 103 },
      { method: "presence", channel: "nowhere:x", code: 102 },
      { method: "presence", channel: "plain:x", code: 108 },
      { method: "presence", channel: "closed:x", code: 103 },
      { method: "presence_stats", channel: "nowhere:x", code: 102 },
      { method: "presence_stats", channel: "plain:x", code: 108 },
      { method: "presence_stats", channel: "closed:x", code: 103 },
    ];
    const script = python.run(test, "attempts", {
      address: server.gatewayAddress(),
      token: signToken({ sub: "alice" }),
      attempts: expected.map(({ method, channel }) => ({ method, channel })),
      protobuf,
    });
    const events = await script.ended();
    const outcomes = script
      .allOf("outcome")
      .map(({ method, channel, code }) => ({ method, channel, code }));
    expect(outcomes).toEqual(expected);
    expect(events.at(-1)).toMatchObject({ event: "disconnected", code: 0 });
  });
});
