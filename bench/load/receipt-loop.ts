import type { Connected } from "./connected.ts";
import { CpuShare } from "./cpu-share.ts";
import type { Order, Report } from "./orders.ts";
import { PostPool } from "./post-pool.ts";
import { NumberedRequest } from "./post-request.ts";
import { publicationData, publicationIndexes } from "./publication-data.ts";
import type { Subscriber } from "./subscriber.ts";
import { warmUpSeconds } from "./warm-up.ts";

/**
 * Measures how many deliveries a system bears when each is answered by a frame of the client. A publisher posts the next
 * publication when the last one is answered, and when no more receipts are unanswered than the other publishers'
 * publications bring; so what waits doesn't grow with the time that is measured.
 */
export async function receiptLoop(
  order: Extract<Order, { order: "receipts" }>,
  connected: Connected,
): Promise<Extract<Report, { order: "receipts" }>> {
  const { server, subscribers } = connected;
  const { receipts } = subscribers;
  const pool = await PostPool.open(server.api, order.publishers, subscribers.failure);
  const watched = subscribers.some(watchedCount);
  try {
    await postWithReceipts(order, connected, pool, watched, warmUpSeconds(order.seconds));
    receipts.latenciesMs = [];
    const answeredBefore = receipts.answered;
    const cpu = new CpuShare();
    const beganAtMs = performance.now();
    const latenciesMs = await postWithReceipts(order, connected, pool, watched, order.seconds);
    return {
      order: "receipts",
      busy: cpu.share,
      receipts: receipts.answered - answeredBefore,
      seconds: (performance.now() - beganAtMs) / 1000,
      latenciesMs: latenciesMs.sort((one, other) => one - other),
      receiptLatenciesMs: receipts.latenciesMs.sort((one, other) => one - other),
    };
  } finally {
    for (const subscriber of watched) subscriber.watch(undefined);
    pool.end();
  }
}

/**
 * Posts for so many seconds, and waits until every delivery's receipt is answered.
 *
 * @returns from a post to its arrival at each watched socket, ms
 */
async function postWithReceipts(
  { channel, publishers, dataBytes }: Extract<Order, { order: "receipts" }>,
  { wire, server, subscribers }: Connected,
  pool: PostPool,
  watched: readonly Subscriber[],
  seconds: number,
): Promise<number[]> {
  const { receipts, failure } = subscribers;
  const channels = [subscribers.channel(channel)];
  const request = new NumberedRequest(
    wire.publish(channel, publicationData(0, dataBytes)),
    server.api,
  );
  const untilMs = performance.now() + seconds * 1000;
  const postedAtMs: number[] = [];
  const latenciesMs: number[] = [];
  const measure = (payload: Buffer): void => {
    const nowMs = performance.now();
    for (const index of publicationIndexes(payload)) {
      const postedMs = postedAtMs[index];
      if (postedMs === undefined) failure.raise("a publication came that isn't ours");
      else latenciesMs.push(nowMs - postedMs);
    }
  };
  for (const subscriber of watched) subscriber.watch(measure);
  const publish = async (): Promise<void> => {
    while (performance.now() < untilMs && !failure.isRaised) {
      const index = postedAtMs.push(performance.now()) - 1;
      subscribers.publish(channels);
      await new Promise<void>((resolve) => pool.post(request.numbered(index), resolve));
      await receipts.missingAtMost((publishers - 1) * subscribers.all.length);
    }
  };
  await Promise.all(Array.from({ length: publishers }, publish));
  await subscribers.allDelivered();
  await receipts.missingAtMost(0);
  return latenciesMs;
}

const watchedCount = 16;
