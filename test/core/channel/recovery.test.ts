import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recover, recoverNewest } from "../../../src/channel/recovery.ts";
import type { Channel } from "../../../src/channel/channel.ts";
import type { SubscribeOptions } from "../../../src/channel/channel-outcomes.ts";
import type { ChannelOptions } from "../../../src/config/config.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import {
  openChannel,
  positioned,
  positionOf,
  publishing,
  withHistory,
} from "../../contract/open-channel.ts";
import { NodeSql } from "../../../package/test/node-sql.ts";
import { RecordingSubscriber } from "../hub/recording-subscriber.ts";

const limit = 4;

/** The publications with these offsets. */
function publications(...offsets: number[]): Publication[] {
  return offsets.map((offset) => ({ data: publishing(offset).data, offset }));
}

describe("the recovery decision", () => {
  // The limit is 4; at most 4 publications after the requested offset were read.
  it.each([
    // id, asked epoch, asked offset, top, offsets read, recovered
    ["R2", "one missed", "e", 4, 5, [5], true],
    ["R2", "several missed", "e", 2, 5, [3, 4, 5], true],
    ["R2", "from the beginning", "e", 0, 3, [1, 2, 3], true],
    ["R2", "the first of the missed is gone", "e", 2, 5, [4, 5], false],
    ["R2", "the last of the missed is absent", "e", 2, 5, [3, 4], false],
    ["R2", "all of the missed are gone", "e", 2, 5, [], false],
    ["R3", "nothing missed", "e", 5, 5, [], true],
    ["R3", "nothing missed on an empty stream", "e", 0, 0, [], true],
    ["R3", "beyond the top", "e", 6, 5, [], false],
    ["R3", "beyond the top of an empty stream", "e", 1, 0, [], false],
    ["R1", "another epoch", "x", 4, 5, [5], false],
    ["R1", "another epoch, at the same top", "x", 5, 5, [], false],
    ["R1", "another epoch, on an empty stream", "x", 0, 0, [], false],
    ["R1", "no epoch", "", 4, 5, [5], true],
    ["R1", "no epoch, at the top", "", 5, 5, [], true],
    ["R1", "no epoch, beyond the top", "", 6, 5, [], false],
    ["R1", "no epoch, with a hole", "", 2, 5, [4, 5], false],
    ["R4", "one less than the limit", "e", 2, 5, [3, 4, 5], true],
    ["R4", "as many as the limit", "e", 1, 5, [2, 3, 4, 5], false],
    ["R4", "more than the limit", "e", 1, 9, [2, 3, 4, 5], false],
    ["R4", "too much to read at once", "e", 4, 5, undefined, false],
    ["R4", "too much to read at once, at the top", "e", 5, 5, undefined, false],
  ])("[%s] decides on %s", (_rule, _case, epoch, offset, top, read, recovered) => {
    const missed = read === undefined ? undefined : publications(...read);
    expect(recover({ epoch, offset }, { epoch: "e", offset: top }, missed, limit)).toEqual(
      recovered ? { outcome: "recovered", publications: missed } : { outcome: "unrecoverable" },
    );
  });
});

describe("the recovery decision where only the newest publication matters", () => {
  it.each([
    // name, requested epoch, requested offset, top, offset of the newest readable publication, recovered offsets
    ["something missed", "e", 2, 5, 5, [5]],
    ["nothing missed", "e", 5, 5, 5, []],
    ["nowhere before", "", 0, 5, 5, [5]],
    ["the same offset, no epoch", "", 5, 5, 5, [5]],
    ["the same offset, another epoch", "x", 5, 5, 5, [5]],
    ["another epoch", "x", 2, 5, 5, [5]],
    ["beyond the top", "e", 9, 5, 5, [5]],
    ["nothing ever published", "e", 0, 0, undefined, undefined],
    ["nothing missed, and nothing can be read any more", "e", 5, 5, undefined, []],
    ["another stream, and nothing can be read any more", "x", 5, 5, undefined, undefined],
    ["the newest can't be read any more", "e", 2, 5, 4, undefined],
  ])("[R2] [R6] decides on %s", (_case, epoch, offset, top, newest, recovered) => {
    const read = newest === undefined ? [] : publications(newest);
    expect(recoverNewest({ epoch, offset }, { epoch: "e", offset: top }, read[0])).toEqual(
      recovered === undefined
        ? { outcome: "unrecoverable" }
        : { outcome: "recovered", publications: publications(...recovered) },
    );
  });
});

describe("subscribing with a position", () => {
  it("[R2] recovers exactly when an array of all publications shows nothing missing", () => {
    fc.assert(
      fc.property(
        fc.record({
          published: fc.integer({ min: 0, max: 20 }),
          historySize: fc.integer({ min: 1, max: 12 }),
          removedAfter: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
          offset: fc.integer({ min: 0, max: 22 }),
          epoch: fc.constantFrom("same", "same", "", "other"),
          recoveryLimit: fc.integer({ min: 1, max: 8 }),
          orFail: fc.boolean(),
        }),
        ({ published, historySize, removedAfter, offset, epoch, recoveryLimit, orFail }) => {
          const channel = opened({ ...withHistory, historySize }, recoveryLimit);
          let gone = 0;
          for (let data = 1; data <= published; data++) {
            channel.publish(publishing(data), undefined, 0);
            gone = Math.max(gone, data - historySize);
            if (data === removedAfter) {
              channel.removeHistory(0);
              gone = data;
            }
          }
          const position = positionOf(channel);
          const asked = { offset, epoch: epoch === "same" ? position.epoch : epoch };
          const missed = all(published).filter((each) => each.offset > offset);
          const recovered =
            epoch !== "other" &&
            offset <= published &&
            missed.length < recoveryLimit &&
            missed.every((each) => each.offset > gone);
          const outcome = subscribe(channel, { ...positioned, since: asked, orFail });
          const expected = recovered
            ? { outcome: "subscribed", position, recovered, publications: missed }
            : { outcome: "subscribed", position, recovered, publications: [] };
          expect(outcome).toEqual(
            orFail && !recovered ? { outcome: "unrecoverable-position" } : expected,
          );
        },
      ),
      { seed: 20_261_120, numRuns: 1_000 },
    );
  });
});

function opened(options: Partial<ChannelOptions>, recoveryMaxPublicationLimit: number): Channel {
  return openChannel(new NodeSql(), { options, client: { recoveryMaxPublicationLimit } });
}

function subscribe(channel: Channel, options: SubscribeOptions, nowMs = 0) {
  return channel.subscribe(new RecordingSubscriber("reader"), options, nowMs);
}

function all(published: number): Publication[] {
  return publications(...Array.from({ length: published }, (_, index) => index + 1));
}
