import { CpuShare } from "./cpu-share.ts";
import type { Connected } from "./connected.ts";
import type { Order, Report } from "./orders.ts";
import { plannedPosts } from "./planned-posts.ts";
import { postInTurn } from "./post-in-turn.ts";
import { PostPool } from "./post-pool.ts";

/** Measures when one publication reaches the first of its subscribers, and when the last. */
export async function singlePublication(
  { channel, dataBytes }: Extract<Order, { order: "single" }>,
  connected: Connected,
): Promise<Extract<Report, { order: "single" }>> {
  const { server, subscribers } = connected;
  const { deliveries } = subscribers;
  const pool = await PostPool.open(server.api, 1, subscribers.failure);
  try {
    const posts = plannedPosts(connected, [channel], 1, dataBytes);
    const cpu = new CpuShare();
    deliveries.firstAtMs = 0;
    let left = 1;
    const once = (): boolean => left-- > 0;
    const posted = await postInTurn(posts, 1, pool, subscribers, once);
    await subscribers.allDelivered();
    return {
      order: "single",
      busy: cpu.share,
      firstMs: deliveries.firstAtMs - posted.firstPostAtMs,
      lastMs: deliveries.caughtUpAtMs - posted.firstPostAtMs,
      answerMs: posted.lastAnswerAtMs - posted.firstPostAtMs,
    };
  } finally {
    pool.end();
  }
}
