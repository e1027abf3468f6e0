import type { LoadChannel } from "./subscribers.ts";
import { CpuShare } from "./cpu-share.ts";
import type { Connected } from "./connected.ts";
import { dueTimesMs } from "./due-times.ts";
import { Metronome } from "./metronome.ts";
import type { Order, Report } from "./orders.ts";
import { PostPool } from "./post-pool.ts";
import { NumberedRequest } from "./post-request.ts";
import { publicationData, publicationIndexes } from "./publication-data.ts";
import { warmUpSeconds } from "./warm-up.ts";

/** Measures delivery latencies at a rate that doesn't depend on the system. */
export async function openLoop(
  order: Extract<Order, { order: "open-loop" }>,
  connected: Connected,
): Promise<Extract<Report, { order: "open-loop" }>> {
  const { server, subscribers } = connected;
  const connections = Math.min(mostConnections, 16 + Math.ceil(order.publicationsPerSecond / 4));
  const pool = await PostPool.open(server.api, connections, subscribers.failure);
  const metronome = await Metronome.start();
  const loop = new OpenLoop(order, connected, pool, metronome);
  try {
    await loop.run(warmUpSeconds(order.seconds), warmUpSeed);
    loop.latenciesMs.length = 0;
    pool.backlog = 0;
    const deliveredBefore = subscribers.deliveries.delivered;
    const cpu = new CpuShare();
    const { publications, beganAtMs, lastAnswerAtMs } = await loop.run(order.seconds, seed);
    const deliveries = subscribers.deliveries.delivered - deliveredBefore;
    const endedAtMs = deliveries === 0 ? lastAnswerAtMs : subscribers.deliveries.caughtUpAtMs;
    return {
      order: "open-loop",
      busy: cpu.share,
      publications,
      deliveries,
      seconds: (endedAtMs - beganAtMs) / 1000,
      latenciesMs: loop.latenciesMs.sort((one, other) => one - other),
      backlog: pool.backlog,
    };
  } finally {
    pool.end();
    await metronome.end();
  }
}

class OpenLoop {
  /** From the due time of a publication to its arrival, at the watched sockets. */
  readonly latenciesMs: number[] = [];
  readonly #connected: Connected;
  readonly #pool: PostPool;
  readonly #metronome: Metronome;
  readonly #perSecond: number;
  readonly #posts: readonly {
    readonly request: NumberedRequest;
    readonly channels: LoadChannel[];
  }[];

  constructor(
    { channels, dataBytes, publicationsPerSecond }: Extract<Order, { order: "open-loop" }>,
    connected: Connected,
    pool: PostPool,
    metronome: Metronome,
  ) {
    const { wire, server, subscribers } = connected;
    const data = publicationData(0, dataBytes);
    this.#connected = connected;
    this.#pool = pool;
    this.#metronome = metronome;
    this.#perSecond = publicationsPerSecond;
    this.#posts = channels.map((channel) => ({
      request: new NumberedRequest(wire.publish(channel, data), server.api),
      channels: [subscribers.channel(channel)],
    }));
  }

  /** Posts for so many seconds, and waits until every post is answered and delivered. */
  async run(
    seconds: number,
    dueSeed: number,
  ): Promise<{ publications: number; beganAtMs: number; lastAnswerAtMs: number }> {
    const { subscribers } = this.#connected;
    const beganAtMs = performance.now() + headStartMs;
    const dueAtMs = dueTimesMs(this.#perSecond, seconds, dueSeed).map((due) => beganAtMs + due);
    const watched = subscribers.some(watchedCount);
    for (const subscriber of watched)
      subscriber.watch((payload) => this.#measure(payload, dueAtMs));
    let unanswered = dueAtMs.length;
    const { promise: allAnswered, resolve } = Promise.withResolvers<void>();
    await this.#metronome.run(dueAtMs, (index) => {
      const post = this.#posts[index % this.#posts.length];
      if (post === undefined || subscribers.failure.isRaised) return;
      subscribers.publish(post.channels);
      this.#pool.post(post.request.numbered(index), () => {
        if (--unanswered === 0) resolve();
      });
    });
    await allAnswered;
    const lastAnswerAtMs = performance.now();
    await subscribers.allDelivered();
    for (const subscriber of watched) subscriber.watch(undefined);
    return { publications: dueAtMs.length, beganAtMs, lastAnswerAtMs };
  }

  #measure(payload: Buffer, dueAtMs: readonly number[]): void {
    const nowMs = performance.now();
    for (const index of publicationIndexes(payload)) {
      const dueMs = dueAtMs[index];
      if (dueMs === undefined)
        this.#connected.subscribers.failure.raise("a publication came that isn't ours");
      else this.latenciesMs.push(nowMs - dueMs);
    }
  }
}

/** So that the first post isn't late already. */
const headStartMs = 5;
const mostConnections = 256;
const watchedCount = 16;
const warmUpSeed = 1;
const seed = 2;
