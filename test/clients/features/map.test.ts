import type { MapSubscription, MapSubscriptionOptions } from "centrifuge";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../support/sockets/endpoint.ts";
import { FrameRelay } from "../../support/sockets/frame-relay.ts";
import { Inbox } from "../../support/inbox.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import type { TestData } from "../../support/servers/test-backend.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";
import { firstGateway } from "../../support/sockets/variant.ts";
import { type Wire, wires } from "../../support/sockets/wire.ts";

const open = { subscription_type: "map", allow_subscribe_for_client: true };
const map = {
  key_ttl: "10m",
  min_page_size: 1,
  subscribe_catch_up_timeout: "30s",
  allow_publish_for_subscriber: true,
  allow_remove_for_subscriber: true,
};
const namespaces = [
  {
    ...open,
    name: "kept",
    map: { ...map, mode: "recoverable", stream_size: 1_000 },
    allowed_delta_types: ["fossil"],
    delta_publish: true,
  },
  { ...open, name: "brief", map: { ...map, mode: "ephemeral" } },
];

let server: TestServer;
const opened: SdkClient[] = [];

beforeAll(async () => {
  const enabled = { enabled: true };
  const config = { sse: enabled, channel: { namespaces } };
  server = await TestServer.start({ config });
});
afterEach(() => {
  for (const client of opened.splice(0)) client.close();
});
afterAll(() => server.close());

/** A map as an application of the official client keeps it. */
class Mirror {
  readonly keys = new Map<string, TestData>();
  readonly syncs = new Inbox<number>();
  /** Whether each subscription was recovered. */
  readonly recoveries = new Inbox<boolean>();
  readonly errors = new Inbox<number>();
  readonly client: SdkClient;
  readonly subscription: MapSubscription;
  readonly #wire: Wire;
  readonly #changes = new Inbox<string>();

  /** @param client of its own if absent */
  constructor(
    wire: Wire,
    user: string,
    channel: string,
    options: Partial<MapSubscriptionOptions>,
    client = wire.open(server, channel, { token: signToken({ sub: user }) }),
  ) {
    this.#wire = wire;
    this.client = client;
    opened.push(this.client);
    const delays = { minResubscribeDelay: 10, maxResubscribeDelay: 20 };
    this.subscription = this.client.client.newMapSubscription(channel, { ...delays, ...options });
    this.subscription.on("sync", ({ entries }) => {
      this.keys.clear();
      for (const { key, data } of entries) this.keys.set(key, wire.decode(data));
      this.syncs.push(entries.length);
      this.#changes.push("");
    });
    this.subscription.on("update", ({ key, data, removed }) => {
      if (removed === true) this.keys.delete(key);
      else this.keys.set(key, wire.decode(data));
      this.#changes.push(key);
    });
    this.subscription.on("subscribed", ({ recovered }) => this.recoveries.push(recovered));
    this.subscription.on("error", ({ error }) => this.errors.push(error.code));
    this.subscription.subscribe();
  }

  /** Sets a key, or removes it, here and in what is expected of all mirrors. */
  async set(expected: Map<string, TestData>, key: string, data: TestData | undefined) {
    if (data === undefined) expected.delete(key);
    else expected.set(key, data);
    if (data === undefined) await this.subscription.remove(key);
    else await this.subscription.publish(key, this.#wire.encode(data));
  }

  /** Waits until a key was changed to, or a whole map has, this value. */
  async reach(key: string, data: TestData): Promise<void> {
    for (let seen = 0; this.keys.get(key) !== data; seen++) await this.#changes.count(seen + 1);
  }

  get sorted(): readonly (readonly [string, TestData])[] {
    return [...this.keys].toSorted(([one], [other]) => (one < other ? -1 : 1));
  }
}

function sorted(expected: ReadonlyMap<string, TestData>): Mirror["sorted"] {
  return [...expected].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** The builds of the official client, on a WebSocket and on a stream. MessagePack's build is Dormouse's own. */
const sdkWires = wires.filter(
  ({ rule, transport }) => rule !== "W6" && transport !== "http_stream",
);

describe.each(sdkWires)("over $name", (wire) => {
  it.each(["kept", "brief"])(
    `[${wire.rule}] [Z15] [Z18] a %s map is the same for one that writes and one that reads it in pages meanwhile`,
    async (namespace) => {
      const channel = `${namespace}:${wire.name}`;
      const expected = new Map<string, TestData>();
      const writer = new Mirror(wire, "writer", channel, {});
      await writer.syncs.count(1);
      const sets: Promise<void>[] = [];
      for (let key = 0; key < 40; key++) sets.push(writer.set(expected, `k${key}`, key));
      await Promise.all(sets);
      const reader = new Mirror(wire, "reader", channel, { pageSize: 5 });
      for (let round = 0; reader.syncs.all.length === 0; round++) {
        await writer.set(expected, `k${(round * 7) % 50}`, round % 3 === 0 ? undefined : -round);
      }
      await writer.set(expected, "last", 1);
      await Promise.all([writer.reach("last", 1), reader.reach("last", 1)]);
      expect(reader.sorted).toStrictEqual(sorted(expected));
      expect(writer.sorted).toStrictEqual(sorted(expected));

      reader.client.client.disconnect();
      await writer.set(expected, "k1", undefined);
      await writer.set(expected, "k2", "while away");
      reader.client.client.connect();
      await reader.recoveries.count(2);
      await writer.set(expected, "last", 2);
      await reader.reach("last", 2);
      expect(reader.sorted).toStrictEqual(sorted(expected));
      expect(reader.recoveries.all).toStrictEqual([false, namespace === "kept"]);
      expect(reader.syncs.all).toHaveLength(namespace === "kept" ? 1 : 2);
      expect([...reader.errors.all, ...writer.errors.all]).toStrictEqual([]);
    },
  );
});

describe.each(sdkWires.filter(({ transport }) => transport === "websocket"))(
  "over $name, with objects that lose their memory",
  (wire) => {
    it("[Z19] [S2] deltas of several keys, awake and after an eviction, give what was written", async () => {
      const channel = `kept:delta-${wire.name}`;
      const expected = new Map<string, TestData>();
      const long = "the quick brown fox jumps over the lazy dog ".repeat(4);
      const writer = new Mirror(wire, "writer", channel, {});
      const reader = new Mirror(wire, "reader", channel, { delta: "fossil" });
      await Promise.all([writer.syncs.count(1), reader.syncs.count(1)]);
      for (let round = 0; round < 12; round++) {
        if (round % 4 === 3) await evict(wire, channel);
        await writer.set(expected, `k${round % 3}`, `${long}${round}é`);
        if (round === 7) await writer.set(expected, "k0", undefined);
        if (round === 9) {
          reader.client.client.disconnect();
          await writer.set(expected, "k1", `${long}away`);
          reader.client.client.connect();
          await reader.recoveries.count(2);
        }
      }
      await writer.set(expected, "last", "1");
      await reader.reach("last", "1");
      expect(reader.sorted).toStrictEqual(sorted(expected));
      expect(reader.subscription.deltaStats().numDeltaPayloads).toBeGreaterThan(4);
      expect(reader.recoveries.all).toStrictEqual([false, true]);
    });
  },
);

describe.each(endpoints)("at the $name's endpoint", ({ name, address }) => {
  it("[Z16] [S2] a client whose flow is lost reads the map from the beginning", async () => {
    const wire = sdkWires.find((one) => one.endpoint === name);
    if (wire === undefined) throw new Error("there is no such wire");
    const channel = `kept:lost-${name}`;
    const expected = new Map<string, TestData>();
    const writer = new Mirror(wire, "writer", channel, {});
    await writer.syncs.count(1);
    for (let key = 0; key < 9; key++) await writer.set(expected, `k${key}`, key);
    let pages = 0;
    const relay = await FrameRelay.open(address(server, channel), async (frame) => {
      if (frame.includes('"cursor"')) pages++;
      if (pages === 2 && frame.includes('"cursor"')) await evict(wire, channel);
      return "pass";
    });
    try {
      const fatal = { pageSize: 2, unrecoverableStrategy: "fatal" } as const;
      const client = new SdkClient(relay.address, { token: signToken({ sub: "reader" }) });
      const reader = new Mirror(wire, "reader", channel, fatal, client);
      await reader.syncs.count(1);
      expect(reader.errors.all).toStrictEqual([113]);
      expect(pages).toBe(2 + 4);
      expect(reader.sorted).toStrictEqual(sorted(expected));
      await evict(wire, channel);
      await writer.set(expected, "last", 1);
      await reader.reach("last", 1);
      expect(reader.sorted).toStrictEqual(sorted(expected));
      expect(reader.client.reconnects).toBe(0);
    } finally {
      relay.close();
    }
  });
});

/** Takes the memory from the object that holds a client's socket. */
async function evict({ endpoint }: Wire, channel: string): Promise<void> {
  await (endpoint === "channel" ? server.evict(channel) : server.evictGateway(firstGateway));
}
