import { Busyness } from "./busyness.ts";
import type { Connected } from "./connected.ts";
import type { Order, Report } from "./orders.ts";
import { plannedPosts } from "./planned-posts.ts";
import { type Posted, postInTurn } from "./post-in-turn.ts";
import { PostPool } from "./post-pool.ts";
import { warmUpSeconds } from "./warm-up.ts";

/** Measures what a system gets through when every publisher waits for its answers. */
export async function closedLoop(
  order: Extract<Order, { order: "closed-loop" }>,
  connected: Connected,
): Promise<Extract<Report, { order: "closed-loop" }>> {
  const { audience, port } = connected;
  const posts = plannedPosts(connected, order.channels, order.batch, order.dataBytes);
  const pool = await PostPool.open(port, order.publishers, audience.trouble);
  const run = async (seconds: number): Promise<Posted> => {
    const untilMs = performance.now() + seconds * 1000;
    const inTime = (): boolean => performance.now() < untilMs;
    const posted = await postInTurn(posts, order.publishers, pool, audience, inTime);
    await audience.allDelivered();
    return posted;
  };
  try {
    await run(warmUpSeconds(order.seconds));
    const { ledger } = audience;
    const before = { delivered: ledger.delivered, frames: audience.frames, bytes: audience.bytes };
    const busyness = new Busyness();
    const posted = await run(order.seconds);
    const deliveries = ledger.delivered - before.delivered;
    const endedAtMs = deliveries === 0 ? posted.lastAnswerAtMs : ledger.caughtUpAtMs;
    return {
      order: "closed-loop",
      busy: busyness.share,
      publications: posted.publications,
      deliveries,
      seconds: (endedAtMs - posted.firstPostAtMs) / 1000,
      frames: audience.frames - before.frames,
      bytes: audience.bytes - before.bytes,
      answerLatenciesMs: posted.answerLatenciesMs.sort((one, other) => one - other),
    };
  } finally {
    pool.end();
  }
}
