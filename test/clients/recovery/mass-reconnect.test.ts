import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ClientGroup, needDescriptors } from "../../support/sockets/client-group.ts";
import { TestServer } from "../../support/servers/test-server.ts";

/** So many that a gateway closes them for a while. The bench cuts 8,000. */
const clients = 500;
const missed = 20;
const channel = "stadium";

const config = {
  client: { allow_anonymous_connect_without_token: true },
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      allow_subscribe_for_anonymous: true,
      presence: true,
      history_size: 100,
      history_ttl: "5m",
      force_recovery: true,
    },
  },
};

let server: TestServer;
let group: ClientGroup;

beforeAll(async () => {
  // Those that were cut may still be there when they come back.
  needDescriptors(4 * clients);
  server = await TestServer.start({ config });
  group = new ClientGroup();
});
afterAll(async () => {
  await group.end();
  await server.close();
});

it(
  "[L6] [R2] 500 clients of a gateway that are cut all at once come back together, and get exactly the 20 they missed",
  { timeout: 300_000 },
  async () => {
    const address = server.gatewayAddress(await server.runtimeAddress());
    await group.open(address, channel, clients);
    await server.backend.publish(channel, 1);
    await group.received(1);
    await group.cut();
    // To count thousands takes the server as long as to close some hundreds.
    while ((await clientsLeft()) > 0) await pause(500);
    const offsets = Array.from({ length: 1 + missed }, (_, index) => index + 1);
    await server.backend.publishAll(channel, offsets.slice(1));
    const back = await group.reconnect(address, channel);
    const received = offsets.map((offset) => `${offset}:${offset}`).join(" ");
    expect(back).toMatchObject({ members: clients, recovered: clients });
    expect(back.histories).toEqual([{ history: received, members: clients }]);
    await server.backend.publish(channel, "live");
    const { histories } = await group.received(offsets.length + 1);
    expect(histories).toEqual([{ history: `${received} ${missed + 2}:live`, members: clients }]);
    expect(await server.backend.presenceStats(channel)).toMatchObject({ num_clients: clients });
  },
);

/** How many clients are present. While a gateway closes thousands, it may answer too late, and the API with 503. */
async function clientsLeft(): Promise<number> {
  try {
    return (await server.backend.presenceStats(channel)).num_clients;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
