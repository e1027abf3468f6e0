import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Endpoint, endpoints } from "../../support/sockets/endpoint.ts";
import { type Asked, type Closing, RawSocket } from "../../support/sockets/raw-socket.ts";
import { SdkClient, type SdkSubscription } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const publications = 100;
const publicationLength = 8_000;
/** Less than a client's queue holds, so that a single request is answered. */
const answerLength = publications * publicationLength;
const requests = 40;

const config = {
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      allow_publish_for_subscriber: true,
      allow_history_for_client: true,
      presence: true,
      // Without join_leave: announcements have a limit of their own, which would close the connection before the tested
      // one.
      history_size: publications,
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

/** A few kilobytes of commands with 32 MB of answers. */
const attacks: readonly {
  readonly demand: string;
  readonly commands: (channel: string) => readonly Asked[];
}[] = [
  { demand: "read the whole history", commands: historyReads },
  {
    // Answers that follow a publication of the same frame wait for it (rule O4): those, too, are held for the client.
    demand: "read the whole history, behind a publication of its own",
    commands: (channel) => [{ id: 9, publish: { channel, data: 0 } }, ...historyReads(channel)],
  },
];

describe.each(endpoints)("a client that doesn't read, at the endpoint of a $name,", (endpoint) => {
  it.each(attacks)(
    "[B1] [F4] is cut with 3008 when one frame asks 40 times to $demand",
    async (attack) => {
      const target = await targetWith(endpoint, attack.demand);
      target.hostile.send(...attack.commands(target.channel));
      await harmless(target);
      // Two answers fill the client's queue, the system's buffers hold one more, and a fourth one doesn't fit.
      expect(await endOf(target, 4)).toEqual(slow);
    },
  );

  it("[B1] [F4] is cut with 3008 when 40 frames ask to read the whole history", async () => {
    const target = await targetWith(endpoint, "frame by frame");
    for (const command of historyReads(target.channel)) target.hostile.send(command);
    await harmless(target);
    // The system's buffers hold some megabytes of single frames.
    expect(await endOf(target, requests / 2)).toEqual(slow);
  });

  it("[B1] [F4] is made to wait when one frame asks 40 times to leave and recover everything", async () => {
    const target = await targetWith(endpoint, "leave and recover");
    const { hostile, channel } = target;
    hostile.send(...recoveries(channel));
    await harmless(target);
    hostile.readAgain();
    const answers = await hostile.lines.count(1 + 2 * requests);
    // One that recovered is under way to it, and maybe one more that began when the system had taken the first; to recover
    // again it has to take these.
    const recovered = answers.filter((line) => line.includes('"recovered":true')).length;
    expect([1, 2]).toContain(recovered);
    expect(answers.filter((line) => line.includes('"code":111'))).toHaveLength(
      requests - recovered,
    );
    expect(hostile.receivedLength).toBeLessThan((recovered + 1) * answerLength);
    hostile.close();
    target.client.close();
  });
});

const slow = { code: 3008, reason: "slow" };

function recoveries(channel: string): readonly Asked[] {
  return Array.from({ length: requests }, (_, index) => [
    { id: 10 + 2 * index, unsubscribe: { channel } },
    { id: 11 + 2 * index, subscribe: { channel, recover: true, offset: 0 } },
  ]).flat();
}

function historyReads(channel: string): readonly Asked[] {
  return Array.from({ length: requests }, (_, index) => ({
    id: 10 + index,
    history: { channel, limit: -1 },
  }));
}

interface Target {
  readonly channel: string;
  readonly client: SdkClient;
  readonly healthy: SdkSubscription;
  readonly hostile: RawSocket;
}

/** A channel with its history, a subscriber that means well, and one that has stopped reading. */
async function targetWith(endpoint: Endpoint, name: string): Promise<Target> {
  const channel = `${endpoint.name}-${name.replaceAll(/\W+/g, "-")}`;
  const address = endpoint.address(server, channel);
  await publish(channel, publications);
  const client = new SdkClient(address, { token: signToken({ sub: "healthy" }) });
  const healthy = await client.subscribed(channel);
  const hostile = await RawSocket.connect(address, signToken({ sub: "hostile" }));
  await hostile.ask({ id: 2, subscribe: { channel } });
  hostile.stopReading();
  return { channel, client, healthy, hostile };
}

/** Waits until the hostile one isn't present any more, and checks that the others are served all the while. */
async function harmless({ channel, client, healthy }: Target): Promise<void> {
  while ((await server.backend.presence(channel)).length > 1) {
    await publish(channel, 1);
    await pause(50);
  }
  await publish(channel, 10);
  const { offset } = await server.backend.history(channel);
  await healthy.publications.count(offset - publications);
  expect(healthy.offsets).toEqual(
    Array.from({ length: offset - publications }, (_, index) => publications + index + 1),
  );
  expect(client.reconnects).toBe(0);
  expect(await server.backend.presence(channel)).toMatchObject([{ user: "healthy" }]);
}

/**
 * Reads the hostile client's messages and its close.
 *
 * @param answersMax how many of the large answers it may have received
 */
async function endOf({ client, hostile }: Target, answersMax: number): Promise<Closing> {
  hostile.readAgain();
  const closing = await hostile.closed;
  expect(hostile.receivedLength).toBeGreaterThan(answerLength);
  expect(hostile.receivedLength).toBeLessThan(answersMax * answerLength);
  client.close();
  return closing;
}

async function publish(channel: string, count: number): Promise<void> {
  const data = "x".repeat(publicationLength);
  const batch = Array.from({ length: count }, () => ({ data, idempotencyKey: "" }));
  for (let first = 0; first < count; first += 10)
    await server.backend.publishBatch(channel, batch.slice(first, first + 10));
}
