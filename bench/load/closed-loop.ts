import { CpuShare } from "./cpu-share.ts";
import type { Connected } from "./connected.ts";
import type { Order, Report } from "./orders.ts";
import { plannedCalls, plannedChanges, plannedPosts, type PlannedPost } from "./planned-posts.ts";
import { type Posted, postInTurn } from "./post-in-turn.ts";
import { PostPool } from "./post-pool.ts";
import { warmUpSeconds } from "./warm-up.ts";

/** Measures a system's throughput when every publisher waits for its answers. */
export async function closedLoop(
  order: Extract<Order, { order: "closed-loop" }>,
  connected: Connected,
): Promise<Extract<Report, { order: "closed-loop" }>> {
  const { subscribers, server } = connected;
  const posts = postsOf(order, connected);
  const pool = await PostPool.open(server.api, order.publishers, subscribers.failure);
  const run = async (seconds: number): Promise<Posted & { readonly leftOut: number }> => {
    const untilMs = performance.now() + seconds * 1000;
    const inTime = (): boolean => performance.now() < untilMs;
    const posted = await postInTurn(posts, order.publishers, pool, subscribers, inTime);
    if (order.onlyNewest === true) return { ...posted, leftOut: await subscribers.quiet() };
    await subscribers.allDelivered();
    return { ...posted, leftOut: 0 };
  };
  try {
    await run(warmUpSeconds(order.seconds));
    const total = subscribers.deliveries;
    const before = {
      delivered: total.delivered,
      frames: subscribers.frames,
      bytes: subscribers.bytes,
    };
    const cpu = new CpuShare();
    const posted = await run(order.seconds);
    const deliveries = total.delivered - before.delivered;
    const endedAtMs = deliveries === 0 ? posted.lastAnswerAtMs : total.lastAtMs;
    return {
      order: "closed-loop",
      busy: cpu.share,
      publications: posted.publications,
      deliveries,
      leftOut: posted.leftOut,
      seconds: (endedAtMs - posted.firstPostAtMs) / 1000,
      frames: subscribers.frames - before.frames,
      bytes: subscribers.bytes - before.bytes,
      answerLatenciesMs: posted.answerLatenciesMs.sort((one, other) => one - other),
    };
  } finally {
    pool.end();
  }
}

function postsOf(
  { channels, batch, keys, grow, call, dataBytes }: Extract<Order, { order: "closed-loop" }>,
  connected: Connected,
): PlannedPost[] {
  if (call === true) return plannedCalls(connected, channels, dataBytes);
  return keys === undefined
    ? plannedPosts(connected, channels, batch, dataBytes)
    : plannedChanges(connected, channels, { keys, dataBytes, grow });
}
