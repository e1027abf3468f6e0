import type { PartedChannel } from "../../../channel/channel-part.ts";
import { type TagsFilter, tagsFilter } from "../../../protocol/tags-filter.ts";
import type { Sql } from "../../../sql.ts";
import { type CursorOptions, judgedAtAgeMs } from "../config.ts";
import { JudgedProgress } from "./judged-progress.ts";
import { JudgedTable } from "./judged-table.ts";
import { cursorLimits } from "../limits.ts";
import type { KeptUsers } from "../forgetting/kept-users.ts";
import { UnseenJudge } from "./unseen-judge.ts";

/** The parts that judge the publications of a channel for its audience. */
export interface Notices {
  readonly judge: UnseenJudge;
  readonly progress: JudgedProgress;
  /** Lets through the publications that count; undefined if all do. */
  readonly filter: TagsFilter | undefined;
  /** Whether what has arrived counts as seen. */
  readonly asksWhoGot: boolean;
  /** Within which time a connection has been sent a ping, and has answered it, in ms. */
  readonly answerMs: number;
}

/** The notices of a channel; undefined if a backend is told of nothing. */
export function noticesOf(
  channel: PartedChannel,
  { notify, audience, unreadFilter }: CursorOptions,
  sql: Sql,
  kept: KeptUsers,
  pingIntervalMs: number,
): Notices | undefined {
  const table = new JudgedTable(sql);
  if (notify === undefined || audience === "none") {
    table.clear();
    kept.earlier.clear();
    return undefined;
  }
  const answerMs = pingIntervalMs + cursorLimits.judgedAnswerMs;
  const askAgainMs = Math.max(answerMs, cursorLimits.judgedAskAgainMs);
  const hasMembers = (): boolean => kept.members.size > 0;
  const progress = new JudgedProgress({
    channel,
    table,
    afterMs: notify.afterMs,
    judgedAtAgeMs: judgedAtAgeMs(notify),
    askAgainMs,
    hasMembers,
  });
  const judge = new UnseenJudge({ channel, notify, kept, progress });
  const filter = unreadFilter && tagsFilter(unreadFilter);
  return { judge, progress, filter, asksWhoGot: notify.unless === "got", answerMs };
}
