import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { SdkClient, type SdkSubscription } from "../../support/sockets/sdk-client.ts";
import { firstGateway } from "../../support/sockets/variant.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const channelLimit = 40;
const rounds = 4;
const options = { allow_subscribe_for_client: true, presence: true };
const config = {
  client: { channel_limit: channelLimit },
  channel: {
    without_namespace: {
      ...options,
      history_size: 100,
      history_ttl: "5m",
      force_recovery: true,
    },
    namespaces: [{ name: "plain", ...options }],
  },
};

let server: TestServer;
/** One client for all tests: every new channel is a new object, and here they cost the most time. */
let client: SdkClient;
/** As many as it may have, every other one of them without history. */
let subscriptions: readonly SdkSubscription[];
let channels: readonly string[];

beforeAll(async () => {
  server = await TestServer.start({ config });
  client = new SdkClient(server.gatewayAddress(), { token: signToken({ sub: "alice" }) });
  channels = Array.from(
    { length: channelLimit },
    (_, index) => `${index % 2 === 0 ? "" : "plain:"}${index}`,
  );
  subscriptions = await Promise.all(channels.map((channel) => client.subscribed(channel)));
});
afterAll(async () => {
  client.close();
  await server.close();
});

describe.each([
  { name: "awake", pause: () => Promise.resolve() },
  {
    name: "evicted",
    pause: async (round: number) => {
      await server.evictGateway(firstGateway);
      const tenth = channels.filter((_, index) => index % 10 === round);
      await Promise.all(tenth.map((channel) => server.evict(channel)));
    },
  },
])("[S2] with its gateway, and a tenth of its channels, $name between all steps", ({ pause }) => {
  it("[O1] [O3] [G1] a client with 40 channels gets everything of each, in its order, once", async () => {
    const before = subscriptions.map(({ publications }) => publications.all.length);
    for (let round = 1; round <= rounds; round++) {
      await Promise.all(channels.map((channel) => server.backend.publish(channel, round)));
      await pause(round);
    }
    for (const [index, { publications, subscribing }] of subscriptions.entries()) {
      const start = before[index] ?? 0;
      const received = await publications.count(start + rounds);
      expect(received.slice(start).map(({ data }) => Number(data))).toEqual(
        Array.from({ length: rounds }, (_, round) => round + 1),
      );
      expect(subscribing.all).toHaveLength(1);
    }
    expect(client.reconnects).toBe(0);
  });
});

it("[G1] one channel more than a connection may have is answered 106, and harms no other", async () => {
  const refused = await client.subscribe("one-more").unsubscribed.next();
  expect(refused.code).toBe(106);
  await server.backend.publish(channels[0] ?? "", "heard");
  await subscriptions[0]?.publications.first(({ data }) => data === "heard");
  expect(client.reconnects).toBe(0);
});

it("[G1] [C6] a gateway answers for channels that don't exist one by one", async () => {
  const socket = await RawSocket.connect(server.gatewayAddress(), signToken({ sub: "alice" }));
  socket.send(
    { id: 2, subscribe: { channel: "nowhere:news" } },
    { id: 3, subscribe: { channel: "somewhere" } },
    { id: 4, subscribe: { channel: "x".repeat(256) } },
  );
  const answers = await Promise.all(
    [2, 3, 4].map((id) => socket.lines.first((line) => line.startsWith(`{"id":${id},`))),
  );
  expect(answers.map((answer) => JSON.parse(answer))).toMatchObject([
    { id: 2, error: { code: 102 } },
    { id: 3, subscribe: {} },
    { id: 4, error: { code: 107 } },
  ]);
  socket.close();
});

it("[G5] a client that changes its mind all the time ends up where it said last", async () => {
  const changes = subscriptions.map((_, index) => index % 6);
  for (const [index, { subscription }] of subscriptions.entries()) {
    for (let change = 0; change < (changes[index] ?? 0); change++) {
      if (change % 2 === 0) subscription.unsubscribe();
      else subscription.subscribe();
    }
  }
  const stays = subscriptions.filter((_, index) => (changes[index] ?? 0) % 2 === 0);
  const left = subscriptions.filter((one) => !stays.includes(one));
  await Promise.all(stays.map(({ subscription }) => subscription.ready()));
  // This is answered after everything that the connection has asked of the channel before (rule O6).
  const asked = await Promise.allSettled(
    channels.map((channel) => client.client.presence(channel)),
  );
  expect(asked.map(({ status }) => status)).toEqual(channels.map(() => "rejected"));
  const present = await Promise.all(
    subscriptions.map(({ subscription }) => server.backend.presence(subscription.channel)),
  );
  expect(present.map((clients) => clients.length)).toEqual(
    changes.map((count) => (count % 2 === 0 ? 1 : 0)),
  );
  const receivedBefore = left.map(({ publications }) => publications.all.length);
  await Promise.all(channels.map((channel) => server.backend.publish(channel, "end")));
  for (const { publications } of stays) await publications.first(({ data }) => data === "end");
  expect(left.map(({ publications }) => publications.all.length)).toEqual(receivedBefore);
  expect(client.reconnects).toBe(0);
});
