import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { freedMsMax } from "../../support/sockets/freed-ms-max.ts";
import { firstGateway } from "../../support/sockets/variant.ts";
import type { TestData } from "../../support/servers/test-backend.ts";
import { signToken } from "../../support/test-tokens.ts";
import { wires } from "../../support/sockets/wire.ts";
import { WiredServer } from "../../support/servers/wired-server.ts";

// Most of these tests wait: for pings, for ends of tokens, for presence to end.
vi.setConfig({ maxConcurrency: 24 });

let server: WiredServer;

beforeAll(async () => {
  server = await WiredServer.start();
});
afterAll(() => server.close());

describe.concurrent.each(wires)("[T1] [$rule] over $name", (wire) => {
  it("a client connects, subscribes, and hears what the backend publishes", async (test) => {
    const channel = `hear-${wire.name}`;
    const position = await server.backend.publish(channel, "before");
    const client = server.open(test, wire, channel);
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
    expect(wire.received(subscription)).toEqual(all);
    expect(subscription.offsets).toEqual([2, 3, 4]);
    expect(client.reconnects).toBe(0);
  });

  it("[W7] bytes that aren't JSON arrive as they were published, live and from the history", async (test) => {
    const channel = `bytes-${wire.name}`;
    const bytes = Uint8Array.of(0xff, 0x00, 0xfe, 0x0a, 0x7b);
    const subscription = await server.open(test, wire, channel).subscribed(channel);
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
    const { subscription, publications } = await server
      .open(test, wire, channel)
      .subscribed(channel);
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
    const { subscription } = await server.open(test, wire, channel).subscribed(channel);
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
    const alice = await server.open(test, wire, channel).subscribed(channel, { joinLeave: true });
    await alice.joins.count(1);
    const bob = server.open(test, wire, channel, { token: signToken({ sub: "bob" }) });
    await bob.subscribed(channel);
    expect((await alice.joins.count(2))[1]?.info).toMatchObject({ user: "bob" });
    const { clients } = await alice.subscription.presence();
    const users = Object.values(clients).map(({ user }) => user);
    expect(users.sort()).toEqual(["alice", "bob"]);
    expect(await alice.subscription.presenceStats()).toMatchObject({ numClients: 2, numUsers: 2 });
    bob.close();
    expect((await alice.leaves.count(1))[0]?.info).toMatchObject({ user: "bob" });
  });

  it("[T6] a client that ends its connection soon isn't present any more", async (test) => {
    const channel = `leave-${wire.name}`;
    const client = server.open(test, wire, channel);
    await client.subscribed(channel);
    const [connected] = client.connected.all;
    expect(await server.backend.presence(channel)).toMatchObject([{ client: connected?.client }]);
    client.close();
    expect(await server.freed(channel)).toBeLessThan(freedMsMax);
  });

  it("[T6] [R2] a client whose connection is cut soon isn't present, and recovers the missed publications", async (test) => {
    const channel = `cut-${wire.name}`;
    const { network, subscription } = await server.subscribeBehind(test, wire, channel);
    await server.backend.publishAll(channel, [1, 2]);
    await subscription.publications.count(2);
    network.break();
    expect(await server.freed(channel)).toBeLessThan(freedMsMax);
    await server.backend.publishAll(channel, [3, 4, 5]);
    network.mend();
    const [, again] = await subscription.subscribed.count(2);
    expect(again).toMatchObject({ wasRecovering: true, recovered: true });
    await server.backend.publish(channel, 6);
    await subscription.publications.count(6);
    expect(wire.received(subscription)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(subscription.offsets).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("[D1] [D2] a document edited in steps arrives whole as deltas, live, recovered and live again", async (test) => {
    const channel = `document:${wire.name}`;
    const { network, subscription } = await server.subscribeBehind(test, wire, channel, {
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
    await server.freed(channel);
    await server.backend.publishAll(channel, editions.slice(6, 9));
    network.mend();
    await subscription.publications.count(9);
    await server.backend.publishAll(channel, editions.slice(9));
    await subscription.publications.count(editions.length);
    expect(wire.received(subscription)).toEqual(editions);
    expect(subscription.errors.all).toEqual([]);
    expect(subscription.subscribing.all).toHaveLength(2);
    // Each time it comes the first one is whole.
    expect(subscription.subscription.deltaStats()).toMatchObject({
      numFullPayloads: 2,
      numDeltaPayloads: 9,
    });
  });

  it("[D3] a tags filter lets through what matches, live and recovered", async (test) => {
    const channel = `tagged:${wire.name}`;
    const { network, subscription } = await server.subscribeBehind(test, wire, channel, {
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
    await server.freed(channel);
    await publish(4, { kind: "card" });
    await publish(5, {});
    network.mend();
    await subscription.publications.count(3);
    await publish(6, { kind: "pass" });
    await publish(7, { kind: "goal" });
    await subscription.publications.count(4);
    expect(wire.received(subscription)).toEqual([1, 3, 4, 7]);
    expect(subscription.subscribed.all[1]).toMatchObject({ recovered: true });
  });
});

describe("[T1] with all of them on one channel", () => {
  it("[O1] [F1] all clients receive all publications of each other, once and in the same order", async (test) => {
    const channel = "everybody";
    const all = await Promise.all(
      wires.map(async (wire) => {
        const client = server.open(test, wire, channel);
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
      expect(wire.received(subscription)).toEqual(expected);
    }
  });
});

describe.each(wires)(
  "[S2] [T1] [T6] over $name, with the objects thrown away between all steps",
  (wire) => {
    /** Throws away the channel's object and the gateway's; one of them at least was awake. */
    const evictAll = async (channel: string) => {
      const channelSlept = await server.server.asleep(channel);
      const gatewaySlept =
        wire.endpoint === "channel" || (await server.server.gatewayAsleep(firstGateway));
      expect(channelSlept && gatewaySlept).toBe(false);
    };

    it("a client receives, publishes, reads and leaves as if they had never hibernated", async (test) => {
      const channel = `evicted-${wire.name}`;
      const evict = () => evictAll(channel);
      const client = server.open(test, wire, channel);
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
      expect(wire.received(subscription)).toEqual([1, 2]);
      expect(client.reconnects).toBe(0);
      await evict();
      client.close();
      expect(await server.freed(channel)).toBeLessThan(freedMsMax);
    });

    it("[D1] [D2] a document that is edited meanwhile arrives whole", async (test) => {
      const channel = `document:evicted-${wire.name}`;
      const client = server.open(test, wire, channel);
      const subscription = await client.subscribed(channel, { delta: "fossil" });
      for (const [index, edition] of editions.slice(0, 4).entries()) {
        await evictAll(channel);
        await server.backend.publishAll(channel, [edition]);
        await subscription.publications.count(index + 1);
      }
      expect(wire.received(subscription)).toEqual(editions.slice(0, 4));
      expect(subscription.errors.all).toEqual([]);
      expect(client.reconnects).toBe(0);
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
