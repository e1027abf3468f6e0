import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const personalChannel = { enabled: true, personal_channel_namespace: "own" };
const channel = {
  namespaces: [
    { name: "own", presence: true, history_size: 10, history_ttl: "1m", force_recovery: true },
  ],
};

let server: TestServer;
const opened: SdkClient[] = [];

afterEach(async () => {
  for (const client of opened.splice(0)) client.close();
  await server.close();
});

/** A client that is connected. */
async function connect(user: string): Promise<SdkClient> {
  const client = new SdkClient(server.gatewayAddress(), { token: signToken({ sub: user }) });
  opened.push(client);
  await client.connected.count(1);
  return client;
}

describe("a user's personal channel", () => {
  beforeEach(async () => {
    const client = { subscribe_to_user_personal_channel: personalChannel };
    server = await TestServer.start({ config: { client, channel } });
  });

  it("[C9] reaches all connections of the user and nobody else's", async () => {
    const first = await connect("alice");
    const second = await connect("alice");
    const other = await connect("bob");
    await server.backend.publish("own:#alice", "for alice");
    await server.backend.publish("own:#bob", "for bob");
    for (const { serverSide } of [first, second]) {
      expect(await serverSide.publications.next()).toMatchObject({ data: "for alice", offset: 1 });
    }
    expect(await other.serverSide.publications.next()).toMatchObject({ data: "for bob" });
    expect(first.serverSide.publications.all).toHaveLength(1);
  });
});

describe.each([
  { where: "on one gateway", connectionLimit: 5, gateways: ["na/0"] },
  { where: "on two gateways", connectionLimit: 2, gateways: ["na/0", "na/1"] },
])("with a single connection for each user, $where", ({ connectionLimit, gateways }) => {
  beforeEach(async () => {
    const client = {
      connection_limit: connectionLimit,
      subscribe_to_user_personal_channel: { ...personalChannel, single_connection: true },
    };
    server = await TestServer.start({ config: { client, channel } });
  });

  it("[C10] a user's new connection ends the former one for good, and nobody else's", async () => {
    const former = await connect("alice");
    const other = await connect("bob");
    await server.evictGateway("na/0");
    const latter = await connect("alice");
    expect(await former.disconnected.next()).toMatchObject({ code: 3504 });
    for (const gateway of gateways) expect(await server.gatewayAsleep(gateway)).toBe(false);
    await server.backend.publish("own:#alice", "for the latter");
    expect(await latter.serverSide.publications.next()).toMatchObject({ data: "for the latter" });
    expect(former.serverSide.publications.all).toEqual([]);
    expect(former.connecting.all).toHaveLength(1);
    expect(latter.reconnects + other.reconnects).toBe(0);
    expect(latter.disconnected.all).toEqual([]);
    expect(await server.backend.presence("own:#alice")).toHaveLength(1);
    expect(await server.backend.presence("own:#bob")).toHaveLength(1);
  });
});
