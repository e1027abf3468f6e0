import type { StreamPosition, SubscriptionOptions } from "centrifuge";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { BreakableNetwork } from "../../support/sockets/breakable-network.ts";
import { SdkClient, type SdkSubscription } from "../../support/sockets/sdk-client.ts";
import { variants } from "../../support/sockets/variant.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const recoveryLimit = 10;
const options = {
  allow_subscribe_for_client: true,
  presence: true,
  history_size: 100,
  history_ttl: "5m",
  force_recovery: true,
};
const config = {
  client: { recovery_max_publication_limit: recoveryLimit },
  channel: {
    without_namespace: options,
    namespaces: [
      { name: "brief", ...options, history_ttl: "1s", history_meta_ttl: "1s" },
      { name: "team", ...options, allow_history_for_subscriber: true, allow_tags_filter: true },
    ],
  },
};

let server: TestServer;
let network: BreakableNetwork;
let client: SdkClient | undefined;

beforeAll(async () => {
  server = await TestServer.start({ config });
});
beforeEach(async () => {
  network = await BreakableNetwork.to(server.address);
});
afterEach(async () => {
  client?.close();
  await network.close();
});
afterAll(() => server.close());

/** A subscriber that has received two publications. */
async function subscribeAt(
  address: string,
  channel: string,
  more: Partial<SubscriptionOptions> = {},
) {
  client = new SdkClient(address, { token: signToken({ sub: "alice" }) });
  const subscription = await client.subscribed(channel, more);
  await server.backend.publishAll(channel, [1, 2]);
  await subscription.publications.count(2);
  return subscription;
}

/** Cuts the subscriber's connection and waits until the server has noticed. */
async function loseConnection(channel: string): Promise<void> {
  network.break();
  while ((await server.backend.presence(channel)).length > 0);
}

function dataOf(subscription: SdkSubscription): readonly number[] {
  return subscription.publications.all.map(({ data }) => Number(data));
}

describe.each(variants)(
  "[S2] in the situation $name",
  ({ name, endpoint, betweenSteps: pause }) => {
    const subscribe = (channel: string, more: Partial<SubscriptionOptions> = {}) =>
      subscribeAt(endpoint.address(server, channel, network.address), channel, more);

    it("[A17] [R2] a client gets what its token's filter and its own let through, before and after it was away", async () => {
      const channel = `team:${name}-filtered`;
      const server_tags_filter = { key: "team", cmp: "eq", val: "red" };
      const token = signToken({ sub: "alice", channel, server_tags_filter });
      const address = endpoint.address(server, channel, network.address);
      client = new SdkClient(address, { token: signToken({ sub: "alice" }) });
      const tagsFilter = { key: "kind", cmp: "neq", val: "draft" } as const;
      const subscription = await client.subscribed(channel, { token, tagsFilter });
      const publish = (data: number, team: string, kind: string) =>
        server.backend.publishFields(channel, { data, tags: { team, kind } });
      const publishFour = async (first: number) => {
        await publish(first, "blue", "news");
        await publish(first + 1, "red", "news");
        await publish(first + 2, "red", "draft");
        await publish(first + 3, "blue", "draft");
      };
      await publishFour(1);
      await subscription.publications.count(1);
      await loseConnection(channel);
      await pause(server, channel);
      await publishFour(5);
      await pause(server, channel);
      network.mend();
      const [, again] = await subscription.subscribed.count(2);
      expect(again).toMatchObject({ wasRecovering: true, recovered: true });
      await publishFour(9);
      await subscription.publications.count(3);
      await expect(subscription.subscription.history({ limit: 9 })).rejects.toMatchObject({
        code: 103,
      });
      expect(dataOf(subscription)).toStrictEqual([2, 6, 10]);
      expect(subscription.offsets).toStrictEqual([2, 6, 10]);
    });

    it("[R2] a client that was away gets exactly what it missed, in order, and then what follows", async () => {
      const channel = `${name}-missed`;
      const subscription = await subscribe(channel);
      await loseConnection(channel);
      await pause(server, channel);
      await server.backend.publishAll(channel, [3, 4, 5, 6]);
      await pause(server, channel);
      network.mend();
      const [, again] = await subscription.subscribed.count(2);
      expect(again).toMatchObject({ wasRecovering: true, recovered: true });
      await subscription.publications.count(6);
      await pause(server, channel);
      await server.backend.publish(channel, 7);
      await subscription.publications.count(7);
      expect(dataOf(subscription)).toEqual([1, 2, 3, 4, 5, 6, 7]);
      expect(subscription.offsets).toEqual([1, 2, 3, 4, 5, 6, 7]);
    });

    it("[W1] [R2] data that a client gets anew for every connect and subscribe is taken every time", async () => {
      const channel = `${name}-data`;
      const asked: string[] = [];
      const getData = (what: string) => () => {
        asked.push(what);
        return Promise.resolve({ time: asked.length });
      };
      client = new SdkClient(endpoint.address(server, channel, network.address), {
        token: signToken({ sub: "alice" }),
        name: "app",
        version: "1.2.3",
        getData: getData("connect"),
      });
      const subscription = await client.subscribed(channel, { getData: getData("subscribe") });
      await loseConnection(channel);
      await pause(server, channel);
      await server.backend.publish(channel, 1);
      network.mend();
      await subscription.publications.count(1);
      expect(asked.slice(0, 2)).toEqual(["connect", "subscribe"]);
      // While the network was broken it may have tried more than once.
      expect(asked.slice(-2)).toEqual(["connect", "subscribe"]);
      expect(asked.length).toBeGreaterThan(3);
    });

    it("[R3] a client that missed nothing recovers with nothing", async () => {
      const channel = `${name}-nothing`;
      const subscription = await subscribe(channel);
      await loseConnection(channel);
      await pause(server, channel);
      network.mend();
      const [, again] = await subscription.subscribed.count(2);
      expect(again).toMatchObject({ recovered: true, hasRecoveredPublications: false });
      expect(dataOf(subscription)).toEqual([1, 2]);
    });

    it("[R4] one publication less than the limit is recovered", async () => {
      const channel = `${name}-just`;
      const subscription = await subscribe(channel);
      await loseConnection(channel);
      const missed = Array.from({ length: recoveryLimit - 1 }, (_, index) => index + 3);
      await server.backend.publishAll(channel, missed);
      await pause(server, channel);
      network.mend();
      const [, again] = await subscription.subscribed.count(2);
      expect(again).toMatchObject({ recovered: true });
      await subscription.publications.count(recoveryLimit + 1);
      expect(dataOf(subscription)).toEqual([1, 2, ...missed]);
    });

    it("[R5] as many as the limit are not: the client learns the position and nothing else", async () => {
      const channel = `${name}-many`;
      const subscription = await subscribe(channel);
      await loseConnection(channel);
      const missed = Array.from({ length: recoveryLimit }, (_, index) => index + 3);
      const position = await server.backend.publishAll(channel, missed);
      await pause(server, channel);
      network.mend();
      const [, again] = await subscription.subscribed.count(2);
      expect(again).toMatchObject({
        wasRecovering: true,
        recovered: false,
        hasRecoveredPublications: false,
        streamPosition: position,
      });
      await server.backend.publish(channel, 99);
      await subscription.publications.count(3);
      expect(dataOf(subscription)).toEqual([1, 2, 99]);
    });

    it("[R5] a client that asked for an error instead loads its state and goes on from there", async () => {
      const channel = `${name}-state`;
      const states: StreamPosition[] = [];
      const getState = async () => {
        const { offset, epoch } = await server.backend.history(channel);
        states.push({ offset, epoch });
        return { offset, epoch };
      };
      const subscription = await subscribe(channel, { getState });
      await loseConnection(channel);
      const missed = Array.from({ length: recoveryLimit }, (_, index) => index + 3);
      const position = await server.backend.publishAll(channel, missed);
      await pause(server, channel);
      network.mend();
      await subscription.subscribed.count(2);
      expect(states.slice(1)).toEqual([position]);
      await server.backend.publish(channel, 99);
      await subscription.publications.count(3);
      expect(dataOf(subscription)).toEqual([1, 2, 99]);
    });

    it("[R1] a client of a stream that has gone meanwhile is told so", async () => {
      const channel = `brief:${name}`;
      const subscription = await subscribe(channel);
      const { epoch } = await server.backend.history(channel);
      await loseConnection(channel);
      await pause(server, channel);
      // Without a subscriber the stream is deleted a meta TTL after its newest publication (rule H6).
      while ((await server.backend.history(channel)).epoch === epoch);
      const position = await server.backend.publishAll(channel, [3, 4]);
      await pause(server, channel);
      network.mend();
      const [, again] = await subscription.subscribed.count(2);
      expect(again).toMatchObject({
        wasRecovering: true,
        recovered: false,
        streamPosition: position,
      });
      expect(position.epoch).not.toBe(epoch);
      expect(dataOf(subscription)).toEqual([1, 2]);
    });
  },
);
