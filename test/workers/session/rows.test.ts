import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { limits } from "../../../src/limits.ts";
import { ObjectSql } from "../../../workers/platform/object-sql.ts";
import { call, publish } from "../support/api-request.ts";
import { attachmentsOf, hibernate } from "../support/attachments.ts";
import { configure } from "../support/configure.ts";
import { newChannel } from "../support/new-channel.ts";
import { gatewayPlace, type Holder } from "../support/place.ts";
import { pushLine } from "../presence/presence-pushes.ts";
import { gatewayVariants, Variant } from "../support/variant.ts";
import { TestSocket } from "../support/test-socket.ts";
import { token } from "../support/sign-token.ts";
import { awake } from "../support/object-state.ts";
import { testConfig } from "../support/test-config.ts";
import { columnText } from "../../../src/sql.ts";

// So many of the longest names are more than an attachment holds.
const channelLimit = 70;
configure({ ...testConfig, client: { ...testConfig.client, channel_limit: channelLimit } });

const variant = new Variant(gatewayPlace(), awake);

afterEach(() => {
  vi.useRealTimers();
});

/** So many names of channels, of the greatest length there may be, of which the first one is given. */
function longNames(first: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) =>
    index === 0 ? first : `${first}-${index}`.padEnd(255, "x"),
  );
}

/** The sessions that lie in rows of a gateway: whose they are, and how long. */
function rowsOf(holder: Holder): Promise<readonly (readonly [string, number])[]> {
  return runInDurableObject<DurableObject, readonly (readonly [string, number])[]>(
    holder,
    (_, { storage }) => {
      const sql = new ObjectSql(storage);
      const [table] = sql.rows("SELECT name FROM sqlite_master WHERE name = 'session'");
      if (table === undefined) return [];
      return sql
        .rows("SELECT client, length(packed) AS length FROM session")
        .map((row) => [columnText(row, "client"), Number(row["length"])]);
    },
  );
}

/** Subscribes to all of them at once and gives the replies' errors, by channel. */
async function subscribeAll(
  socket: TestSocket,
  channels: readonly string[],
): Promise<readonly (number | undefined)[]> {
  const errors: (number | undefined)[] = channels.map(() => undefined);
  socket.send(...channels.map((channel, index) => ({ id: 100 + index, subscribe: { channel } })));
  for (const _ of channels) {
    const { id = 0, error } = await socket.next();
    errors[id - 100] = error?.code;
  }
  return errors;
}

describe.each(gatewayVariants)(
  "as many subscriptions as a connection may have, on $name",
  (one) => {
    it("[G1][G2] are remembered with the longest names there are, and one more is answered 106", async () => {
      const home = newChannel("plain");
      const channels = longNames(home, channelLimit);
      const socket = await one.connect(home, "ada");
      const errors = await subscribeAll(socket, [...channels, newChannel("plain")]);
      expect(errors).toStrictEqual([...channels.map(() => undefined), 106]);
      await one.betweenSteps(home);
      const last = channels.at(-1) ?? "";
      await publish(last, 1);
      expect(await socket.line()).toBe(pushLine(last, "pub", '{"data":1}'));
      await one.betweenSteps(home);
      expect(await socket.ask({ id: 3, subscribe: { channel: last } })).toMatchObject({
        error: { code: 105 },
      });
      expect((await call("presence_stats", { channel: last })).body).toContain('"num_clients":1');
      // A client that leaves a channel may subscribe to another one.
      await socket.ask({ id: 4, unsubscribe: { channel: last } });
      await one.betweenSteps(home);
      expect(await subscribeAll(socket, [newChannel("plain")])).toStrictEqual([undefined]);
    });
  },
);

describe("a session too large for an attachment", () => {
  it("[G2] lies in a row of the gateway until it fits again, or its socket closes", async () => {
    const home = newChannel("plain");
    const holder = variant.place.holder(home);
    const channels = longNames(home, channelLimit);
    const [ada, bob] = [await variant.connect(home, "ada"), await variant.connect(home, "bob")];
    expect(await rowsOf(holder)).toStrictEqual([]);
    await subscribeAll(ada, channels);
    await subscribeAll(bob, channels);
    const lengths = new Map(await rowsOf(holder));
    expect([...lengths.keys()].toSorted()).toStrictEqual([ada.client, bob.client].toSorted());
    expect(lengths.get(ada.client)).toBeGreaterThan(limits.attachmentBytesMax);
    const [attachment] = await attachmentsOf(holder);
    expect(attachment).toMatchObject({ stored: true });
    expect(JSON.stringify(attachment).length).toBeLessThan(limits.attachmentBytesMax);
    for (const channel of channels.slice(1)) ada.send({ id: 5, unsubscribe: { channel } });
    for (const _ of channels.slice(1)) await ada.line();
    expect(await rowsOf(holder)).toStrictEqual([[bob.client, expect.any(Number)]]);
    await hibernate(holder);
    expect(await rowsOf(holder)).toStrictEqual([[bob.client, expect.any(Number)]]);
    await publish(home, 1);
    for (const socket of [ada, bob]) expect(await socket.line()).toContain('"data":1');
    bob.close();
    await bob.closed;
    expect(await rowsOf(holder)).toStrictEqual([]);
  });

  it("[G2] keeps the claims of an upgrade's token until connect, however large they are", async () => {
    const home = newChannel("plain");
    const holder = variant.place.holder(home);
    const channels = Array.from({ length: channelLimit }, (_, index) =>
      `${home}-${index}`.padEnd(150, "x"),
    );
    const offered = await token({ sub: "ada", channels });
    const socket = TestSocket.on(
      await variant.place.upgrade(home, "", { Authorization: `Bearer ${offered}` }),
    );
    expect(await rowsOf(holder)).toStrictEqual([[expect.any(String), expect.any(Number)]]);
    await hibernate(holder);
    const { connect } = await socket.ask({ id: 1, connect: {} });
    expect(Object.keys(connect?.subs ?? {}).toSorted()).toStrictEqual(channels.toSorted());
    await publish(channels[7] ?? "", 1);
    expect(await socket.line()).toContain('"data":1');
    socket.close();
    await socket.closed;
    expect(await rowsOf(holder)).toStrictEqual([]);
  });

  it("[G2] leaves no row behind when its socket died with an instance that could not clean up", async () => {
    const home = newChannel("plain");
    const holder = variant.place.holder(home);
    const [ada, bob] = [await variant.connect(home, "ada"), await variant.connect(home, "bob")];
    await subscribeAll(ada, longNames(home, channelLimit));
    await runInDurableObject<DurableObject, void>(holder, (_, { storage }) => {
      new ObjectSql(storage).run("INSERT INTO session VALUES ('gone', '[]')");
    });
    await hibernate(holder);
    await bob.unread();
    expect(await rowsOf(holder)).toHaveLength(2);
    expect(await runDurableObjectAlarm(holder)).toBe(true);
    expect(await rowsOf(holder)).toStrictEqual([[ada.client, expect.any(Number)]]);
  });

  it("[G1] closes 3505 when a token names more than the limit", async () => {
    const home = newChannel("plain");
    const channels = Array.from({ length: channelLimit + 1 }, (_, index) => `${index}`);
    const socket = await variant.open(home);
    socket.send({ id: 1, connect: { token: await token({ sub: "ada", channels }) } });
    expect(await socket.closed).toStrictEqual({ code: 3505, reason: "channel limit" });
  });
});
