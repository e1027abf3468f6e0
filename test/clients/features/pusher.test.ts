import type PusherClient from "pusher-js";
import type { Options } from "pusher-js";
import type PusherServer from "pusher";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { Inbox } from "../../support/inbox.ts";
import { patience } from "../../support/patience.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { firstGateway } from "../../support/sockets/variant.ts";
import { shopApp, shopConfig, shopSecrets } from "../../support/servers/pusher-app.ts";
import { pusherBackend, pusherClient } from "../../support/servers/pusher-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken, testSecrets } from "../../support/test-tokens.ts";
import { exchanges } from "../../verification/pusher/exchanges.ts";
import { play, type Settled } from "../../verification/pusher/player.ts";
import { recordedOf } from "../../verification/pusher/recorded.ts";

let server: TestServer;
let backend: PusherServer;
const clients: PusherClient[] = [];
/** The gateway of Pusher's clients. */
const gateway = `pusher~${firstGateway}`;

beforeAll(async () => {
  server = await TestServer.start({
    config: shopConfig,
    secrets: { ...testSecrets, ...shopSecrets },
  });
  backend = pusherBackend(server.address);
});
afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
});
afterAll(() => server.close());

/** An unmodified client, for which its page's backend signs. @param user who uses it */
function open(user = "", options: Partial<Options> = {}): PusherClient {
  const client = pusherClient(server.address, backend, user, options);
  clients.push(client);
  return client;
}

/** What a client's channel gets, from its subscription on. */
async function subscribe(client: PusherClient, name: string) {
  const channel = client.subscribe(name);
  const events = new Inbox<readonly [event: string, data: unknown]>();
  channel.bind_global((event: string, data: unknown) => events.push([event, data]));
  await events.first(([event]) => event === "pusher:subscription_succeeded");
  return { channel, events };
}

async function get(path: string, params = {}): Promise<unknown> {
  const response = await backend.get({ path, params });
  return response.json();
}

let count = 0;
function newName(prefix: string): string {
  return `${prefix}room-${++count}`;
}

const states = [
  { state: "awake", settle: async () => undefined },
  {
    state: "evicted",
    settle: async (name: string) => {
      await server.evictGateway(gateway);
      await server.evict(`shop:${name}`);
    },
  },
];

describe.each(states)("clients of pusher-js, while the objects are $state", ({ settle }) => {
  it("[PU1] [PU2] [PU11] get a backend's events with the data that it posted", async () => {
    const name = newName("");
    const { events } = await subscribe(open(), name);
    await settle(name);
    await backend.trigger(name, "order", { id: 1, text: "a\nb" });
    await backend.trigger(name, "plain", "no JSON");
    await backend.triggerBatch([{ channel: name, name: "third", data: "3" }]);
    const got = (await events.count(4)).slice(1);
    expect(got).toEqual([
      ["order", { id: 1, text: "a\nb" }],
      ["plain", "no JSON"],
      ["third", 3],
    ]);
  });

  it("[PU4] [PU5] [PU3] send events to each other on a private channel, and not to themselves", async () => {
    const name = newName("private-");
    const [one, other] = [await subscribe(open(), name), await subscribe(open(), name)];
    await settle(name);
    one.channel.trigger("client-typing", { at: 1 });
    await other.events.first(([event]) => event === "client-typing");
    other.channel.trigger("client-typing", { at: 2 });
    const [, data] = await one.events.first(([event]) => event === "client-typing");
    expect(data).toEqual({ at: 2 });
  });

  it("[PU6] see each member of a presence channel come and go once", async () => {
    const name = newName("presence-");
    const watching = await subscribe(open("1"), name);
    expect(watching.events.all[0]?.[1]).toMatchObject({
      count: 1,
      members: { 1: { name: "name of 1" } },
    });
    await settle(name);
    const [twice, again] = [open("2"), open("2")];
    const second = await subscribe(twice, name);
    await subscribe(again, name);
    expect(second.events.all[0]?.[1]).toMatchObject({ count: 2 });
    await settle(name);
    twice.disconnect();
    const third = await subscribe(open("3"), name);
    expect(third.events.all[0]?.[1]).toMatchObject({ count: 3 });
    again.disconnect();
    await watching.events.first(([event]) => event === "pusher:member_removed");
    expect(watching.events.all.slice(1)).toEqual([
      ["pusher:member_added", { id: "2", info: { name: "name of 2" } }],
      ["pusher:member_added", { id: "3", info: { name: "name of 3" } }],
      ["pusher:member_removed", { id: "2", info: { name: "name of 2" } }],
    ]);
  });
});

describe("an application's server", () => {
  it("[PU3] excludes one subscriber by its socket_id, and the others get the event", async () => {
    const name = newName("");
    const [client, other] = [open(), open()];
    const [one, two] = [await subscribe(client, name), await subscribe(other, name)];
    await backend.trigger(name, "mine", "1", { socket_id: client.connection.socket_id });
    await backend.trigger(name, "all", "2");
    expect((await one.events.count(2))[1]?.[0]).toBe("all");
    expect((await two.events.count(3)).slice(1).map(([event]) => event)).toEqual(["mine", "all"]);
  });

  it("[PU12] asks which channels are occupied, by how many, and by whom", async () => {
    const name = newName("presence-");
    await subscribe(open("7"), name);
    await subscribe(open("7"), name);
    expect(await get(`/channels/${name}`, { info: "user_count,subscription_count" })).toEqual({
      occupied: true,
      user_count: 1,
      subscription_count: 2,
    });
    const response = await backend.triggerBatch([
      { channel: newName(""), name: "silent", data: "1" },
      { channel: name, name: "counted", data: "2", info: "user_count,subscription_count" },
    ]);
    expect(await response.json()).toEqual({
      batch: [{}, { user_count: 1, subscription_count: 2 }],
    });
    expect(await get(`/channels/${name}/users`)).toEqual({ users: [{ id: "7" }] });
    expect(
      await get("/channels", { filter_by_prefix: "presence-", info: "user_count" }),
    ).toMatchObject({ channels: { [name]: { user_count: 1 } } });
    expect(await get(`/channels/${newName("")}`)).toEqual({ occupied: false });
  });

  it("[PU7] [PU12] reaches a user who has signed in, and ends the user's connections for good", async () => {
    const client = open("42");
    const events = new Inbox<unknown>();
    client.user.bind("greeting", (data: unknown) => events.push(data));
    client.signin();
    await client.user.signinDonePromise;
    await expect
      .poll(async () => {
        await backend.sendToUser("42", "greeting", { hello: 42 });
        return events.all.length;
      })
      .toBeGreaterThan(0);
    expect(events.all[0]).toEqual({ hello: 42 });
    const closed = new Inbox<string>();
    client.connection.bind("state_change", ({ current }: { readonly current: string }) =>
      closed.push(current),
    );
    await backend.terminateUserConnections("42");
    expect(await closed.next()).toMatch(/disconnected|failed|unavailable/);
  });
});

describe("a cache channel", () => {
  it("[PU8] gives a subscriber the last event, and says so if there is none", async () => {
    const name = newName("cache-");
    const first = await subscribe(open(), name);
    await first.events.first(([event]) => event === "pusher:cache_miss");
    await backend.trigger(name, "price", { euros: 3 });
    await first.events.first(([event]) => event === "price");
    const second = await subscribe(open(), name);
    const [, data] = await second.events.first(([event]) => event === "price");
    expect(data).toEqual({ euros: 3 });
    const cache: unknown = await get(`/channels/${name}`, { info: "cache" });
    expect(cache).toMatchObject({ occupied: true, cache: { data: '{"euros":3}' } });
    expect(cache).toMatchObject({ cache: { ttl: expect.closeTo(300, -3) } });
  });
});

describe("a client of the server's own protocol on the same channel", () => {
  it("[PU2] gets the event with its name as a tag, and its own publications are events", async () => {
    const name = newName("");
    const { events } = await subscribe(open(), name);
    const client = new SdkClient(server.gatewayAddress(), { token: signToken({ sub: "ada" }) });
    await client.connected.count(1);
    const subscription = client.subscribe(`shop:${name}`);
    await subscription.subscribed.count(1);
    await backend.trigger(name, "order", { id: 1 });
    const [publication] = await subscription.publications.count(1);
    expect(publication).toMatchObject({ data: { id: 1 }, tags: { event: "order" }, offset: 1 });
    await server.backend.publish(`shop:${name}`, { id: 2 });
    expect((await events.count(3))[2]).toEqual(["message", { id: 2 }]);
    client.close();
  });
});

describe("the frames and requests that are compared with another server's", () => {
  const recorded = recordedOf("dormouse");

  it.concurrent.each(exchanges)(
    "[PU1] [PU4] [PU5] [PU7] [PU10] [PU11] are answered as recorded, where somebody $name",
    async (exchange) => {
      const expected = recorded[exchange.name] ?? [];
      const settled: Settled = async (step, got, { sync, who }) => {
        if (expected[step]?.length === 0 && who !== undefined) await sync(who);
        await vi.waitUntil(() => got.length >= (expected[step]?.length ?? 0), patience);
      };
      const app = { ...shopApp, secret: shopSecrets.PUSHER_SECRET_SHOP };
      const room = `r${exchanges.indexOf(exchange)}x`;
      expect(await play({ address: server.address, app }, exchange, room, settled)).toEqual(
        expected,
      );
    },
  );
});
