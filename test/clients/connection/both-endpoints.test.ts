import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../support/sockets/endpoint.ts";
import { SdkClient, type SdkSubscription } from "../../support/sockets/sdk-client.ts";
import { firstGateway } from "../../support/sockets/variant.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const options = {
  allow_subscribe_for_client: true,
  allow_publish_for_subscriber: true,
  allow_presence_for_subscriber: true,
  presence: true,
  join_leave: true,
};
const config = {
  channel: {
    without_namespace: { ...options, history_size: 500, history_ttl: "5m", force_recovery: true },
    namespaces: [{ name: "plain", ...options }],
  },
};

let server: TestServer;
const opened: SdkClient[] = [];

beforeAll(async () => {
  server = await TestServer.start({ config });
});
afterEach(() => {
  for (const client of opened.splice(0)) client.close();
});
afterAll(() => server.close());

/**
 * Subscribes a client with a socket of the channel's own, and then one on a gateway, each named after its endpoint. Were
 * they to subscribe at the same time, either could be the first, and the second doesn't receive the first one's join.
 */
async function subscribeBoth(channel: string): Promise<readonly SdkSubscription[]> {
  const subscriptions: SdkSubscription[] = [];
  for (const { name, address } of endpoints) {
    const client = new SdkClient(address(server, channel), { token: signToken({ sub: name }) });
    opened.push(client);
    subscriptions.push(await client.subscribed(channel, { joinLeave: true }));
  }
  return subscriptions;
}

const evictions: readonly { name: string; pause: (channel: string) => Promise<void> }[] = [
  { name: "awake", pause: () => Promise.resolve() },
  {
    name: "evicted",
    pause: async (channel) => {
      await server.evictGateway(firstGateway);
      await server.evict(channel);
    },
  },
];

describe.each(["", "plain:"])("on one channel of the namespace '%s'", (namespace) => {
  describe.each(evictions)("[S2] with both objects $name between all steps", ({ name, pause }) => {
    it("[O1] [O3] both clients receive concurrent publications of both and of a backend in the same order", async () => {
      const channel = `${namespace}order-${name}`;
      const subscriptions = await subscribeBoth(channel);
      const rounds = 5;
      for (let round = 1; round <= rounds; round++) {
        await Promise.all([
          ...subscriptions.map(({ subscription }, who) => subscription.publish({ who, round })),
          server.backend.publish(channel, { who: "backend", round }),
        ]);
        for (const { publications } of subscriptions) await publications.count(3 * round);
        await pause(channel);
      }
      const [own, onGateway] = subscriptions.map(({ publications }) => publications.all);
      expect(own).toHaveLength(3 * rounds);
      expect(onGateway).toEqual(own);
      for (const { subscribing } of subscriptions) expect(subscribing.all).toHaveLength(1);
    });

    it("[O4] each gets its own publication before the answer to its publish", async () => {
      const channel = `${namespace}publish-${name}`;
      const subscriptions = await subscribeBoth(channel);
      let published = 0;
      for (const { subscription, publications } of [...subscriptions, ...subscriptions]) {
        await pause(channel);
        await subscription.publish(++published);
        expect(publications.all).toHaveLength(published);
      }
    });

    it("[P1] [O5] each client is present once, and receives the other's join and leave", async () => {
      const channel = `${namespace}presence-${name}`;
      const subscriptions = await subscribeBoth(channel);
      for (const { subscription, joins } of subscriptions) {
        await joins.first(({ info }) => info.user === "gateway");
        await pause(channel);
        const { clients } = await subscription.presence();
        expect(
          Object.values(clients)
            .map(({ user }) => user)
            .sort(),
        ).toEqual(["channel", "gateway"]);
        expect(await subscription.presenceStats()).toMatchObject({ numClients: 2, numUsers: 2 });
      }
      expect(await server.backend.presence(channel)).toHaveLength(2);
      for (const [index, { subscription }] of subscriptions.entries()) {
        const other = subscriptions[1 - index];
        await pause(channel);
        subscription.unsubscribe();
        const left = await other?.leaves.next();
        expect(left?.info.user).toBe(endpoints[index]?.name);
        const received = other?.joins.all.length ?? 0;
        await pause(channel);
        subscription.subscribe();
        expect((await other?.joins.count(received + 1))?.at(-1)?.info).toEqual(left?.info);
      }
    });
  });
});
