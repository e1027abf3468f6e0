import type { Connected } from "./connected.ts";
import { CpuShare } from "./cpu-share.ts";
import type { Order, Report } from "./orders.ts";
import { postInTurn } from "./post-in-turn.ts";
import { PostPool } from "./post-pool.ts";
import { postRequest } from "./post-request.ts";

/** Sends each post once, the next one when one is answered. */
export async function postEach(
  { posts, posters }: Extract<Order, { order: "post-each" }>,
  { server, subscribers }: Connected,
): Promise<Extract<Report, { order: "post-each" }>> {
  const cpu = new CpuShare();
  const pool = await PostPool.open(server.api, posters, subscribers.failure);
  try {
    const planned = posts.map((post) => ({ channels: [], request: postRequest(post, server.api) }));
    let left = planned.length;
    const posted = await postInTurn(planned, posters, pool, subscribers, () => left-- > 0);
    return {
      order: "post-each",
      busy: cpu.share,
      seconds: (posted.lastAnswerAtMs - posted.firstPostAtMs) / 1000,
      answerLatenciesMs: posted.answerLatenciesMs.sort((one, other) => one - other),
    };
  } finally {
    pool.end();
  }
}
