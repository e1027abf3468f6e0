import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { BreakableNetwork } from "../../support/sockets/breakable-network.ts";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { gatewayVariants } from "../../support/sockets/variant.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { secondsFromNow, signToken } from "../../support/test-tokens.ts";

const recoveryLimit = 10;
const kept = { presence: true, history_size: 100, history_ttl: "5m", force_recovery: true };
const config = {
  client: { recovery_max_publication_limit: recoveryLimit, channel_limit: 5 },
  channel: {
    // Nothing is open to clients here: the token alone opens these channels.
    without_namespace: { ...kept, join_leave: true },
    namespaces: [{ name: "plain", presence: true }],
  },
};

let server: TestServer;
let network: BreakableNetwork;
let client: SdkClient | undefined;

beforeAll(async () => {
  server = await TestServer.start({ config });
});
beforeEach(async () => {
  network = await BreakableNetwork.to(server.address);
});
afterEach(async () => {
  client?.close();
  await network.close();
});
afterAll(() => server.close());

function connect(token: string): SdkClient {
  client = new SdkClient(server.gatewayAddress(network.address), { token });
  return client;
}

describe.each(gatewayVariants)("[S2] in the situation $name", ({ name, betweenSteps: pause }) => {
  it("[C9] a token's channels are there when the client is connected, and their publications follow", async () => {
    const channels = [`${name}-one`, `plain:${name}-two`];
    const [one = "", two = ""] = channels;
    const position = await server.backend.publish(one, "before");
    const { connected, serverSide } = connect(signToken({ sub: "alice", channels }));
    await connected.count(1);
    expect([...serverSide.eventLog].sort()).toEqual(
      channels.map((channel) => `subscribed ${channel}`).sort(),
    );
    const subscribed = await serverSide.subscribed.first(({ channel }) => channel === one);
    expect(subscribed).toMatchObject({
      recoverable: true,
      positioned: true,
      streamPosition: position,
    });
    for (let number = 1; number <= 4; number++) {
      await pause(server, one);
      await Promise.all(channels.map((channel) => server.backend.publish(channel, number)));
    }
    await serverSide.publications.count(8);
    expect(serverSide.dataOf(one)).toEqual([1, 2, 3, 4]);
    expect(serverSide.dataOf(two)).toEqual([1, 2, 3, 4]);
    expect(await server.backend.presence(one)).toMatchObject([{ user: "alice" }]);
  });

  it("[C9] [R2] a client that was away gets exactly what it missed of each of the server's subscriptions", async () => {
    const channels = [`${name}-away`, `${name}-quiet`];
    const [away = "", quiet = ""] = channels;
    const { serverSide, connected } = connect(signToken({ sub: "alice", channels }));
    await connected.count(1);
    await server.backend.publishAll(away, [1, 2]);
    await serverSide.publications.count(2);
    await loseConnection(away);
    await pause(server, away);
    await server.backend.publishAll(away, [3, 4, 5]);
    await pause(server, away);
    network.mend();
    await connected.count(2);
    const again = (await serverSide.subscribed.count(4)).slice(2);
    expect(again).toMatchObject([
      { wasRecovering: true, recovered: true },
      { wasRecovering: true, recovered: true },
    ]);
    await pause(server, away);
    await server.backend.publish(away, 6);
    await server.backend.publish(quiet, "first");
    await serverSide.publications.count(7);
    expect(serverSide.dataOf(away)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(serverSide.dataOf(quiet)).toEqual(["first"]);
  });

  it("[C9] [R5] a client that missed too much is told so, subscription by subscription", async () => {
    const channels = [`${name}-much`, `${name}-little`];
    const [much = "", little = ""] = channels;
    const { serverSide, connected } = connect(signToken({ sub: "alice", channels }));
    await connected.count(1);
    await loseConnection(much);
    const missed = Array.from({ length: recoveryLimit }, (_, index) => index);
    await server.backend.publishAll(much, missed);
    await server.backend.publish(little, "missed");
    await pause(server, much);
    network.mend();
    await connected.count(2);
    const again = (await serverSide.subscribed.count(4)).slice(2);
    const recovered = Object.fromEntries(again.map((one) => [one.channel, one.recovered]));
    expect(recovered).toEqual({ [much]: false, [little]: true });
    await server.backend.publish(much, "after");
    await serverSide.publications.count(2);
    expect(serverSide.dataOf(much)).toEqual(["after"]);
    expect(serverSide.dataOf(little)).toEqual(["missed"]);
  });

  it("[C9] [P1] [P2] what a token's subs say of a subscription holds for it alone", async () => {
    const [first, second] = [`${name}-first`, `plain:${name}-second`];
    const subs = {
      [first]: {
        data: { greeting: "hello" },
        info: { role: "reader" },
        override: { force_push_join_leave: { value: true } },
      },
      [second]: { override: { presence: { value: false } } },
    };
    const { serverSide, connected } = connect(signToken({ sub: "alice", subs }));
    await connected.count(1);
    const subscribed = await serverSide.subscribed.count(2);
    const data = Object.fromEntries(subscribed.map((one) => [one.channel, one.data]));
    expect(data).toEqual({ [first]: { greeting: "hello" }, [second]: undefined });
    await pause(server, first);
    expect(await server.backend.presence(first)).toMatchObject([
      { user: "alice", chan_info: { role: "reader" } },
    ]);
    expect(await server.backend.presence(second)).toEqual([]);
    // The client receives its own join, because its token says so.
    await serverSide.joins.count(1);
    expect(serverSide.joins.all).toMatchObject([{ channel: first, info: { user: "alice" } }]);
  });
});

it("[C9] a refresh that names other channels makes the client come back, and it has those then", async () => {
  const tokens = [
    signToken({ sub: "alice", channels: ["former"], exp: secondsFromNow(3) }),
    signToken({ sub: "alice", channels: ["later"], exp: secondsFromNow(60) }),
  ];
  client = new SdkClient(server.gatewayAddress(), {
    getToken: () => Promise.resolve(tokens.shift() ?? ""),
  });
  const { connecting, connected, serverSide } = client;
  await connected.count(2);
  expect(connecting.all[1]).toMatchObject({ code: 3010 });
  expect(serverSide.unsubscribed.all).toMatchObject([{ channel: "former" }]);
  await server.backend.publish("former", "lost on it");
  await server.backend.publish("later", "heard");
  expect(await serverSide.publications.next()).toMatchObject({ channel: "later", data: "heard" });
});

it("[G1] a token with more channels than a connection may have is turned away for good", async () => {
  const channels = ["1", "2", "3", "4", "5", "6"];
  const { disconnected } = connect(signToken({ sub: "alice", channels }));
  expect(await disconnected.next()).toMatchObject({ code: 3505 });
});

it("[C9] on a channel's own socket a token's channels count for nothing", async () => {
  const token = signToken({ sub: "alice", channels: ["elsewhere"] });
  const socket = await RawSocket.open(server.socketAddress("here"));
  const answer = await socket.ask({ id: 1, connect: { token } });
  expect(answer.connect).not.toHaveProperty("subs");
  socket.close();
});

/** Cuts the client's connection and waits until the server has noticed. */
async function loseConnection(channel: string): Promise<void> {
  network.break();
  while ((await server.backend.presence(channel)).length > 0);
}
