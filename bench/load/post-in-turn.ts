import type { Subscribers } from "./subscribers.ts";
import type { PlannedPost } from "./planned-posts.ts";
import type { PostPool } from "./post-pool.ts";

/** The result of a closed loop. */
export interface Posted {
  readonly publications: number;
  /** On the clock of `performance`. */
  readonly firstPostAtMs: number;
  readonly lastAnswerAtMs: number;
  readonly answerLatenciesMs: number[];
}

/**
 * Posts one request after the other, so many at a time, the next one when one is answered.
 *
 * @param mayPost asked before each post
 */
export function postInTurn(
  posts: readonly PlannedPost[],
  publishers: number,
  pool: PostPool,
  subscribers: Subscribers,
  mayPost: () => boolean,
): Promise<Posted> {
  const firstPostAtMs = performance.now();
  const answerLatenciesMs: number[] = [];
  let publications = 0;
  let turn = 0;
  let out = 0;
  return new Promise((resolve) => {
    const next = (): void => {
      const planned = posts[turn++ % posts.length];
      if (planned === undefined || subscribers.failure.isRaised || !mayPost()) {
        const lastAnswerAtMs = performance.now();
        if (out === 0) resolve({ publications, firstPostAtMs, lastAnswerAtMs, answerLatenciesMs });
        return;
      }
      out++;
      publications += planned.channels.length;
      subscribers.publish(planned.channels);
      const postedAtMs = performance.now();
      pool.post(planned.request, () => {
        answerLatenciesMs.push(performance.now() - postedAtMs);
        out--;
        next();
      });
    };
    for (let publisher = 0; publisher < publishers; publisher++) next();
  });
}
