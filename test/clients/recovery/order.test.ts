import { afterAll, beforeAll, expect, it } from "vitest";
import { type Endpoint, endpoints } from "../../support/sockets/endpoint.ts";
import { SdkClient, type SdkSubscription } from "../../support/sockets/sdk-client.ts";
import { firstGateway } from "../../support/sockets/variant.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const publications = 1_000;
const publishers = 8;
const subscribersEach = 5;
const channel = "order";

const config = {
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      history_size: publications,
      history_ttl: "10m",
      force_recovery: true,
    },
  },
};

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config });
});
afterAll(() => server.close());

it(
  "[O1] [O3] 1,000 publications of 8 publishers reach 10 subscribers once and in one order, 5 on the channel's own " +
    "object and 5 on a gateway, though both objects are thrown away at random all the while",
  { timeout: 240_000 },
  async () => {
    const everywhere = endpoints.flatMap((endpoint) =>
      Array.from({ length: subscribersEach }, () => endpoint),
    );
    const clients = await Promise.all(everywhere.map(subscribe));
    const acknowledged = new Map<number, number>();
    const [repeated, ...evictions] = await Promise.all([
      publishAll(acknowledged),
      evictAtRandom(clients[0], 2, () => server.asleep(channel)),
      evictAtRandom(clients.at(-1), 3, () => server.gatewayAsleep(firstGateway)),
    ]);
    for (const count of evictions) expect(count).toBeGreaterThan(10);
    expect(repeated.length).toBeGreaterThan(20);
    for (const { first, again } of repeated) expect(again).toEqual(first);

    const offsets = Array.from({ length: publications }, (_, index) => index + 1);
    for (const { client, subscription } of clients) {
      await subscription.publications.count(publications);
      expect(subscription.offsets).toEqual(offsets);
      for (const { data, offset } of subscription.publications.all) {
        expect(acknowledged.get(Number(data))).toBe(offset);
      }
      expect(client.reconnects).toBe(0);
    }
    // A gateway that crashes in the middle of its work signals insufficient state to its subscribers (rule L7), which
    // then return.
    const ownReaders = clients.filter(({ endpoint }) => endpoint.name === "channel");
    for (const { subscription } of ownReaders) {
      expect(subscription.subscribing.all).toHaveLength(1);
    }
    // As many different data as offsets: so no publication was made twice.
    expect(acknowledged.size).toBe(publications);
    expect(new Set(acknowledged.values()).size).toBe(publications);
    for (const { client } of clients) client.close();
  },
);

interface Reader {
  readonly endpoint: Endpoint;
  readonly client: SdkClient;
  readonly subscription: SdkSubscription;
}

async function subscribe(endpoint: Endpoint): Promise<Reader> {
  const token = signToken({ sub: "reader" });
  const client = new SdkClient(endpoint.address(server, channel), { token });
  return { endpoint, client, subscription: await client.subscribed(channel) };
}

/**
 * Publishes every number once, with its own idempotency key, and records the acknowledged offset.
 *
 * @returns the answers to repeated publishes
 */
async function publishAll(acknowledged: Map<number, number>): Promise<readonly Repeated[]> {
  const random = seededRandom(1);
  const waiting = requests(random);
  const repeated: Repeated[] = [];
  const publisher = async () => {
    for (let numbers = waiting.pop(); numbers !== undefined; numbers = waiting.pop()) {
      const offsets = await publish(numbers);
      for (const [index, offset] of offsets.entries()) {
        acknowledged.set(numbers[index] ?? Number.NaN, offset);
      }
      // A backend that lost the answer repeats its publish, and must get the same answer.
      if (random() < 0.15) repeated.push({ first: offsets, again: await publish(numbers) });
    }
  };
  await Promise.all(Array.from({ length: publishers }, publisher));
  return repeated;
}

/** All numbers, one to five for each request, so that the publishers don't spend the test on waiting for the disk. */
function requests(random: () => number): number[][] {
  const all: number[][] = [];
  for (let first = 0; first < publications; first += all.at(-1)?.length ?? 0) {
    const size = Math.min(1 + Math.floor(random() * 5), publications - first);
    all.push(Array.from({ length: size }, (_, index) => first + index));
  }
  return all;
}

interface Repeated {
  readonly first: readonly number[];
  readonly again: readonly number[];
}

/** Publishes until that is acknowledged, and gives the offsets: a request may fail with the object it was for. */
async function publish(numbers: readonly number[]): Promise<readonly number[]> {
  const batch = numbers.map((data) => ({ data, idempotencyKey: `number-${data}` }));
  for (let attempts = 0; ; attempts++) {
    try {
      const positions = await server.backend.publishBatch(channel, batch);
      return positions.map(({ offset }) => offset);
    } catch (error) {
      if (attempts === 100) throw error;
    }
  }
}

/**
 * Evicts an object repeatedly, each time after some more publications, and gives the number of evictions.
 *
 * @param reader one of its subscribers
 * @param asleep whether the object isn't running; evicts it if it is
 */
async function evictAtRandom(
  reader: Reader | undefined,
  seed: number,
  asleep: () => Promise<boolean>,
): Promise<number> {
  const received = reader?.subscription.publications.all ?? [];
  const random = seededRandom(seed);
  let evictions = 0;
  let next = 0;
  while (next < publications) {
    await reader?.subscription.publications.count(next);
    if (!(await asleep())) evictions++;
    next = received.length + Math.ceil(random() * 50);
  }
  return evictions;
}

/** Numbers in [0, 1) that are the same in every run: a linear congruential generator. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
