import { CpuShare } from "./cpu-share.ts";
import type { Connected } from "./connected.ts";
import type { Order, Report } from "./orders.ts";
import { plannedChanges, plannedPosts } from "./planned-posts.ts";
import { postInTurn } from "./post-in-turn.ts";
import { PostPool } from "./post-pool.ts";

/** Publishes so many times to one channel. Subscribers of the channel, if any, receive everything. */
export async function fillHistory(
  {
    channel,
    publications,
    publishers,
    keys,
    grow,
    dataBytes,
    batch = 1,
  }: Extract<Order, { order: "fill" }>,
  connected: Connected,
): Promise<Extract<Report, { order: "fill" }>> {
  const { server, subscribers } = connected;
  const cpu = new CpuShare();
  const pool = await PostPool.open(server.api, publishers, subscribers.failure);
  try {
    const channels = Array.from({ length: batch }, () => channel);
    const posts =
      keys === undefined
        ? plannedPosts(connected, channels, batch, dataBytes)
        : plannedChanges(connected, [channel], { keys, dataBytes, grow });
    let left = publications;
    const enough = (): boolean => (left -= batch) >= 0;
    const posted = await postInTurn(posts, publishers, pool, subscribers, enough);
    await subscribers.allDelivered();
    const seconds = (posted.lastAnswerAtMs - posted.firstPostAtMs) / 1000;
    return { order: "fill", busy: cpu.share, seconds };
  } finally {
    pool.end();
  }
}
