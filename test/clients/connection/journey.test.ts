import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { firstGateway, variants } from "../../support/sockets/variant.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";
import { openOptions } from "../../support/open-options.ts";

const config = {
  channel: {
    without_namespace: openOptions,
  },
};

let server: TestServer;
const opened: { close: () => void }[] = [];

beforeAll(async () => {
  server = await TestServer.start({ config });
});
afterEach(() => {
  for (const client of opened.splice(0)) client.close();
});
afterAll(() => server.close());

function open(address: string, user: string): SdkClient {
  const client = new SdkClient(address, {
    token: signToken({ sub: user, info: { name: user } }),
  });
  opened.push(client);
  return client;
}

it("[S2] an eviction here leaves the next event to another instance", async () => {
  await server.backend.publishAll("instances", [1, 2, 3]);
  const before = await server.rowsChanged("instances");
  await server.evict("instances");
  expect(await server.asleep("instances")).toBe(true);
  expect(await server.rowsChanged("instances")).toBeLessThan(before);
});

it("[S2] so does one of a gateway, whose sockets stay", async () => {
  const client = open(server.gatewayAddress(), "alice");
  const subscription = await client.subscribed("instances");
  await server.evictGateway(firstGateway);
  expect(await server.gatewayAsleep(firstGateway)).toBe(true);
  await server.backend.publish("instances", "heard");
  await subscription.publications.count(1);
  expect(await server.gatewayAsleep(firstGateway)).toBe(false);
  expect(client.reconnects).toBe(0);
});

describe.each(variants)(
  "[S2] in the situation $name",
  ({ name, endpoint, betweenSteps: pause }) => {
    const addressOf = (channel: string) => endpoint.address(server, channel);
    const connect = (channel: string, user: string) => open(addressOf(channel), user);

    it("[W1] a client connects, subscribes and is told where the channel stands", async () => {
      const channel = `${name}-subscribe`;
      const position = await server.backend.publish(channel, "before");
      const client = connect(channel, "alice");
      const [connected] = await client.connected.count(1);
      expect(connected?.client).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/);
      await pause(server, channel);
      const { subscribed } = await client.subscribed(channel);
      expect(subscribed.all).toMatchObject([
        { recoverable: true, positioned: true, recovered: false, streamPosition: position },
      ]);
    });

    it("[O3] a subscriber receives everything after its subscribe reply, in order, once", async () => {
      const channel = `${name}-receive`;
      await server.backend.publish(channel, "before");
      const subscription = await connect(channel, "alice").subscribed(channel);
      for (let number = 2; number <= 9; number++) {
        await pause(server, channel);
        await server.backend.publish(channel, { number });
      }
      await subscription.publications.count(8);
      expect(subscription.publications.all.map(({ data }) => data)).toEqual(
        Array.from({ length: 8 }, (_, index) => ({ number: index + 2 })),
      );
      expect(subscription.offsets).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    });

    it("[O4] a publisher's own publication comes before the answer to its publish", async () => {
      const channel = `${name}-publish`;
      const client = connect(channel, "alice");
      const { subscription, publications } = await client.subscribed(channel);
      for (let number = 1; number <= 5; number++) {
        await pause(server, channel);
        await subscription.publish({ number });
        expect(publications.all).toHaveLength(number);
      }
      expect(publications.all[4]).toMatchObject({
        data: { number: 5 },
        offset: 5,
        info: { user: "alice", connInfo: { name: "alice" } },
      });
    });

    it("[H2] a client reads the history in pages, in both directions", async () => {
      const channel = `${name}-history`;
      const { epoch } = await server.backend.publishAll(channel, ["a", "b", "c", "d", "e"]);
      const { subscription } = await connect(channel, "alice").subscribed(channel);
      await pause(server, channel);
      const position = await subscription.history({ limit: 0 });
      expect(position).toEqual({ publications: [], offset: 5, epoch });
      await pause(server, channel);
      const page = await subscription.history({ limit: 2, since: { offset: 2, epoch } });
      expect(page.publications.map(({ data }) => data)).toEqual(["c", "d"]);
      await pause(server, channel);
      const newest = await subscription.history({ limit: 2, reverse: true });
      expect(newest.publications.map(({ offset }) => offset)).toEqual([5, 4]);
      await pause(server, channel);
      const wrong = subscription.history({ limit: 2, since: { offset: 2, epoch: "else" } });
      await expect(wrong).rejects.toMatchObject({ code: 112 });
    });

    it("[P1] a client sees who is present, and how many", async () => {
      const channel = `${name}-presence`;
      const alice = connect(channel, "alice");
      const { subscription } = await alice.subscribed(channel);
      const bob = connect(channel, "bob");
      await bob.subscribed(channel);
      const again = connect(channel, "bob");
      await again.subscribed(channel);
      await connect(channel, "carol").connected.count(1); // Connected is not present.
      const clients = [alice, bob, again].map(({ connected }) => connected.all[0]?.client ?? "");
      await pause(server, channel);
      const present = await subscription.presence();
      expect(Object.keys(present.clients).sort()).toEqual(clients.sort());
      expect(present.clients[alice.connected.all[0]?.client ?? ""]).toMatchObject({
        user: "alice",
        connInfo: { name: "alice" },
      });
      await pause(server, channel);
      expect(await subscription.presenceStats()).toMatchObject({ numClients: 3, numUsers: 2 });
    });

    it("[O5] joins and leaves are told once each, the own join after the subscribe reply", async () => {
      const channel = `${name}-join-leave`;
      const alice = await connect(channel, "alice").subscribed(channel, { joinLeave: true });
      await alice.joins.count(1);
      expect(alice.eventLog).toEqual(["subscribing", "subscribed", "join"]);
      await pause(server, channel);
      const client = connect(channel, "bob");
      const bob = await client.subscribed(channel, { joinLeave: true });
      expect((await alice.joins.count(2))[1]?.info).toMatchObject({ user: "bob" });
      await pause(server, channel);
      bob.subscription.unsubscribe();
      expect((await alice.leaves.count(1))[0]?.info).toMatchObject({ user: "bob" });
      await pause(server, channel);
      bob.subscription.subscribe();
      await alice.joins.count(3);
      await pause(server, channel);
      client.close();
      await alice.leaves.count(2);
      await pause(server, channel);
      const raw = await RawSocket.connect(addressOf(channel), signToken({ sub: "carol" }));
      await raw.ask({ id: 2, subscribe: { channel } });
      await alice.joins.count(4);
      await pause(server, channel);
      raw.cut();
      expect((await alice.leaves.count(3))[2]?.info).toMatchObject({ user: "carol" });
      expect(alice.joins.all).toHaveLength(4);
    });

    it("[O3] nothing comes after the answer to an unsubscribe", async () => {
      const channel = `${name}-unsubscribe`;
      const socket = await RawSocket.connect(addressOf(channel), signToken({ sub: "alice" }));
      await socket.ask({ id: 2, subscribe: { channel } });
      await server.backend.publish(channel, "heard");
      await socket.lines.first((line) => line.includes("heard"));
      await pause(server, channel);
      await socket.ask({ id: 3, unsubscribe: { channel } });
      await pause(server, channel);
      await server.backend.publish(channel, "missed");
      await pause(server, channel);
      await socket.ask({ id: 4, unsubscribe: { channel } });
      expect(socket.lines.all.at(-1)).toBe('{"id":4,"unsubscribe":{}}');
      expect(socket.lines.all.filter((line) => line.includes("push"))).toHaveLength(1);
      socket.close();
    });

    it("[R2] a client that unsubscribes and subscribes again on the same connection recovers", async () => {
      const channel = `${name}-resubscribe`;
      const alice = await connect(channel, "alice").subscribed(channel);
      await server.backend.publish(channel, "heard");
      await alice.publications.count(1);
      await pause(server, channel);
      alice.subscription.unsubscribe();
      while ((await server.backend.presence(channel)).length > 0);
      await pause(server, channel);
      await server.backend.publishAll(channel, ["missed", "missed too"]);
      await pause(server, channel);
      alice.subscription.subscribe();
      const [, again] = await alice.subscribed.count(2);
      expect(again).toMatchObject({ wasRecovering: true, recovered: true });
      await pause(server, channel);
      await server.backend.publish(channel, "heard again");
      await alice.publications.count(4);
      expect(alice.offsets).toEqual([1, 2, 3, 4]);
    });

    it("[W1] a client that closes is answered with its own close code", async () => {
      const channel = `${name}-close`;
      const socket = await RawSocket.open(addressOf(channel));
      await pause(server, channel);
      socket.close(4321);
      expect(await socket.closed).toEqual({ code: 4321, reason: "" });
    });
  },
);
