import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HttpStream } from "../../support/sockets/http-stream.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { secondsFromNow, signToken } from "../../support/test-tokens.ts";
import { firstGateway } from "../../support/sockets/variant.ts";

const config = {
  client: { allow_anonymous_connect_without_token: true },
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      allow_subscribe_for_anonymous: true,
      presence: true,
      history_size: 10,
      history_ttl: "1m",
      force_recovery: true,
    },
  },
  http_stream: { enabled: true },
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

async function connect(address: string, user: string): Promise<SdkClient> {
  const client = new SdkClient(address, user === "" ? {} : { token: signToken({ sub: user }) });
  opened.push(client);
  await client.connected.count(1);
  return client;
}

/** A stream of a user that is subscribed to the channel. */
async function openStream(channel: string, user: string): Promise<HttpStream> {
  const frame = [
    { id: 1, connect: { token: signToken({ sub: user }) } },
    { id: 2, subscribe: { channel } },
  ];
  const body = frame.map((command) => JSON.stringify(command)).join("\n");
  const stream = await HttpStream.post(`${server.address}/connection/http_stream`, body);
  await stream.until((text) => text.includes(`"id":2`));
  return stream;
}

describe.each([
  { state: "awake", evict: async () => undefined },
  {
    state: "asleep",
    evict: async (channel: string) => {
      await server.evictGateway(firstGateway);
      await server.evict(channel);
    },
  },
])(
  "a user on a gateway, on a channel's object and on an HTTP stream, $state",
  ({ state, evict }) => {
    it("[U1] a user is thrown out of all of them, and doesn't come back; others stay", async () => {
      const channel = `out-${state}`;
      const user = `ada-${state}`;
      const clients = [
        await connect(server.gatewayAddress(), user),
        await connect(server.socketAddress(channel), user),
      ];
      const stream = await openStream(channel, user);
      const other = await connect(server.gatewayAddress(), "bob");
      const heard = await other.subscribed(channel);
      for (const client of clients) await client.subscribed(channel);
      await evict(channel);
      await server.backend.disconnect({ user });
      await server.backend.publish(channel, "after");
      for (const { disconnected } of clients) {
        expect(await disconnected.next()).toMatchObject({ code: 3503, reason: "force disconnect" });
      }
      expect(await stream.ended).toBe("end");
      expect(stream.text).toContain(`"disconnect":{"code":3503,"reason":"force disconnect"`);
      expect(stream.text).not.toContain("after");
      expect(await heard.publications.next()).toMatchObject({ data: "after" });
      expect(other.disconnected.all).toHaveLength(0);
    });

    it("[T2] a disconnect with code 3000 looks like a lost connection", async () => {
      const channel = `lost-${state}`;
      const user = `cy-${state}`;
      const clients = [
        await connect(server.gatewayAddress(), user),
        await connect(server.socketAddress(channel), user),
      ];
      const stream = await openStream(channel, user);
      await evict(channel);
      await server.backend.disconnect({ user, disconnect: { code: 3000, reason: "lost" } });
      expect(await stream.ended).toBe("end");
      expect(stream.text).not.toContain("disconnect");
      for (const { connecting, connected } of clients) {
        await connected.count(2);
        expect(connecting.all.at(-1)).toEqual({ code: 1, reason: "transport closed" });
      }
    });

    it("[U2] a user's subscription ends on all of them, and the connections stay", async () => {
      const channel = `silent-${state}`;
      const user = `eve-${state}`;
      const clients = [
        await connect(server.gatewayAddress(), user),
        await connect(server.socketAddress(channel), user),
      ];
      const subscriptions = await Promise.all(clients.map((client) => client.subscribed(channel)));
      await evict(channel);
      await server.backend.unsubscribe({ user, channel });
      await server.backend.publish(channel, "after");
      for (const { unsubscribed, publications } of subscriptions) {
        expect(await unsubscribed.next()).toMatchObject({
          code: 2000,
          reason: "server unsubscribe",
        });
        expect(publications.all).toHaveLength(0);
      }
      expect(await server.backend.presence(channel)).toHaveLength(0);
      for (const { disconnected } of clients) expect(disconnected.all).toHaveLength(0);
    });

    it("[U7] [U35] a user is subscribed on all of them, and recovers after a reconnect", async () => {
      const channel = `invited-${state}`;
      const user = `joe-${state}`;
      const { epoch } = await server.backend.publish(channel, "missed");
      const clients = [
        await connect(server.gatewayAddress(), user),
        await connect(server.socketAddress(channel), user),
      ];
      await evict(channel);
      await server.backend.subscribe({ user, channel, recover_since: { epoch, offset: 0 } });
      await server.backend.publish(channel, "after");
      for (const { serverSide } of clients) {
        expect(await serverSide.subscribed.next()).toMatchObject({ channel });
        expect(await serverSide.publications.next()).toMatchObject({ data: "missed", offset: 1 });
        expect(await serverSide.publications.next()).toMatchObject({ data: "after", offset: 2 });
      }
      expect(await server.backend.presence(channel)).toHaveLength(2);
    });

    it("[U9] a blocked user is thrown out and stays out, until the block is taken back", async () => {
      const channel = `barred-${state}`;
      const user = `max-${state}`;
      const client = await connect(server.gatewayAddress(), user);
      await client.subscribed(channel);
      await evict(channel);
      await server.backend.block(user);
      expect(await client.disconnected.next()).toMatchObject({ code: 3507 });
      for (const address of [server.gatewayAddress(), server.socketAddress(channel)]) {
        const again = new SdkClient(address, { token: signToken({ sub: user }) });
        opened.push(again);
        expect(await again.disconnected.next()).toMatchObject({ code: 3507 });
        expect(again.connected.all).toHaveLength(0);
        expect(again.reconnects).toBe(0);
      }
      await server.backend.unblock(user);
      await connect(server.gatewayAddress(), user);
    });

    it("[U10] a revoked token ends what was made with it on all of them, and lets nobody in", async () => {
      const channel = `$revoked-${state}`;
      const [user, jti] = [`kim-${state}`, `token-${state}`];
      const open = async (address: string, claims: object): Promise<SdkClient> => {
        const client = new SdkClient(address, { token: signToken({ sub: user, ...claims }) });
        opened.push(client);
        return client;
      };
      const addresses = [server.gatewayAddress(), server.socketAddress(channel)];
      for (const address of addresses) await (await open(address, { jti })).connected.count(1);
      const clients = opened.slice(-2);
      const reader = await connect(server.gatewayAddress(), user);
      const token = signToken({ sub: user, channel, jti });
      const subscription = await reader.subscribed(channel, { token });
      await evict(channel);
      await server.backend.revoke(jti);
      await server.backend.publish(channel, "after");
      for (const { disconnected } of clients)
        expect(await disconnected.next()).toMatchObject({ code: 3500, reason: "invalid token" });
      expect(await subscription.unsubscribed.next()).toMatchObject({ code: 2000 });
      expect(subscription.publications.all).toHaveLength(0);
      expect(reader.disconnected.all).toHaveLength(0);
      for (const address of addresses) {
        const again = await open(address, { jti });
        expect(await again.disconnected.next()).toMatchObject({ code: 3500 });
        expect(again.connected.all).toHaveLength(0);
      }
    });

    it("[U11] a user's tokens of before are invalid on all of them, and a newer one is good", async () => {
      const channel = `older-${state}`;
      const user = `lee-${state}`;
      const clients = [
        await connect(server.gatewayAddress(), user),
        await connect(server.socketAddress(channel), user),
      ];
      const stream = await openStream(channel, user);
      await evict(channel);
      await server.backend.invalidate(user);
      for (const { disconnected } of clients)
        expect(await disconnected.next()).toMatchObject({ code: 3500, reason: "invalid token" });
      expect(await stream.ended).toBe("end");
      expect(stream.text).toContain(`"disconnect":{"code":3500,"reason":"invalid token"`);
      const token = signToken({ sub: user, iat: secondsFromNow(60) });
      const newer = new SdkClient(server.gatewayAddress(), { token });
      opened.push(newer);
      await newer.connected.count(1);
    });

    it("[U6] an anonymous connection is thrown out by its ID, on either address", async () => {
      const channel = `nobody-${state}`;
      for (const address of [server.gatewayAddress(), server.socketAddress(channel)]) {
        const [one, two] = [await connect(address, ""), await connect(address, "")];
        await server.backend.publish(channel, "wake");
        if (state === "asleep" && address === server.gatewayAddress())
          await server.evictGateway(firstGateway);
        const client = one.connected.all[0]?.client ?? "";
        await server.backend.disconnect({ client });
        expect(await one.disconnected.next()).toMatchObject({ code: 3503 });
        expect(two.disconnected.all).toHaveLength(0);
      }
    });
  },
);
