import type { MapSubscription } from "centrifuge";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Inbox } from "../../support/inbox.ts";
import type { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";
import { firstGateway } from "../../support/sockets/variant.ts";
import { type Wire, wires } from "../../support/sockets/wire.ts";

const open = { allow_subscribe_for_client: true };
const map = { mode: "ephemeral", key_ttl: "10s", min_page_size: 1 };
const namespaces = [
  {
    ...open,
    name: "chat",
    map_clients_presence_channel_prefix: "clients:",
    map_users_presence_channel_prefix: "users:",
  },
  { ...open, name: "clients", subscription_type: "map_clients", map },
  { ...open, name: "users", subscription_type: "map_users", map },
];

let server: TestServer;
const opened: SdkClient[] = [];

beforeAll(async () => {
  server = await TestServer.start({ config: { channel: { namespaces } } });
});
afterEach(() => {
  for (const client of opened.splice(0)) client.close();
});
afterAll(() => server.close());

function connect(wire: Wire, user: string, channel: string): SdkClient {
  const client = wire.open(server, channel, { token: signToken({ sub: user }) });
  opened.push(client);
  return client;
}

/** A client that is subscribed to a channel, and its ID. */
async function join(wire: Wire, user: string, channel: string) {
  const { client } = connect(wire, user, channel);
  const subscription = client.newSubscription(channel);
  const connected = new Promise<string>((resolve) =>
    client.once("connected", (context) => resolve(context.client)),
  );
  subscription.subscribe();
  await subscription.ready();
  return { client, id: await connected };
}

/** Who is there, as an application of the official client keeps it: users by key. */
class Mirror {
  readonly keys = new Map<string, string>();
  readonly syncs = new Inbox<number>();
  readonly #changes = new Inbox<string>();

  constructor(subscription: MapSubscription) {
    subscription.on("sync", ({ entries }) => {
      this.keys.clear();
      for (const { key, info } of entries) this.keys.set(key, info?.user ?? "no info");
      this.syncs.push(entries.length);
      this.#changes.push("");
    });
    subscription.on("update", ({ key, info, removed }) => {
      if (removed === true) this.keys.delete(key);
      else this.keys.set(key, info?.user ?? "no info");
      this.#changes.push(key);
    });
    subscription.subscribe();
  }

  /** Waits until this is who is there. */
  async reach(expected: object): Promise<void> {
    const text = JSON.stringify(sorted(Object.entries(expected)));
    for (let seen = 0; JSON.stringify(sorted([...this.keys])) !== text; seen++)
      await this.#changes.count(seen + 1);
  }
}

function sorted(entries: [string, string][]): [string, string][] {
  return entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** The builds of the official client, on a WebSocket. MessagePack's build is Dormouse's own. */
const sdkWires = wires.filter(({ rule, transport }) => rule !== "W6" && transport === "websocket");

describe.each(sdkWires)("over $name", (wire) => {
  const name = `chat:${wire.name}`;

  it(`[${wire.rule}] [Z21] [Z22] the SDK shows the clients of a channel, and those that come and go`, async () => {
    const ada = await join(wire, "ada", name);
    const watcher = connect(wire, "watcher", `clients:${name}`).client;
    const clients = new Mirror(
      watcher.newMapClientsSubscription(`clients:${name}`, { pageSize: 1 }),
    );
    await clients.reach({ [ada.id]: "ada" });
    const bob = await join(wire, "bob", name);
    await clients.reach({ [ada.id]: "ada", [bob.id]: "bob" });
    await (wire.endpoint === "channel" ? server.evict(name) : server.evictGateway(firstGateway));
    // That takes three seconds, after which a map is written down.
    if (wire.rule === "W1") await server.evict(`clients:${name}`);
    const cyd = await join(wire, "cyd", name);
    await clients.reach({ [ada.id]: "ada", [bob.id]: "bob", [cyd.id]: "cyd" });
    ada.client.disconnect();
    await clients.reach({ [bob.id]: "bob", [cyd.id]: "cyd" });
    watcher.disconnect();
    bob.client.disconnect();
    watcher.connect();
    await clients.syncs.count(2);
    await clients.reach({ [cyd.id]: "cyd" });
    expect(clients.keys.size).toBe(1);
  });

  it(`[${wire.rule}] [Z21] the SDK shows each user once`, async () => {
    const channel = `${name}-users`;
    await join(wire, "ada", channel);
    await join(wire, "ada", channel);
    const watcher = connect(wire, "watcher", `users:${channel}`).client;
    const users = new Mirror(watcher.newMapUsersSubscription(`users:${channel}`));
    await users.reach({ ada: "no info" });
    await join(wire, "bob", channel);
    await users.reach({ ada: "no info", bob: "no info" });
    expect(users.syncs.all).toStrictEqual([1]);
  });
});
