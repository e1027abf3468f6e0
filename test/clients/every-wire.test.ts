import type { Options, SubscriptionOptions } from "centrifuge";
import { setTimeout as pause } from "node:timers/promises";
import { type TestContext, afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { BreakableNetwork } from "../support/breakable-network.ts";
import type { SdkClient, SdkSubscription } from "../support/sdk-client.ts";
import { firstGateway } from "../support/situation.ts";
import type { TestData } from "../support/test-backend.ts";
import { TestServer } from "../support/test-server.ts";
import { forgeries, secondsFromNow, signToken } from "../support/test-tokens.ts";
import { type Wire, wires } from "../support/wire.ts";

// Most of these tests wait for time to pass, for pings and ends of tokens.
vi.setConfig({ maxConcurrency: 24 });

const kept = {
  allow_subscribe_for_client: true,
  allow_publish_for_subscriber: true,
  allow_history_for_subscriber: true,
  allow_presence_for_subscriber: true,
  presence: true,
  join_leave: true,
  history_size: 100,
  history_ttl: "5m",
  force_recovery: true,
};
const config = {
  client: { ping_interval: "1s", expired_close_delay: "1s", expired_sub_close_delay: "1s" },
  http_stream: { enabled: true },
  sse: { enabled: true },
  rpc: { ping: { enabled: true } },
  channel: {
    without_namespace: kept,
    namespaces: [
      { name: "document", ...kept, allowed_delta_types: ["fossil"], delta_publish: true },
      { name: "tagged", ...kept, allow_tags_filter: true },
    ],
  },
};

/** A stream that is aborted frees its presence within that. */
const freedMsMax = 2_000;

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config });
});
afterAll(() => server.close());

/** A client that is gone when the test is over. */
function open(
  test: TestContext,
  wire: Wire,
  channel: string,
  options: Partial<Options> = {},
  at?: string,
): SdkClient {
  const client = wire.open(server, channel, { token: signToken({ sub: "alice" }), ...options }, at);
  test.onTestFinished(() => client.close());
  return client;
}

/** A subscriber behind a network that can break, and both are gone when the test is over. */
async function subscribeBehind(
  test: TestContext,
  wire: Wire,
  channel: string,
  wishes: Partial<SubscriptionOptions> = {},
) {
  const network = await BreakableNetwork.to(server.address);
  test.onTestFinished(() => network.close());
  const client = open(test, wire, channel, {}, network.address);
  return { network, subscription: await client.subscribed(channel, wishes) };
}

/** Waits until nobody is present, and gives how many milliseconds that took. */
async function freed(channel: string): Promise<number> {
  const startedAtMs = Date.now();
  // Not so often that the many tests at a time keep the server from what they wait for.
  while ((await server.backend.presence(channel)).length > 0) await pause(20);
  return Date.now() - startedAtMs;
}

function heard(wire: Wire, { publications }: SdkSubscription): readonly TestData[] {
  return publications.all.map(({ data }) => wire.decode(data));
}

/**
 * Gives tokens that end soon, until it is asked to renew one that is in use: that it leaves unanswered, once. From then on
 * they last.
 */
function forgetfulTokens(claims: object, inUse: () => boolean) {
  let forgot = false;
  return () => {
    if (!forgot && inUse()) {
      forgot = true;
      return new Promise<string>(() => undefined);
    }
    return Promise.resolve(signToken({ ...claims, exp: secondsFromNow(forgot ? 60 : 2) }));
  };
}

describe.concurrent.each(wires)("[T1] over $name", (wire) => {
  it("a client connects, subscribes, and hears what the backend publishes", async (test) => {
    const channel = `hear-${wire.name}`;
    const position = await server.backend.publish(channel, "before");
    const client = open(test, wire, channel);
    const subscription = await client.subscribed(channel);
    expect(client.connected.all).toMatchObject([
      { client: expect.stringMatching(/^[0-9a-f-]{36}$/), transport: wire.transport },
    ]);
    expect(subscription.subscribed.all).toMatchObject([
      { recoverable: true, positioned: true, recovered: false, streamPosition: position },
    ]);
    const all = ["<b>&é\u2028", { text: "東京 🌍", number: 2.5 }, 3];
    await server.backend.publishAll(channel, all);
    await subscription.publications.count(all.length);
    expect(heard(wire, subscription)).toEqual(all);
    expect(subscription.offsets).toEqual([2, 3, 4]);
    expect(client.reconnects).toBe(0);
  });

  it("[W2] bytes that aren't JSON arrive as they were published, live and from the history", async (test) => {
    const channel = `bytes-${wire.name}`;
    const bytes = Uint8Array.of(0xff, 0x00, 0xfe, 0x0a, 0x7b);
    const subscription = await open(test, wire, channel).subscribed(channel);
    await server.backend.publishFields(channel, {
      b64data: Buffer.from(bytes).toString("base64"),
      tags: { kind: "raw" },
    });
    const [live] = await subscription.publications.count(1);
    expect(live).toMatchObject({ tags: { kind: "raw" }, offset: 1 });
    expect(plain(live?.data)).toEqual(wire.opaque(bytes));
    const { publications } = await subscription.subscription.history({ limit: -1 });
    expect(publications.map(({ data }) => plain(data))).toEqual([wire.opaque(bytes)]);
  });

  it("[O4] a client's own publication comes before the answer to its publish", async (test) => {
    const channel = `publish-${wire.name}`;
    const { subscription, publications } = await open(test, wire, channel).subscribed(channel);
    const all = [{ number: 1 }, { number: 2 }, { number: 3 }];
    for (const [index, data] of all.entries()) {
      await subscription.publish(wire.encode(data));
      expect(publications.all).toHaveLength(index + 1);
    }
    expect(publications.all.map(({ data }) => wire.decode(data))).toEqual(all);
    expect(publications.all.at(-1)).toMatchObject({ offset: 3, info: { user: "alice" } });
    const history = await server.backend.history(channel);
    expect(history.publications.map(({ data }) => data)).toEqual(all);
  });

  it("[H2] a client reads the history in pages, in both directions", async (test) => {
    const channel = `history-${wire.name}`;
    const { epoch } = await server.backend.publishAll(channel, ["a", "b", "c", "d", "e"]);
    const { subscription } = await open(test, wire, channel).subscribed(channel);
    const position = await subscription.history({ limit: 0 });
    expect(position).toEqual({ publications: [], offset: 5, epoch });
    const page = await subscription.history({ limit: 2, since: { offset: 2, epoch } });
    expect(page.publications.map(({ data }) => wire.decode(data))).toEqual(["c", "d"]);
    const newest = await subscription.history({ limit: 2, reverse: true });
    expect(newest.publications.map(({ offset }) => offset)).toEqual([5, 4]);
    const wrong = subscription.history({ limit: 2, since: { offset: 2, epoch: "else" } });
    await expect(wrong).rejects.toMatchObject({ code: 112 });
  });

  it("[P1] [P2] a client sees who is there, who comes and who goes", async (test) => {
    const channel = `presence-${wire.name}`;
    const alice = await open(test, wire, channel).subscribed(channel, { joinLeave: true });
    await alice.joins.count(1);
    const bob = open(test, wire, channel, { token: signToken({ sub: "bob" }) });
    await bob.subscribed(channel);
    expect((await alice.joins.count(2))[1]?.info).toMatchObject({ user: "bob" });
    const { clients } = await alice.subscription.presence();
    const users = Object.values(clients).map(({ user }) => user);
    expect(users.sort()).toEqual(["alice", "bob"]);
    expect(await alice.subscription.presenceStats()).toMatchObject({ numClients: 2, numUsers: 2 });
    bob.close();
    expect((await alice.leaves.count(1))[0]?.info).toMatchObject({ user: "bob" });
  });

  it("[T5] a client that ends its connection isn't present any more within 2 s", async (test) => {
    const channel = `leave-${wire.name}`;
    const client = open(test, wire, channel);
    await client.subscribed(channel);
    const [connected] = client.connected.all;
    expect(await server.backend.presence(channel)).toMatchObject([{ client: connected?.client }]);
    client.close();
    expect(await freed(channel)).toBeLessThan(freedMsMax);
  });

  it("[T5] [R2] a client whose connection is cut isn't present within 2 s, and recovers what it missed", async (test) => {
    const channel = `cut-${wire.name}`;
    const { network, subscription } = await subscribeBehind(test, wire, channel);
    await server.backend.publishAll(channel, [1, 2]);
    await subscription.publications.count(2);
    network.break();
    expect(await freed(channel)).toBeLessThan(freedMsMax);
    await server.backend.publishAll(channel, [3, 4, 5]);
    network.mend();
    const [, again] = await subscription.subscribed.count(2);
    expect(again).toMatchObject({ wasRecovering: true, recovered: true });
    await server.backend.publish(channel, 6);
    await subscription.publications.count(6);
    expect(heard(wire, subscription)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(subscription.offsets).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("[C3] [C5] a client that doesn't renew its token is closed 3005, and asks for another when the old one is refused", async (test) => {
    const channel = `expiry-${wire.name}`;
    const client: SdkClient = open(test, wire, channel, {
      token: signToken({ sub: "alice", exp: secondsFromNow(-10) }),
      getToken: forgetfulTokens({ sub: "alice" }, () => client.connected.all.length > 0),
    });
    const subscription = await client.subscribed(channel);
    expect(client.errors.all[0]).toMatchObject({ error: { code: 109 } });
    await client.connected.count(2);
    expect(client.connecting.all.some(({ code }) => code === 3005)).toBe(true);
    await server.backend.publish(channel, "here again");
    await subscription.publications.count(1);
    expect(heard(wire, subscription)).toEqual(["here again"]);
  });

  it("[C5] a client that renews its token in time stays", async (test) => {
    const channel = `refresh-${wire.name}`;
    const ends: number[] = [];
    const client: SdkClient = open(test, wire, channel, {
      token: "",
      getToken: () => {
        const exp = secondsFromNow(client?.connected.all.length > 0 ? 60 : 2);
        ends.push(exp);
        return Promise.resolve(signToken({ sub: "alice", exp }));
      },
    });
    const subscription = await client.subscribed(channel);
    // The first one's end, and the delay after which it is closed.
    const [first = 0] = ends;
    await pause(first * 1_000 + 2_000 - Date.now());
    await server.backend.publish(channel, "still here");
    await subscription.publications.count(1);
    expect(ends).toHaveLength(2);
    expect(client.reconnects).toBe(0);
  });

  it("[C5] a subscription whose token isn't renewed ends with the push 2501, and comes back with another token", async (test) => {
    const channel = `$expiry-${wire.name}`;
    const client = open(test, wire, channel);
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

  it("[C3] a client is told for good that its token is bad, or that it has none", async (test) => {
    const channel = `refused-${wire.name}`;
    const forged = forgeries[0]?.forge({ sub: "alice" }) ?? "";
    for (const [token, code] of [
      [forged, 3500],
      ["", 3501],
    ] as const) {
      const client = open(test, wire, channel, { token });
      expect(await client.disconnected.count(1)).toMatchObject([{ code }]);
      expect(client.connected.all).toEqual([]);
      expect(client.reconnects).toBe(0);
    }
  });

  it("[A4] a subscription token of another user ends the connection for good with 3500", async (test) => {
    const channel = `$stolen-${wire.name}`;
    const client = open(test, wire, channel);
    const subscription = client.subscribe(channel, { token: signToken({ sub: "bob", channel }) });
    expect(await client.disconnected.count(1)).toMatchObject([
      { code: 3500, reason: "invalid token" },
    ]);
    expect(subscription.subscribed.all).toEqual([]);
  });

  it("[A1] a client is told what there isn't, and what it may not, and stays", async (test) => {
    const channel = `$closed-${wire.name}`;
    const client = open(test, wire, channel);
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
    // It would give up 1.5 s after a ping that isn't followed by another.
    const client = open(test, wire, channel, { maxServerPingDelay: 1_500 });
    const subscription = await client.subscribed(channel);
    await pause(5_500);
    await server.backend.publish(channel, "still here");
    await subscription.publications.count(1);
    expect(client.reconnects).toBe(0);
  });

  it("[D1] a document edited in steps arrives whole as patches, live, recovered and live again", async (test) => {
    const channel = `document:${wire.name}`;
    const { network, subscription } = await subscribeBehind(test, wire, channel, {
      delta: "fossil",
    });
    const live = editions.slice(0, 6);
    await server.backend.publishAll(channel, live);
    await subscription.publications.count(6);
    expect(subscription.subscription.deltaStats()).toMatchObject({
      numFullPayloads: 1,
      numDeltaPayloads: 5,
    });
    network.break();
    await freed(channel);
    await server.backend.publishAll(channel, editions.slice(6, 9));
    network.mend();
    await subscription.publications.count(9);
    await server.backend.publishAll(channel, editions.slice(9));
    await subscription.publications.count(editions.length);
    expect(heard(wire, subscription)).toEqual(editions);
    expect(subscription.errors.all).toEqual([]);
    expect(subscription.subscribing.all).toHaveLength(2);
    const stats = subscription.subscription.deltaStats();
    expect(stats.numDeltaPayloads).toBeGreaterThanOrEqual(5);
    expect(stats.compressionRatio).toBeGreaterThan(0.5);
  });

  it("[D5] a tags filter lets through what matches, live and recovered", async (test) => {
    const channel = `tagged:${wire.name}`;
    const { network, subscription } = await subscribeBehind(test, wire, channel, {
      tagsFilter: {
        op: "or",
        nodes: [
          { key: "kind", cmp: "in", vals: ["goal", "card"] },
          { key: "minute", cmp: "gte", val: "90" },
        ],
      },
    });
    const publish = async (data: number, tags: Record<string, string>) =>
      server.backend.publishFields(channel, { data, tags });
    await publish(1, { kind: "goal" });
    await publish(2, { kind: "pass", minute: "12" });
    await publish(3, { minute: "90.5" });
    await subscription.publications.count(2);
    network.break();
    await freed(channel);
    await publish(4, { kind: "card" });
    await publish(5, {});
    network.mend();
    await subscription.publications.count(3);
    await publish(6, { kind: "pass" });
    await publish(7, { kind: "goal" });
    await subscription.publications.count(4);
    expect(heard(wire, subscription)).toEqual([1, 3, 4, 7]);
    expect(subscription.subscribed.all[1]).toMatchObject({ recovered: true });
  });
});

describe("[T1] with all of them on one channel", () => {
  it("[O1] [F1] what each of them publishes, every one hears, once and in the same order", async (test) => {
    const channel = "everybody";
    const all = await Promise.all(
      wires.map(async (wire) => {
        const client = open(test, wire, channel);
        return { wire, subscription: await client.subscribed(channel) };
      }),
    );
    await Promise.all(
      all.map(({ wire, subscription }) =>
        subscription.subscription.publish(wire.encode({ from: wire.name, text: "ä" })),
      ),
    );
    const expected = (await server.backend.history(channel)).publications.map(({ data }) => data);
    expect(expected).toHaveLength(wires.length);
    for (const { wire, subscription } of all) {
      await subscription.publications.count(wires.length);
      expect(heard(wire, subscription)).toEqual(expected);
    }
  });
});

describe.each(wires)(
  "[S2] [T6] over $name, with the objects thrown away between all steps",
  (wire) => {
    it("a client hears, publishes, reads and leaves as if they had never slept", async (test) => {
      const channel = `evicted-${wire.name}`;
      const evict = async () => {
        const channelSlept = await server.asleep(channel);
        const gatewaySlept =
          wire.endpoint === "channel" || (await server.gatewayAsleep(firstGateway));
        expect(channelSlept && gatewaySlept).toBe(false);
      };
      const client = open(test, wire, channel);
      await client.connected.count(1);
      if (wire.endpoint === "gateway") await evict();
      const subscription = await client.subscribed(channel);
      await evict();
      await server.backend.publish(channel, 1);
      await subscription.publications.count(1);
      await evict();
      await subscription.subscription.publish(wire.encode(2));
      await evict();
      const { publications } = await subscription.subscription.history({ limit: -1 });
      expect(publications.map(({ data }) => wire.decode(data))).toEqual([1, 2]);
      await evict();
      expect(await server.backend.presence(channel)).toMatchObject([{ user: "alice" }]);
      expect(heard(wire, subscription)).toEqual([1, 2]);
      expect(client.reconnects).toBe(0);
      await evict();
      client.close();
      expect(await freed(channel)).toBeLessThan(freedMsMax);
    });
  },
);

/** The SDK's bytes are views of whole frames, of whatever class of buffer. */
function plain(data: unknown): unknown {
  return data instanceof Uint8Array ? new Uint8Array(data) : data;
}

/** A text whose characters change one at a time into others that share some of their bytes. */
const editions: readonly TestData[] = (() => {
  const filler = "Grüße aus Tōkyō: 東京の天気は晴れ。 ".repeat(12);
  const endings = ["ä", "å", "東", "杲", "🌍", "🌎", "🌎🌏", "ß", "", "é", "è"];
  return endings.map((ending, index) => ({
    version: index,
    text: `${filler.slice(0, 100)}${ending}${filler.slice(100)}${ending}`,
  }));
})();
