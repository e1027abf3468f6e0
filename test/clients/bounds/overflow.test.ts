import { afterAll, beforeAll, expect, it } from "vitest";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { TestServer } from "../../support/servers/test-server.ts";

const connectionLimit = 30;
const clients = 75;
const channel = "news";
const gateways = ["na/0", "na/1", "na/2", "na/3"];

const config = {
  client: { connection_limit: connectionLimit, allow_anonymous_connect_without_token: true },
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      allow_subscribe_for_anonymous: true,
      presence: true,
      history_size: 10,
      history_ttl: "5m",
      force_recovery: true,
    },
  },
};

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config });
});
afterAll(() => server.close());

it("[G3] [L5] 75 clients fill gateways of 30 in order and receive the same, and the upper gateways drain", async () => {
  const sockets: RawSocket[] = [];
  while (sockets.length < clients) sockets.push(await subscriber());
  // A gateway hibernates when nothing has happened there for 10 s; the question for who is present wakes it.
  const filled = async () => {
    expect(await server.backend.presenceStats(channel)).toMatchObject({ num_clients: clients });
    return running();
  };
  await expect.poll(filled).toEqual(["na/0", "na/1", "na/2"]);

  await server.backend.publishAll(channel, [1, 2, 3]);
  for (const socket of sockets) await socket.lines.first((line) => line.includes('"offset":3'));
  expect(new Set(sockets.map(pushesOf)).size).toBe(1);

  // The first thirty are all of the lowest gateway. Those that come later are to find it, and none of the others.
  await leave(sockets.splice(0, connectionLimit));
  const newcomers: RawSocket[] = [];
  while (newcomers.length < connectionLimit / 2) {
    await running();
    const newcomer = await RawSocket.open(server.gatewayAddress());
    if ((await running()).join() === "na/0") newcomers.push(newcomer);
    else await leave([newcomer]);
  }

  // Once all clients of the last gateway have left, a delivery finds no subscriber there, and no other one is made. A
  // delivery whose answer is lost because the gateway is put to sleep meanwhile is made again.
  await leave(sockets.splice(connectionLimit));
  let undisturbed = 0;
  for (let data = 4; undisturbed < 2; data++) {
    await server.backend.publish(channel, data);
    for (const { lines } of sockets) await lines.first((line) => line.includes(`"offset":${data}`));
    undisturbed = (await server.gatewayAsleep("na/2")) ? undisturbed + 1 : 0;
  }
  expect(new Set(sockets.map(pushesOf)).size).toBe(1);
  for (const socket of [...sockets, ...newcomers]) socket.close();
});

async function subscriber(): Promise<RawSocket> {
  const socket = await RawSocket.open(server.gatewayAddress());
  socket.send({ id: 1, connect: {} }, { id: 2, subscribe: { channel } });
  await socket.lines.first((line) => line.startsWith('{"id":2,"subscribe"'));
  return socket;
}

/** The gateways that had an instance running. They have none afterwards. */
async function running(): Promise<readonly string[]> {
  const asleep = await Promise.all(gateways.map((gateway) => server.gatewayAsleep(gateway)));
  return gateways.filter((_, index) => asleep[index] === false);
}

/** Closes the sockets and waits until the server has let go of them. */
async function leave(sockets: readonly RawSocket[]): Promise<void> {
  for (const socket of sockets) socket.close();
  await Promise.all(sockets.map(({ closed }) => closed));
}

function pushesOf({ lines }: RawSocket): string {
  return lines.all.filter((line) => line.startsWith('{"push"')).join("\n");
}
