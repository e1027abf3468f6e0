import { expect, test } from "vitest";
import type { Channel } from "../../src/channel/channel.ts";
import { NodeSql } from "../../package/test/node-sql.ts";
import { openChannel, publishing, withHistory } from "../../test/contract/open-channel.ts";
import { CountingSql } from "../../test/support/counting-sql.ts";
import { sendAll } from "../../test/support/send-all.ts";
import { DroppingSubscriber } from "./dropping-subscriber.ts";
import { payload } from "./payload.ts";

const history = { ...withHistory, historySize: 1_000 };
const publicationsEach = 200;
const rounds = 400;

/** A channel whose publications can be changed, or can't. */
function opened(isChanged: boolean, subscribers: number): { channel: Channel; sql: CountingSql } {
  const sql = new CountingSql(new NodeSql());
  const changes = { ownForClient: false, windowMs: 0, erasableByUser: false };
  const options = isChanged ? { ...history, changes } : history;
  const channel = openChannel(sql, { newEpoch: () => "e", options });
  for (let count = 0; count < subscribers; count++) channel.hub.add(new DroppingSubscriber());
  return { channel, sql };
}

/** Publishes many times, and gives the ms that it took. */
function timed(channel: Channel, round: number): number {
  const request = publishing(payload);
  const beganMs = performance.now();
  for (let count = 0; count < publicationsEach; count++) {
    channel.publish(request, undefined, (round * publicationsEach + count) * 1_000);
    sendAll(channel.hub);
  }
  return performance.now() - beganMs;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? Number.NaN;
}

test.each([0, 100])(
  "a publication in a namespace that allows changes, beside one that doesn't, by turns, %d subscribers",
  (subscribers) => {
    const [changed, plain] = [opened(true, subscribers), opened(false, subscribers)];
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round++) {
      // Who comes first alternates, and what happens to the machine meanwhile happens to both.
      const isFirst = round % 2 === 0;
      const first = timed((isFirst ? changed : plain).channel, round);
      const second = timed((isFirst ? plain : changed).channel, round);
      ratios.push(isFirst ? first / second : second / first);
    }
    const each = (rounds * publicationsEach).toLocaleString("en");
    console.log(
      `${subscribers} subscribers, ${each} publications each: × ${median(ratios).toFixed(3)} (median of ${rounds} rounds), ` +
        `rows written ${changed.sql.changes} and ${plain.sql.changes}, read ${changed.sql.rowsRead} and ${plain.sql.rowsRead}`,
    );
    expect([changed.sql.changes, changed.sql.rowsRead]).toEqual([
      plain.sql.changes,
      plain.sql.rowsRead,
    ]);
  },
);
