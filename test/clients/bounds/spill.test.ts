import { afterAll, beforeAll, expect, it } from "vitest";
import { ClientGroup, needDescriptors } from "../../support/sockets/client-group.ts";
import { TestServer } from "../../support/servers/test-server.ts";

const connectionLimit = 60;
const subscribers = 420;
const channel = "hot";
/** More than the gateways that it can take. */
const gateways = Array.from({ length: 24 }, (_, index) => `channel/${channel}/${index}`);

const config = {
  client: { connection_limit: connectionLimit, allow_anonymous_connect_without_token: true },
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
  // The runtime's own, beside those of the sockets, are about a hundred.
  needDescriptors(2 * subscribers + 500);
  server = await TestServer.start({ config });
  group = new ClientGroup();
});
afterAll(async () => {
  await group.end();
  await server.close();
});

it(
  "[G4] [O1] [P1] 420 sockets on one channel, of which an object takes 60, " +
    "hear the same and are present once; who comes later finds the room that others leave",
  { timeout: 300_000 },
  async () => {
    const address = server.socketAddress(channel, await server.runtimeAddress());
    await group.open(address, channel, subscribers);
    expect(await server.backend.presenceStats(channel)).toMatchObject({ num_clients: subscribers });
    await server.backend.publishAll(channel, [1, 2, 3, 4, 5]);
    const first = await group.received(5);
    expect(first.histories).toEqual([{ history: historyOf(1, 5), members: subscribers }]);

    // The next step finds no instance of any of them (rule S2). A gateway hibernates when nothing has happened there for
    // 10 s; the question for who is present wakes it.
    const others = subscribers / connectionLimit - 1;
    const filled = async () => {
      await server.backend.presenceStats(channel);
      return (await runningGateways()).length;
    };
    await expect.poll(filled).toBeGreaterThanOrEqual(others);
    await server.evict(channel);
    await server.backend.publishAll(channel, [6, 7, 8, 9, 10]);
    const second = await group.received(10);
    expect(second.histories).toEqual([{ history: historyOf(1, 10), members: subscribers }]);

    // The first sixty are all in the channel's own object. That was full, and isn't asked again for a while.
    const left = connectionLimit / 2;
    await group.leave(left);
    const stay = subscribers - left;
    expect(await server.backend.presenceStats(channel)).toMatchObject({ num_clients: stay });
    let newcomers = 0;
    do {
      await runningGateways();
      await group.open(address, channel, 1);
      newcomers++;
    } while ((await runningGateways()).length > 0);
    expect(await server.asleep(channel)).toBe(false);
    await server.backend.publish(channel, 11);
    const { histories } = await group.received(11);
    expect(histories).toEqual([
      { history: historyOf(1, 11), members: stay },
      { history: historyOf(11, 11), members: newcomers },
    ]);
  },
);

/** The gateways of the channel that had an instance running. They have none afterwards. */
async function runningGateways(): Promise<readonly string[]> {
  const asleep = await Promise.all(gateways.map((gateway) => server.gatewayAsleep(gateway)));
  return gateways.filter((_, index) => asleep[index] === false);
}

/** The received history of a member with the publications at these offsets, whose data is their offset. */
function historyOf(from: number, to: number): string {
  const offsets = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  return offsets.map((offset) => `${offset}:${offset}`).join(" ");
}
