import { Busyness } from "./busyness.ts";
import type { Connected } from "./connected.ts";
import type { Order, Report } from "./orders.ts";
import { plannedPosts } from "./planned-posts.ts";
import { postInTurn } from "./post-in-turn.ts";
import { PostPool } from "./post-pool.ts";

/** Measures when one publication comes to the first of its subscribers, and when to the last. */
export async function singlePublication(
  { channel, dataBytes }: Extract<Order, { order: "single" }>,
  connected: Connected,
): Promise<Extract<Report, { order: "single" }>> {
  const { port, audience } = connected;
  const { ledger } = audience;
  const pool = await PostPool.open(port, 1, audience.trouble);
  try {
    const posts = plannedPosts(connected, [channel], 1, dataBytes);
    const busyness = new Busyness();
    ledger.firstAtMs = 0;
    let left = 1;
    const once = (): boolean => left-- > 0;
    const posted = await postInTurn(posts, 1, pool, audience, once);
    await audience.allDelivered();
    return {
      order: "single",
      busy: busyness.share,
      firstMs: ledger.firstAtMs - posted.firstPostAtMs,
      lastMs: ledger.caughtUpAtMs - posted.firstPostAtMs,
      answerMs: posted.lastAnswerAtMs - posted.firstPostAtMs,
    };
  } finally {
    pool.end();
  }
}
