import { describe, expect, it } from "vitest";
import { carryOut } from "../../../../src/channel/carry-out.ts";
import type { Channel } from "../../../../src/channel/channel.ts";
import { ChannelAudience } from "../../../../src/features/cursors/audience/channel-audience.ts";
import type { JudgedProgress } from "../../../../src/features/cursors/audience/judged-progress.ts";
import type { Sql } from "../../../../src/sql.ts";
import { channelOptions } from "../../../support/configured.ts";
import { NodeSql } from "../../../../package/test/node-sql.ts";
import { openChannel, publishNumbers, withHistory } from "../../../contract/open-channel.ts";

const { cursors: named } = channelOptions({
  history_size: 5,
  history_ttl: "1h",
  cursors: { enabled: true, audience: "named" },
});
const afterMs = 60_000;
const notify = { afterMs, unless: "got", seen: false } as const;

/** A new instance of a channel with an audience, of which a backend is told. Before it, nobody was told if `tells` is false. */
function open(sql: Sql, tells = true): Channel {
  if (named === undefined) throw new Error("the namespace has no cursors");
  const cursors = tells ? { ...named, notify } : named;
  return openChannel(sql, { newEpoch: () => "e", options: { ...withHistory, cursors } });
}

function enter(channel: Channel, user: string): void {
  carryOut(channel, { method: "add_audience", request: { users: [user] } }, 0);
}

function progressOf(channel: Channel): JudgedProgress {
  const audience = channel.parts.find((part) => part instanceof ChannelAudience);
  if (audience?.notices === undefined) throw new Error("nobody is told");
  return audience.notices.progress;
}

/** The publications that are judged once they are old enough: the offset before the first one, and that of the last one. */
function judgedBy(channel: Channel): readonly number[] | undefined {
  const range = progressOf(channel).next(2 * afterMs);
  return range && [range.after, range.last];
}

describe("the publications that are judged for an audience", () => {
  it("[CU24] begin after the first member, though an instance ends before it has noted the first one", () => {
    const sql = new NodeSql();
    const first = open(sql);
    publishNumbers(first, 1, 2);
    enter(first, "ann");
    publishNumbers(first, 3, 4);
    expect(judgedBy(open(sql))).toStrictEqual([2, 4]);
  });

  it("[CU24] begin with the first instance that judges, where the members were there before", () => {
    const sql = new NodeSql();
    enter(open(sql), "ann");
    const untold = open(sql, false);
    publishNumbers(untold, 1, 2);
    publishNumbers(open(sql), 3, 4);
    expect(judgedBy(open(sql))).toStrictEqual([2, 4]);
  });

  it("[CU24] are those after what was judged before, in each instance", () => {
    const sql = new NodeSql();
    const first = open(sql);
    enter(first, "ann");
    publishNumbers(first, 1, 2);
    const range = progressOf(first).next(2 * afterMs);
    if (range === undefined) throw new Error("nothing is judged");
    progressOf(first).finish(range, 2 * afterMs);
    expect(judgedBy(open(sql))).toBeUndefined();
    publishNumbers(first, 3, 3);
    expect(judgedBy(open(sql))).toStrictEqual([2, 3]);
  });
});
