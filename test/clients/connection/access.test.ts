import type { Options, SubscriptionOptions } from "centrifuge";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../support/sockets/endpoint.ts";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { variants } from "../../support/sockets/variant.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { secondsFromNow, signToken } from "../../support/test-tokens.ts";

const openToClients = {
  allow_subscribe_for_client: true,
  allow_user_limited_channels: true,
  allow_publish_for_client: true,
  allow_presence_for_client: true,
  allow_history_for_client: true,
  presence: true,
  history_size: 10,
  history_ttl: "1m",
};

const config = {
  channel: {
    without_namespace: { allow_subscribe_for_client: true, allow_user_limited_channels: true },
    namespaces: [
      { name: "closed" },
      { name: "quiet", allow_subscribe_for_client: true },
      {
        name: "guarded",
        allow_subscribe_for_client: true,
        presence: true,
        history_size: 10,
        history_ttl: "1m",
      },
      {
        name: "own",
        ...openToClients,
        limited_channels_for_subscribers_only: true,
      },
    ],
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

function open(address: string, options: Partial<Options>): SdkClient {
  const client = new SdkClient(address, options);
  opened.push(client);
  return client;
}

function openAs(address: string, user: string): SdkClient {
  return open(address, { token: signToken({ sub: user }) });
}

describe.each(variants)(
  "[S2] in the situation $name",
  ({ name, endpoint, betweenSteps: pause }) => {
    it("[C3] a client whose token has expired is told so, fetches another and connects", async () => {
      const channel = `${name}-expired`;
      let fetched = 0;
      const client = open(endpoint.address(server, channel), {
        token: signToken({ sub: "alice", exp: secondsFromNow(-60) }),
        getToken: async () => {
          fetched++;
          await pause(server, channel);
          return signToken({ sub: "alice" });
        },
      });
      await client.connected.count(1);
      expect(fetched).toBe(1);
      expect(client.disconnected.all).toEqual([]);
    });

    it("[A4] a subscription token opens a private channel, with what it says of the subscriber", async () => {
      const channel = `$${name}-private`;
      const client = openAs(endpoint.address(server, channel), "alice");
      await client.connected.count(1);
      await pause(server, channel);
      const { subscribed } = await client.subscribed(channel, {
        token: signToken({ sub: "alice", channel, data: { greeting: "hello" } }),
      });
      expect(subscribed.all).toMatchObject([{ data: { greeting: "hello" } }]);
    });
  },
);

describe.each(endpoints)("at the endpoint of a $name", ({ name, address }) => {
  const connectAs = (channel: string, user: string) => openAs(address(server, channel), user);

  /** Subscribes where that is refused, and gives the code it is refused with. */
  const refusal = async (
    channel: string,
    user: string,
    options: Partial<SubscriptionOptions> = {},
  ) => {
    const { unsubscribed } = connectAs(channel, user).subscribe(channel, options);
    return (await unsubscribed.next()).code;
  };

  it("[A5] a private channel stays closed without a token, whatever the namespace opens", async () => {
    expect(await refusal("$private", "alice")).toBe(103);
  });

  it("[A5] a user-limited channel opens to its users and to nobody else", async () => {
    const channel = "talk#alice,bob";
    await connectAs(channel, "alice").subscribed(channel);
    await connectAs(channel, "bob").subscribed(channel);
    expect(await refusal(channel, "carol")).toBe(103);
    const token = signToken({ sub: "carol", channel });
    await connectAs(channel, "carol").subscribed(channel, { token });
  });

  it.each(["own:talk#alice", "$own:talk"])(
    "[A5] %s is open to its subscribers alone, where the namespace says so",
    async (channel) => {
      const { client: carol } = connectAs(channel, "carol");
      await expect(carol.publish(channel, "x")).rejects.toMatchObject({ code: 103 });
      await expect(carol.history(channel, { limit: 1 })).rejects.toMatchObject({ code: 103 });
      await expect(carol.presence(channel)).rejects.toMatchObject({ code: 103 });
      await expect(carol.presenceStats(channel)).rejects.toMatchObject({ code: 103 });
      const token = signToken({ sub: "alice", channel });
      const alice = await connectAs(channel, "alice").subscribed(channel, { token });
      await alice.subscription.publish("mine");
      expect(await alice.publications.next()).toMatchObject({ data: "mine" });
      const { publications } = await alice.subscription.history({ limit: 10 });
      expect(publications.map(({ data }) => data)).toEqual(expect.arrayContaining(["mine"]));
      expect(publications.map(({ data }) => data)).not.toContain("x");
    },
  );

  it("[A1] a namespace that opens nothing refuses a subscription with 103", async () => {
    expect(await refusal("closed:news", "alice")).toBe(103);
  });

  it("[A1] a subscriber's command is refused with 103 without permission, and with 108 without the feature", async () => {
    const guarded = (await connectAs("guarded:news", "alice").subscribed("guarded:news"))
      .subscription;
    await expect(guarded.publish("x")).rejects.toMatchObject({ code: 103 });
    await expect(guarded.history({ limit: 1 })).rejects.toMatchObject({ code: 103 });
    await expect(guarded.presence()).rejects.toMatchObject({ code: 103 });
    const quiet = (await connectAs("quiet:news", "alice").subscribed("quiet:news")).subscription;
    await expect(quiet.history({ limit: 1 })).rejects.toMatchObject({ code: 108 });
    await expect(quiet.presenceStats()).rejects.toMatchObject({ code: 108 });
  });

  it("[A1] nothing is published by a publish that is refused", async () => {
    const channel = `guarded:silence-${name}`;
    const { subscription, publications } = await connectAs(channel, "alice").subscribed(channel);
    await expect(subscription.publish("refused")).rejects.toMatchObject({ code: 103 });
    await server.backend.publish(channel, "allowed");
    expect(await publications.next()).toMatchObject({ data: "allowed", offset: 1 });
  });

  it("[W1] a second subscription of the same connection is answered 105", async () => {
    const socket = await RawSocket.connect(address(server, "twice"), signToken({ sub: "alice" }));
    await socket.ask({ id: 2, subscribe: { channel: "twice" } });
    const answer = await socket.ask({ id: 3, subscribe: { channel: "twice" } });
    expect(answer).toEqual({ id: 3, error: { code: 105, message: "already subscribed" } });
    socket.close();
  });

  it("[C6] a namespace nobody configured is unknown", async () => {
    expect(await refusal("nowhere:news", "alice")).toBe(102);
  });

  it("[C3] a client without a token is turned away for good", async () => {
    const client = open(address(server, "news"), {});
    expect(await client.disconnected.next()).toMatchObject({ code: 3501 });
  });

  it("[C3] a client with an invalid token is turned away for good", async () => {
    const client = open(address(server, "news"), {
      token: signToken({ sub: "alice" }, "another secret"),
    });
    expect(await client.disconnected.next()).toMatchObject({ code: 3500 });
  });

  it("[C3] a token at the upgrade is enough for a client that sends none itself", async () => {
    const token = signToken({ sub: "alice" });
    const client = open(`${address(server, "news")}?token=${token}`, {});
    const { subscribed } = await client.subscribed("news");
    expect(subscribed.all).toHaveLength(1);
  });
});

it("[C6] a connection to one channel finds no other", async () => {
  const client = openAs(server.socketAddress("one"), "alice");
  expect((await client.subscribe("another").unsubscribed.next()).code).toBe(102);
  await client.subscribed("one");
});
